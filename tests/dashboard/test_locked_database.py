"""Pages while another process holds the database: a real file with another writer."""

import subprocess
import sys
from pathlib import Path

from django.conf import settings

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
