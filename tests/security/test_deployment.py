"""The settings of production satisfy every check of Django and of Levee, and dangerous ones are named."""

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as the_settings
from django.core.checks import CheckMessage
from pytest_django import Settings

from dashboard.web.deployment_checks import check_debug, check_deployment
from tests.waiting import scaled

pytestmark = pytest.mark.process

PRODUCTION = {
    "LEVEE_HTTPS": "1",
    "LEVEE_BEHIND_PROXY": "1",
    "LEVEE_ALLOWED_HOSTS": "levee.acme.example",
    "LEVEE_TRUSTED_ORIGINS": "https://levee.acme.example",
    "LEVEE_PUBLIC_URL": "https://levee.acme.example",
    "LEVEE_SMTP_URL": "smtp+starttls://levee:hush@mail.acme.example:587",
    "LEVEE_WEBHOOK_ORIGINS": "https://hooks.acme.example",
    "LEVEE_DEAD_MAN_URL": "https://ping.acme.example/levee",
    "DATABASE_URL": "postgresql://levee:hush@postgres/levee",
    "REDIS_URL": "redis://redis:6379/0",
}


def levee(home: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    given = {
        **kept,
        **PRODUCTION,
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        "LEVEE_HOME": str(home),
        "LEVEE_SECRET_KEY": secrets.token_urlsafe(48),
        **environment,
    }
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(
        command, cwd=the_settings.BASE_DIR, env=given, capture_output=True, text=True, timeout=scaled(60), check=False
    )


def test_production_is_clean(tmp_path: Path) -> None:
    done = levee(tmp_path, "check", "--deploy", "--fail-level", "WARNING")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no issues (0 silenced)" in done.stdout


def test_a_careless_deployment_is_not(tmp_path: Path) -> None:
    careless = {"LEVEE_SECRET_KEY": "short", "LEVEE_ALLOWED_HOSTS": "*", "LEVEE_HTTPS": "0", "LEVEE_DEBUG": "1"}
    done = levee(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **careless)
    assert done.returncode == 1
    for named in ("levee.E001", "levee.E002", "levee.E004", "levee.E005", "levee.W006", "security.W016"):
        assert named in done.stderr


@pytest.fixture
def production(settings: Settings) -> Settings:
    """The same settings in this process, to change one at a time."""
    settings.HTTPS, settings.DEBUG = True, False
    settings.SECRET_KEY = settings.WEBHOOK_SECRET = settings.AUDIT_SECRET = "x" * 64
    settings.ALLOWED_HOSTS = ["levee.acme.example"]
    settings.PUBLIC_URL, settings.SMTP_URL = "https://levee.acme.example", ""
    settings.WEBHOOK_ORIGINS, settings.ALLOWED_ENDPOINTS, settings.CSRF_TRUSTED_ORIGINS = [], [], []
    settings.DEAD_MAN_URL, settings.REDIS_URL = "", "redis://redis:6379/0"
    return settings


def said() -> list[CheckMessage]:
    return [*check_debug(None), *check_deployment(None)]


def test_nothing_is_said_of_ordinary_choices(production: Settings) -> None:
    assert said() == []


def test_this_machine_alone_may_be_asked_in_clear_and_with_debug(production: Settings) -> None:
    production.HTTPS, production.DEBUG = False, True
    production.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "levee.localhost"]
    production.ALLOWED_ENDPOINTS = ["http://127.0.0.1:9000"]
    assert said() == []


@pytest.mark.parametrize(
    ("name", "value", "check"),
    [
        ("WEBHOOK_SECRET", "hush", "levee.E003"),
        ("AUDIT_SECRET", "hush", "levee.E011"),
        ("ALLOWED_ENDPOINTS", ["http://localhost.evil.example"], "levee.W008"),
        ("DEAD_MAN_URL", "file:///etc/passwd", "levee.E007"),
        ("DEAD_MAN_URL", "http://ping.acme.example/", "levee.W008"),
        ("WEBHOOK_ORIGINS", ["https://a.example", "http://b.example"], "levee.W008"),
        ("ALLOWED_ENDPOINTS", ["http://minio.acme.example:9000"], "levee.W008"),
        ("SMTP_URL", "smtp://levee:hush@mail.acme.example", "levee.W009"),
        ("REDIS_URL", "redis://redis.acme.example:6379/0", "levee.W010"),
    ],
)
def test_a_dangerous_choice_is_named_with_its_cure(production: Settings, name: str, value: Any, check: str) -> None:
    setattr(production, name, value)
    (message,) = said()
    assert (message.id, bool(message.hint)) == (check, True)
    assert "hush" not in str(message)
