"""A world for the alerts: problems that a test makes and removes, a clock it moves, and a mail server that can die."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard.alerts import problems as registry
from dashboard.alerts.delivery import NotSent, deliver_due
from dashboard.alerts.evaluation import evaluate
from dashboard.alerts.models import Message, Recipient, Rule
from dashboard.alerts.problems import Problem, ProblemKind

MONDAY = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
PENDING = ProblemKind("pending", "A commit is pending", "minutes", threshold=10)
BITE = ProblemKind("bite", "A lifecycle rule will bite", "days", threshold=14, is_countdown=True)


def problem(key: str = "orders", **changes: Any) -> Problem:
    """A pending commit of a table, half an hour old."""
    base = Problem(
        kind="pending",
        key=key,
        cause="pending",
        severity="warning",
        measure=30,
        headline=f"{key} has a pending commit.",
        since=MONDAY,
        uri=f"s3a://lake/{key}",
    )
    return replace(base, **changes)


def rule(**changes: Any) -> Rule:
    return Rule.objects.create(**{"kind": "pending", "name": "Pending", "threshold": 10, **changes})


def address(name: str = "ops", **changes: Any) -> Recipient:
    values = {"name": name, "kind": "address", "address": f"{name}@acme.example", **changes}
    return Recipient.objects.create(**values)


class World:
    """What is wrong, what time it is, and what was received."""

    def __init__(self) -> None:
        self.now = MONDAY
        self.problems: list[Problem] = []
        self.is_broken = False
        self.mail_is_down = False
        self.received: list[tuple[str, str, str]] = []

    def source(self, now: datetime) -> Iterable[Problem]:
        if self.is_broken:
            raise ConnectionError("Redis is gone")
        return list(self.problems)

    def tick(self, *, minutes: float = 1, beats: int = 1) -> None:
        """Move the clock and let so many beats look and send."""
        self.now += timedelta(minutes=minutes)
        for _ in range(beats):
            evaluate(self.now)
        for _ in range(beats):
            deliver_due(self.now, {"mail": self.carry}, _render)

    def run(self, until: datetime, *, every: float = 10, beats: int = 1) -> None:
        while self.now < until:
            self.tick(minutes=every, beats=beats)

    def carry(self, message: Message, handed_over: Callable[[], None]) -> None:
        if self.mail_is_down:
            raise NotSent("The mail server is down.")
        handed_over()
        self.received.append((f"{self.now:%a %H:%M}", message.address.partition("@")[0], message.subject))


@contextmanager
def world() -> Iterator[World]:
    """A world whose source is the only one."""
    kinds, sources = dict(registry._kinds), dict(registry._sources)
    registry._kinds.clear()
    registry._sources.clear()
    here = World()
    registry.register_source("test", here.source, PENDING, BITE)
    try:
        yield here
    finally:
        registry._kinds.clear()
        registry._kinds.update(kinds)
        registry._sources.clear()
        registry._sources.update(sources)


def _render(messages: Sequence[Message], now: datetime) -> None:
    message = messages[0]
    message.subject = f"{message.reason}: {message.alert.headline}" if message.alert else message.reason
