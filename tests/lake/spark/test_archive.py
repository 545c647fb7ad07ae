"""The class-data archive is made beside the sessions that start without it, and never by two at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from lake.spark import archive
from lake.spark.session import LakeEndpoint
from lake.spark.settings import WorkerSettings

HERE = WorkerSettings(LakeEndpoint("us-west-2"))


class Started:
    """Notes what would have been started."""

    def __init__(self) -> None:
        self.commands: list[tuple[list[str], dict[str, str]]] = []

    def __call__(self, command: list[str], *, env: dict[str, str], **_: object) -> "Started":
        self.commands.append((command, env))
        return self

    def wait(self) -> int:
        return 0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    made = Started()
    monkeypatch.setattr(subprocess, "Popen", made)
    return made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "jars" / "spark").mkdir(parents=True)
    monkeypatch.setattr(archive, "_java_release", lambda: b"17")
    return tmp_path


def planted(home: Path) -> Path:
    path = home / "jars" / f"{archive._name((), home)}-7.jsa"
    path.write_bytes(b"classes")
    return path


def test_where_it_is_missing_it_is_made_at_the_lowest_priority(home: Path, started: Started) -> None:
    jar = home / "extra.jar"
    jar.touch()
    archive.prepare(WorkerSettings(HERE.endpoint, extra_jars=(jar,)), home)
    ((command, env),) = started.commands
    assert command == ["nice", "-n", "19", sys.executable, "-m", "lake.spark.archive"]
    assert (env["LEVEE_HOME"], env["LEVEE_SPARK_EXTRA_JARS"]) == (str(home), str(jar))


def test_where_it_is_ready_nothing_is_started(home: Path, started: Started) -> None:
    path = planted(home)
    archive.prepare(HERE, home)
    assert (archive.ready(HERE, home), started.commands) == (path, [])


def test_a_truncated_one_is_not_used(home: Path) -> None:
    """Java would die of it."""
    path = planted(home)
    path.write_bytes(path.read_bytes()[:3])
    assert archive.ready(HERE, home) is None
