"""When the settings of a bucket take something that a table needs, as pages and commands tell it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coordinator.models import Bucket
from coordinator.protocols.deadlines import AtRisk, read_moment
from coordinator.protocols.verdict import State
from coordinator.protocols.wording import counted, thousands

SHOWN = 20
_WORDS = {AtRisk.LOG: "The log", AtRisk.DATA: "Data files"}


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """One deadline: `at` is None where nothing tells, `is_far` while it is more than 14 days away."""

    at: datetime | None
    state: State
    what: str
    file: str
    rule: str
    does: str
    condition: str

    @property
    def is_far(self) -> bool:
        return self.state is State.HEALTHY


@dataclass(frozen=True, slots=True)
class Deadlines:
    """The soonest of a bucket, and how many there are besides."""

    rows: tuple[DeadlineRow, ...]
    more: int


def deadlines_of(bucket: Bucket, most: int = SHOWN) -> Deadlines:
    """As last judged; whatever was stored in their place gives none."""
    facts = bucket.facts if isinstance(bucket.facts, Mapping) else {}
    stored = stored_deadlines(facts)
    rows = tuple(_row(one) for one in stored[:most])
    return Deadlines(rows, max(count_in_all(facts) - len(rows), 0))


def count_in_all(facts: Mapping[str, Any]) -> int:
    """How many there are; only the soonest are kept."""
    found = facts.get("deadlines_in_all")
    return found if isinstance(found, int) else len(stored_deadlines(facts))


def stored_deadlines(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The deadlines among a bucket's facts, soonest first, as JSON."""
    found = facts.get("deadlines")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _row(stored: Mapping[str, Any]) -> DeadlineRow:
    word = str(stored.get("state"))
    return DeadlineRow(
        at=read_moment(stored.get("at")),
        state=State(word) if word in set(State) else State.NOT_CHECKED,
        what=_what(stored),
        file=str(stored.get("file") or ""),
        rule=str(stored.get("rule") or ""),
        does=str(stored.get("does") or ""),
        condition=str(stored.get("condition") or ""),
    )


def _what(stored: Mapping[str, Any]) -> str:
    """What is at risk, and of which table."""
    what, version, tables = stored.get("what"), stored.get("version"), stored.get("tables")
    table = str(stored.get("table") or "the table at the root")
    number = thousands(version) if isinstance(version, int) else ""
    if what == AtRisk.UNPUBLISHED:
        return f"Commit {number} of {table}, not published".replace("  ", " ")
    if what == AtRisk.LAST_COPY:
        return f"What may be the last copy of commit {number} of {table}".replace("  ", " ")
    if what == AtRisk.LOST:
        return f"An old version of commit {number} of {table}, which is lost".replace("  ", " ")
    others = tables - 1 if isinstance(tables, int) and tables > 1 else 0
    more = f" and of {counted(others, 'other table')}" if others else ""
    return f"{_WORDS.get(AtRisk(what), '') if what in set(AtRisk) else 'Files'} of {table}{more}"
