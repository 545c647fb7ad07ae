"""Every address of the console: the shell's own and those of the apps."""

from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="tables", http_method_names=["get", "head"]), name="home"),
    path("", include("dashboard.accounts.urls")),
    path("", include("dashboard.web.urls")),
    path("", include("dashboard.frame.urls")),
    path("jobs/", include("dashboard.jobs.urls")),
    path("audit/", include("dashboard.audit.urls")),
    path("", include("dashboard.alerts.urls")),
    path("", include("coordinator.urls")),
    path("backups/", include("backups.urls")),
]

handler400 = "dashboard.frame.errors.bad_request"
handler403 = "dashboard.frame.errors.forbidden"
handler404 = "dashboard.frame.errors.not_found"
handler500 = "dashboard.frame.errors.server_error"
