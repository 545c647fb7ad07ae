"""Alive, and ready."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from coordinator.models import ObservationPass, Watch
from dashboard.connections.models import Connection
from dashboard.jobs.beats import note_beat
from dashboard.web import health

pytestmark = pytest.mark.postgres("migrations")


def test_alive_is_plain_and_needs_neither_sign_in_nor_database() -> None:
    response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.django_db
def test_a_load_balancer_needs_no_name_of_the_host_and_no_https(path: str, settings: Any) -> None:
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["levee.example"], True

    assert Client().get(path, headers={"Host": "10.0.0.7:8000"}).status_code in {200, 503}
    assert Client().get("/tables/", headers={"Host": "levee.example"}).status_code == 301
    assert Client().get("/tables/", headers={"Host": "10.0.0.7:8000"}).status_code == 400


@pytest.mark.django_db
def test_not_ready_without_a_broker(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"redis+socket://{tmp_path}/none.sock"
    response = Client().get("/readyz")
    others = {"observation": True, "workers": True}
    assert (response.status_code, response.json()) == (503, {"database": True, "redis": False, **others})


@pytest.fixture
def redis_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "redis_answers", lambda url: True)


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_is_well")
@pytest.mark.parametrize(("minutes", "status"), [(2, 200), (4, 503)])
def test_not_ready_when_a_worker_is_silent(minutes: float, status: int) -> None:
    now = timezone.now()
    for queue in settings.QUEUES:
        note_beat(queue, "w", now - timedelta(minutes=minutes if queue == "spark" else 0))
    response = Client().get("/readyz")
    assert (response.status_code, response.json()["workers"]) == (status, status == 200)


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_is_well")
@pytest.mark.parametrize(("minutes", "status"), [(14, 200), (16, 503)])
def test_not_ready_when_the_lake_was_not_looked_at(minutes: float, status: int) -> None:
    connection = Connection.objects.create(name="prod", region="eu-west-1")
    Watch.objects.create(connection=connection, uri="s3a://lake/")
    seen = timezone.now() - timedelta(minutes=minutes)
    ObservationPass.objects.create(connection=connection, started_at=seen, finished_at=seen)
    assert Client().get("/readyz").status_code == status


@pytest.mark.django_db
def test_not_ready_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.setattr(health, "redis_answers", lambda url: True)
    response = Client().get("/readyz")
    assert (response.status_code, response.json()) == (503, {"database": False, "redis": True})
