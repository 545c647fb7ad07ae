"""How many schedules were run, in the summary of a test run."""

from dataclasses import dataclass

import pytest

PROPERTY = "schedules"
"""The property of a test by which it tells how many it ran."""


@dataclass(eq=False)
class Counting:
    """Sums what the tests of all workers tell; compared by identity, as pytest keeps its plugins in sets."""

    schedules: int = 0
    tests: int = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = [int(str(value)) for name, value in report.user_properties if name == PROPERTY]
        if report.when == "teardown" and told:
            self.schedules += sum(told)
            self.tests += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.tests:
            terminalreporter.write_line(f"{self.schedules:,} schedules were run in {self.tests:,} tests.")
