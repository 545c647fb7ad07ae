"""Pages while the database is locked, full or gone: a real file, with another writer or none."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.handlers.exception import response_for_exception
from django.db import InterfaceError, OperationalError
from django.test import RequestFactory

LOCKED = """
import sqlite3, time
import django
django.setup()
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from dashboard.accounts.models import SignedIn

settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
call_command("migrate", verbosity=0)
client = Client()
client.force_login(User.objects.create_user("ana", is_superuser=True))
assert client.get("/jobs/").status_code == 200 and SignedIn.objects.count() == 1
session = client.session
session["used_at"] = 0
session.save()
writer = sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)
writer.execute("BEGIN IMMEDIATE")
began = time.monotonic()
print(client.get("/jobs/").status_code, time.monotonic() - began < 10)
writer.execute("ROLLBACK")
print(client.get("/jobs/").status_code, client.session["used_at"] > 0)
"""


def test_a_page_is_read_while_another_process_holds_the_database(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOCKED],
        cwd=settings.BASE_DIR,
        env={
            "LEVEE_HOME": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            "LEVEE_ALLOWED_HOSTS": "testserver",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines() == ["200 True", "200 True"], done.stderr


@pytest.mark.parametrize(
    ("error", "headline"),
    [
        (OperationalError("database is locked"), "The database is locked"),
        (OperationalError("database or disk is full"), "disk is full"),
        (OperationalError("attempt to write a readonly database"), "may not be written"),
        (OperationalError("connection to server failed: Connection refused"), "cannot be reached"),
        (InterfaceError("connection already closed"), "cannot be reached"),
    ],
)
def test_a_database_that_does_not_serve_is_a_sentence_and_503(error: Exception, headline: str) -> None:
    try:
        raise error
    except Exception as raised:  # noqa: BLE001 - as Django catches it
        response = response_for_exception(RequestFactory().get("/tables/"), raised)

    assert response.status_code == 503
    assert headline in response.content.decode()
    assert "Nothing was changed" in response.content.decode()
