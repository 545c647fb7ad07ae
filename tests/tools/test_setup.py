"""What running is set up with, and what comes with the tests alone."""

import re
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from django.conf import settings

from tools import setup

ROOMS = ("backups", "changes", "coordinator", "dashboard", "lake", "sandbox")
NAME = re.compile(r"^([A-Za-z0-9][\w.-]*)==", re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:import|from) ([A-Za-z_]\w*)", re.MULTILINE)


class Installer:
    """A checkout's folder for packages; keeps what its installer is asked for."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        (folder / "bin").mkdir()
        for name, value in {"VENV": folder, "PYTHON": folder / "bin" / "python", "STAMP": folder / "stamp"}.items():
            monkeypatch.setattr(setup, name, value)
        setup.PYTHON.write_text("#!/bin/sh\n")
        setup.PYTHON.chmod(0o755)
        monkeypatch.setattr(setup, "require_java", lambda: None)
        monkeypatch.setattr(setup, "uv_on_path", lambda: "uv")
        monkeypatch.setattr(setup, "_environment_has_this_python", lambda: True)
        monkeypatch.setattr(setup, "_run", lambda words, purpose: self.asked.append(Path(words[-1]).name))

    def asked_by(self, *arguments: str) -> list[str]:
        self.asked.clear()
        assert setup.main(arguments) == 0
        return self.asked[:]


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installer]:
    return Installer(tmp_path, monkeypatch)


def test_running_is_set_up_with_its_own_packages_and_tests_with_all(installer: Installer) -> None:
    assert installer.asked_by() == ["run.txt"]
    assert installer.asked_by() == []
    assert installer.asked_by("--tests") == ["dev.txt"]
    assert installer.asked_by() == installer.asked_by("--tests") == []


def locked(name: str) -> dict[str, set[str]]:
    """Every line of a lock about each package: versions with their markers and hashes."""
    found: dict[str, set[str]] = {}
    package = ""
    for line in (setup.REQUIREMENTS / name).read_text().splitlines():
        if match := NAME.match(line):
            package = match[1]
        if package and not line.strip().startswith("#"):
            found.setdefault(package, set()).add(line.strip(" \\"))
    return found


def test_a_package_is_locked_for_running_as_it_is_for_the_tests() -> None:
    tests = locked("dev.txt")
    assert locked("run.txt") == {package: tests[package] for package in locked("run.txt")}


def test_nothing_that_runs_imports_a_package_of_the_tests_alone() -> None:
    installed = {name.lower() for name in NAME.findall((setup.REQUIREMENTS / "run.txt").read_text())}
    owners = {name: {one.lower().replace("_", "-") for one in of} for name, of in packages_distributions().items()}
    files = [
        settings.BASE_DIR / "manage.py",
        *(file for room in ROOMS for file in (settings.BASE_DIR / room).rglob("*.py")),
    ]
    imported = {name for file in files for name in IMPORT.findall(file.read_text())}

    assert {"moto", "pyspark", "django"} <= imported & set(owners)
    assert [name for name in sorted(imported & set(owners)) if not owners[name] & installed] == []
