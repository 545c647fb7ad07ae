"""Addresses of the frame itself."""

from django.urls import path

from dashboard.frame import pages

urlpatterns = [
    path("states/", pages.states, name="states"),
    path("scope/", pages.scope, name="scope"),
]
