"""Addresses of backups."""

from django.urls import path

from backups.views import plans, restores, runs

urlpatterns = [
    path("", plans.status, name="backups"),
    path("new/", plans.add, name="backup-plan-add"),
    path("plans/<slug:plan_name>/", plans.plan, name="backup-plan"),
    path("plans/<slug:plan_name>/card/", plans.card, name="backup-card"),
    path("plans/<slug:plan_name>/edit/", plans.edit, name="backup-plan-edit"),
    path("plans/<slug:plan_name>/policies/", plans.policies, name="backup-plan-policies"),
    path("plans/<slug:plan_name>/sheet/", plans.sheet, name="backup-plan-sheet"),
    path("plans/<slug:plan_name>/restore/", restores.start_many, name="backup-plan-restore"),
    path("plans/<slug:plan_name>/restore/<uuid:job_id>/", restores.plan_of_many, name="backup-plan-restored"),
    path("plans/<slug:plan_name>/preflight/", plans.preflight, name="backup-plan-preflight"),
    path("plans/<slug:plan_name>/inventory/", plans.set_up_inventory, name="backup-plan-inventory"),
    path("plans/<slug:plan_name>/run/", plans.run_now, name="backup-plan-run"),
    path("plans/<slug:plan_name>/switch/", plans.switch, name="backup-plan-switch"),
    path("points/<uuid:point_id>/restore/", restores.start, name="backup-restore"),
    path("points/<uuid:point_id>/restore/<uuid:job_id>/", restores.plan, name="backup-restore-plan"),
    path("points/<uuid:point_id>/restore/<uuid:job_id>/remove/", restores.remove, name="backup-remove"),
    path("runs/<uuid:run_id>/", runs.run, name="backup-run"),
    path("runs/<uuid:run_id>/failures.csv", runs.failures, name="backup-run-failures"),
    path("runs/<uuid:run_id>/approve/", runs.approve, name="backup-run-approve"),
    path("runs/<uuid:run_id>/reject/", runs.reject, name="backup-run-reject"),
    path("runs/<uuid:run_id>/cancel/", runs.cancel, name="backup-run-cancel"),
    path("runs/<uuid:run_id>/prefer/", runs.set_priority, name="backup-run-priority"),
    path("runs/<uuid:run_id>/retry/", runs.retry, name="backup-run-retry"),
]
