"""A console beside moto whose stores and buckets are changed as a worker would."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from coordinator.settings import jobs, sweep_plans
from coordinator.settings.requests import Sweep
from tests.builders.delta import UUID, add, commit_bytes, commit_info
from tests.coordinator.repairs.conftest import client  # noqa: F401
from tests.coordinator.settings.settings_console import SettingsConsole
from tests.lake.aws.conftest import _own_environment  # noqa: F401

SWEPT = "sales/orders"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(jobs, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def console(connection, written, observe, endpoint, settings, tmp_path) -> SettingsConsole:
    """The lake is this Levee's sandbox, so that workers may talk to it and need no credentials."""
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(endpoint)
    return SettingsConsole(connection, written, observe)


def own_temp_key(version: int, root: str = SWEPT) -> str:
    """The temp file that the entry of a version names."""
    return temp_key(version, root, UUID)


def temp_key(version: int, root: str = SWEPT, name: str = "loser") -> str:
    return f"{root}/_delta_log/.tmp/{version:020d}.json.{name}"


@pytest.fixture
def young_count_as_old(monkeypatch) -> None:
    """A sweep takes files just written: moto gives every object the time of now."""
    monkeypatch.setattr(sweep_plans, "QUIET_SECONDS", -7_200)


@pytest.fixture
def ready(console) -> SettingsConsole:
    """A table of the log store, observed."""
    console.lake.table(SWEPT, log_store=True)
    console.observe()
    return console


@pytest.fixture
def swept(console) -> SettingsConsole:
    """Versions 0 to 2 published with entries, 3 pending; losers' temp files of 0 and 1, and one of a stranger."""
    console.lake.table(SWEPT, 3)
    for version in range(3):
        console.lake.entry(SWEPT, version, expireTime={"N": str(int(time.time()) + 86_400)})
    console.lake.pending(SWEPT, 3)
    lost = commit_info("MERGE", timestamp=int(time.time() * 1_000))  # written just now by its own word as well
    for version in (0, 1):
        console.lake.put(temp_key(version), commit_bytes(lost, add(f"loser-{version}.parquet")))
    console.lake.put(f"{SWEPT}/_delta_log/.tmp/notes.txt", b"mine")
    console.observe()
    return console


@pytest.fixture
def lately(swept, young_count_as_old) -> Sweep:
    """A sweep of all that was written by now."""
    return Sweep(swept.lake.bucket, later())


def later() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat()


def commit_of(transaction: str) -> bytes:
    info = {"commitInfo": {**commit_info()["commitInfo"], "txnId": transaction}}
    return commit_bytes(info, add(f"{transaction}.parquet"))
