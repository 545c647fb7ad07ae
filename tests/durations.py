"""How long the suite takes: sums by layer and the slowest tests, written into docs/contributing.md when asked for."""

import os
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.db import connection

OPTION = "--durations-report"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "contributing.md"
MARKS = "<!-- durations, {}: {} -->"
LAYERS = ("spark", "browser", "process", "django_db")
SLOWEST = 30


@dataclass
class Durations:
    """Seconds of each test (set-up, call and end together), with the layer that it belongs to."""

    began: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    layers: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("@")[0]
        self.seconds[name] += report.duration
        self.layers[name] = layer_of(report.keywords)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        text = "\n".join(self._lines())
        page = PAGE.read_text()
        begin, end = (MARKS.format(connection.vendor, place) for place in ("begin", "end"))
        pattern = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{text}\n{end}", page))
        terminalreporter.write_line(f"Durations are in {PAGE.name}.")

    def _lines(self) -> Iterator[str]:
        minutes = (time.monotonic() - self.began) / 60
        yield f"{len(self.seconds):,} tests in {minutes:.1f} minutes, on {os.cpu_count()} cores.\n"
        yield "| layer | tests | seconds |"
        yield "|---|---|---|"
        for layer in (*LAYERS, "pure"):
            of_it = [self.seconds[name] for name, found in self.layers.items() if found == layer]
            yield f"| {layer.removesuffix('_db')} | {len(of_it):,} | {sum(of_it):,.0f} |"
        yield f"\nThe {SLOWEST} slowest:\n"
        yield "| test | seconds |"
        yield "|---|---|"
        for name, seconds in sorted(self.seconds.items(), key=lambda one: -one[1])[:SLOWEST]:
            yield f"| `{name.removeprefix('tests/').replace('|', ' ')}` | {seconds:.1f} |"


def layer_of(keywords: Mapping[str, object]) -> str:
    """The dearest thing that a test uses, as its marks say."""
    return next((layer for layer in LAYERS if layer in keywords), "pure")
