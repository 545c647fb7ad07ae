"""Addresses that load balancers and supervisors ask."""

from django.urls import path

from dashboard.web import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
