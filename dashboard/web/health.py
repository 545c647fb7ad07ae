"""Is the console alive, and can it work? For load balancers and supervisors; says no version to strangers."""

from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

PING_SECONDS = 2
HealthCheck = Callable[[datetime], bool]

_checks: dict[str, HealthCheck] = {}


@require_safe
@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers at all."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@require_safe
@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when all parts are well, else 503; the JSON says which: {"database": true, "redis": false, "workers": true}.

    Database and broker answer; every queue's worker, once any has, showed life within three minutes; and what else
    apps register, such as the age of the last look at the lake.
    """
    answers = {"database": _database_answers(), "redis": redis_answers(settings.REDIS_URL)}
    if answers["database"]:
        answers.update({name: check(timezone.now()) for name, check in sorted(_checks.items())})
    return JsonResponse(answers, status=200 if all(answers.values()) else 503)


def ready_when(name: str, check: HealthCheck) -> None:
    """Add a part to /readyz: `check` gets the time and says whether that part is well."""
    _checks[name] = check


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def redis_answers(broker_url: str) -> bool:
    """Whether the broker answers Celery's own client; it does not while it loads its data."""
    from kombu.connection import Connection  # which every command would import with the addresses of the pages
    from kombu.exceptions import OperationalError

    waits = {"socket_timeout": PING_SECONDS, "socket_connect_timeout": PING_SECONDS}
    try:
        with Connection(broker_url, transport_options=waits) as broker:  # type: ignore[no-untyped-call]
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=PING_SECONDS)
    except OperationalError:
        return False
    return True
