"""Addresses of the shell itself."""

from django.urls import path

from dashboard.web import health, pages

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("states/", pages.states, name="states"),
    path("scope/", pages.scope, name="scope"),
]
