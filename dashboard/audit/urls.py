"""The address of the audit log."""

from django.urls import path

from dashboard.audit import views

urlpatterns = [path("", views.audit, name="audit")]
