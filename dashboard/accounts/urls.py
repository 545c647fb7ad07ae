"""Addresses of signing in and out."""

from django.urls import path

from dashboard.accounts import views

urlpatterns = [
    path("login/", views.SignIn.as_view(), name="login"),
    path("logout/", views.SignOut.as_view(), name="logout"),
    path("me/", views.me, name="me"),
]
