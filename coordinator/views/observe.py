"""Observe now: hand the reading of a lake or of one table to a job, and go to that job's page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from coordinator import actions
from coordinator.models import DeltaTable
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from dashboard.web.answers import SeeOther


@require_POST
def observe_lake(request: HttpRequest) -> HttpResponse:
    """Observe the whole connection named in the form."""
    connection = get_object_or_404(Connection, name=request.POST.get("connection", ""))
    return _to_job(actions.observe_lake(Actor.from_request(request), connection))


@require_POST
def observe_table(request: HttpRequest, table_id: int) -> HttpResponse:
    table = get_object_or_404(DeltaTable.objects.select_related("connection"), pk=table_id)
    return _to_job(actions.observe_table(Actor.from_request(request), table.connection, table.place))


def _to_job(job: Job) -> HttpResponse:
    return SeeOther(reverse("job", args=[job.pk]))
