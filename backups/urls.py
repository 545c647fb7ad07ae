"""Addresses of backups."""

from django.urls import path

from backups.views import plans, runs, status

urlpatterns = [
    path("", status.status, name="backups"),
    path("new/", plans.add, name="backup-plan-add"),
    path("plans/<slug:name>/", plans.plan, name="backup-plan"),
    path("plans/<slug:name>/card/", status.card, name="backup-card"),
    path("plans/<slug:name>/edit/", plans.edit, name="backup-plan-edit"),
    path("plans/<slug:name>/policies/", plans.policies, name="backup-plan-policies"),
    path("plans/<slug:name>/preflight/", plans.preflight, name="backup-plan-preflight"),
    path("plans/<slug:name>/run/", plans.run_now, name="backup-plan-run"),
    path("plans/<slug:name>/switch/", plans.switch, name="backup-plan-switch"),
    path("runs/<uuid:run_id>/", runs.run, name="backup-run"),
    path("runs/<uuid:run_id>/failures.csv", runs.failures, name="backup-run-failures"),
    path("runs/<uuid:run_id>/approve/", runs.approve, name="backup-run-approve"),
    path("runs/<uuid:run_id>/reject/", runs.reject, name="backup-run-reject"),
    path("runs/<uuid:run_id>/cancel/", runs.cancel, name="backup-run-cancel"),
    path("runs/<uuid:run_id>/retry/", runs.retry, name="backup-run-retry"),
]
