"""Every test runs in a home of its own, with plain static files and a hasher that costs nothing."""

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.database import DirectoryBasedExampleDatabase
from pytest_django import Settings

from tests.choosing import choose, of_part
from tests.chromium import chromium  # noqa: F401 - shared by every folder with browser tests
from tests.databases import check_reasons
from tests.endings import ENDINGS
from tests.grouping import arrange
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

QUICK, THOROUGH = 20, 200
"""How many examples a property is tried on: by `make test`, the same ones each time, and by `make test-all`, others."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected lives until the end: let no collection of garbage look at it, now or while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", default="", help="only the tests of this part of make test-all (tests/choosing.py)")
    parser.addoption("--everything", action="store_true", help="every schedule, and many examples of each property")


def pytest_configure(config: pytest.Config) -> None:
    everything = config.getoption("--everything")
    # How long an example takes says how busy the machine is, and how much of what is drawn fits is not asked here.
    hypothesis_settings.register_profile(
        "levee",
        deadline=None,
        derandomize=not everything,
        max_examples=THOROUGH if everything else QUICK,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        # What failed is tried first when it is run once more.
        database=DirectoryBasedExampleDatabase(settings.BASE_DIR / ".hypothesis" / "examples") if everything else None,
    )
    hypothesis_settings.load_profile("levee")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    check_reasons(items)
    arrange(items)
    choose(items, everything=config.getoption("--everything"))
    if part := config.getoption("--part"):
        kept = of_part(items, part)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def pytest_sessionfinish() -> None:
    ENDINGS.close()


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

    from dashboard.audit.triggers import ENTRIES, SEALS, unprotect

    with django_db_blocker.unblock():
        for table in (ENTRIES, SEALS):
            unprotect(connection, table)
