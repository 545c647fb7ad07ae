"""Alive, and ready."""

from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from dashboard.web import health
from dashboard.web.health import redis_client_url


def test_alive_is_plain_and_needs_neither_sign_in_nor_database() -> None:
    response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_not_ready_without_a_broker(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"redis+socket://{tmp_path}/none.sock"
    response = Client().get("/readyz")
    assert (response.status_code, response.json()) == (503, {"database": True, "redis": False})


@pytest.mark.django_db
def test_not_ready_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.setattr(health, "_redis_answers", lambda: True)
    response = Client().get("/readyz")
    assert (response.status_code, response.json()) == (503, {"database": False, "redis": True})


@pytest.mark.parametrize(
    ("broker", "client"),
    [
        ("redis+socket:///var/levee/redis.sock", "unix:///var/levee/redis.sock"),
        ("redis+socket:///var/levee/redis.sock?virtual_host=2", "unix:///var/levee/redis.sock?db=2"),
        ("redis://redis:6379/0", "redis://redis:6379/0"),
        ("rediss://redis:6379/0", "rediss://redis:6379/0"),
    ],
)
def test_the_client_finds_the_broker_that_celery_uses(broker: str, client: str) -> None:
    assert redis_client_url(broker) == client
