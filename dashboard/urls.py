"""Every address of the console: the shell's own, the audit log's and those of the apps."""

from django.urls import include, path
from django.views.generic import RedirectView

from dashboard.deadlines import views as deadlines
from dashboard.frame import pages
from dashboard.web import health

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="tables", http_method_names=["get", "head"]), name="home"),
    path("", include("dashboard.accounts.urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("states/", pages.states, name="states"),
    path("find/", pages.find, name="find"),
    path("scope/", pages.scope, name="scope"),
    path("jobs/", include("dashboard.jobs.urls")),
    path("audit/", pages.audit, name="audit"),
    path("", include("dashboard.alerts.urls")),
    path("deadlines/", deadlines.deadlines, name="deadlines"),
    path("", include("coordinator.urls")),
    path("backups/", include("backups.urls")),
]

handler400 = "dashboard.frame.errors.bad_request"
handler403 = "dashboard.frame.errors.forbidden"
handler404 = "dashboard.frame.errors.not_found"
handler500 = "dashboard.frame.errors.server_error"
