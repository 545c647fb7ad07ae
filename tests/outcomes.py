"""Writes what became of the tests of a run where the variable asks for it, for the runner (tools/test.py) to read."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

FILE = "LEVEE_OUTCOMES"


@dataclass(eq=False)
class Outcomes:
    """How many tests passed and were skipped, and the first error of each that failed.

    What went wrong beside the tests, so that some may not have run, is `broken`.
    """

    passed: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.setdefault(without_group(report.nodeid), report.longreprtext)
        elif report.skipped:
            self.skipped += 1
        elif report.when == "call":
            self.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid} could not be collected")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        if error:
            self.broken.append(f"a worker ended: {error}")

    def pytest_sessionfinish(self) -> None:
        Path(os.environ[FILE]).write_text(json.dumps(asdict(self)))


def without_group(name: str) -> str:
    """The name of a test as pytest takes it: xdist adds an @ and the group."""
    head, bracket, tail = name.rpartition("]")
    return head + bracket + tail.partition("@")[0]


def pytest_configure(config: pytest.Config) -> None:
    if FILE in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes())
