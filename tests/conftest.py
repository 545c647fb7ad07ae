"""Every test runs in a home of its own, with plain static files and a hasher that costs nothing."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from _pytest.nodeid import coerce_node_id
from django.conf import settings
from pytest_django import Settings

from tests.jars_home import JARS_HOME  # noqa: F401 - it is read before this home is set

HOME = Path(tempfile.mkdtemp(prefix="levee-tests-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

# Processes that tests start read the variable; this one has read its settings before any conftest is imported.
os.environ["LEVEE_HOME"] = str(HOME)
# Playwright leaves its event loop running in the main thread, where Django would refuse the database to later tests.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
settings.LEVEE_HOME = HOME
settings.SANDBOX_ENDPOINT_FILE = HOME / "sandbox" / "endpoint"
settings.STATIC_ROOT = HOME / "static"
settings.STATIC_ROOT.mkdir()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of an xdist_group in one worker: pytest 9.2 has no more the attribute by which xdist 3.8 does."""
    if not config.getoption("loadgroup", default=False):
        return
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        if mark is not None and not item.nodeid.endswith(f"@{mark.args[0]}"):
            item._id = coerce_node_id(f"{item.nodeid}@{mark.args[0]}")


@pytest.fixture(autouse=True)
def _plain_settings(settings: Settings) -> None:
    """Static files without a manifest, fast passwords, and no variable of the developer's own shell."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.READ_ONLY = False


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Take off the audit log's triggers, without which no test could empty the tables after itself.

    It fails if the migrations have not made them; tests/dashboard/audit puts them back where it proves that they hold.
    """
    from django.db import connection

    from dashboard.audit.triggers import unprotect

    with django_db_blocker.unblock():
        unprotect(connection)
