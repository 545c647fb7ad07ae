"""The time of a schedule: it stands still but for the requests, so that each run is the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

NOW = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
REQUEST = timedelta(milliseconds=40)


class Clock:
    """`now` is what every clock of the process says."""

    def __init__(self, traveller: Any) -> None:
        self._traveller = traveller

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def tick(self) -> None:
        """Let one request take its time."""
        self._traveller.shift(REQUEST)

    def go(self, moment: datetime) -> None:
        self._traveller.move_to(moment)

    def let_pass(self, span: timedelta) -> None:
        self._traveller.shift(span)


@contextmanager
def stopped_clock() -> Iterator[Clock]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield Clock(traveller)
