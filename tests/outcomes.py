"""Writes what became of the tests of a run where the variable asks for it, for the runner (tools/test.py) to read."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

FILE = "LEVEE_OUTCOMES"


@dataclass(eq=False)
class Outcomes:
    """How many tests passed, were skipped and failed, the failed ones with their first error."""

    passed: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # xdist adds the group of a test to its name.
        name = report.nodeid.removesuffix("@engines").removesuffix("@browser")
        if report.failed:
            self.failed.setdefault(name, report.longreprtext)
        elif report.skipped:
            self.skipped += 1
        elif report.when == "call":
            self.passed += 1

    def pytest_sessionfinish(self) -> None:
        Path(os.environ[FILE]).write_text(json.dumps(asdict(self)))


def pytest_configure(config: pytest.Config) -> None:
    if FILE in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes())
