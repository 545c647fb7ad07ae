"""What a repair is: one declaration in one file of `coordinator/repairs/kinds`, and all that others know of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from changes.calls import Call
from coordinator.protocols.verdict import Finding
from coordinator.repairs.table_under_repair import TableUnderRepair


@dataclass(frozen=True, slots=True)
class Draft:
    """What a repair would do: its calls, and what it does, leaves alone and comes to.

    `loses` names what can be lost, "" for nothing; then items and objects are saved aside by the first calls. `asks`
    names a choice that makes another plan of it.
    """

    title: str
    calls: Sequence[Call]
    consequences: Sequence[str]
    loses: str = ""
    asks: str = ""


@dataclass(frozen=True, slots=True)
class NoPlan:
    """A repair that must not be made, and why; `asks` names the choice that it waits for."""

    title: str
    reason: str
    asks: str = ""


Planned = Draft | NoPlan
Planner = Callable[[TableUnderRepair, Finding], Planned | None]
"""The plan for one finding, or why there is none; None where it is not about this one. Pure."""
Wants = Callable[[TableUnderRepair, Finding], Iterator[str]]
"""Files that planning needs in full, relative to `_delta_log/`."""


def nothing(table: TableUnderRepair, finding: Finding) -> Iterator[str]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Many:
    """The same `repair` on many tables: what it is called there, what it does to each, and for which findings."""

    repair: str
    title: str
    consequence: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """`name` is what findings, addresses and commands call it.

    `act` is its title of one version, `plain` of none and `run` of a run of versions; `consequence` says before any
    plan what it does and leaves alone, and `loses` that it always can lose a commit. `planners` plan it for findings of
    each code, and `wants` names what has to be read for that. `many` is None where it is made for one table alone.
    """

    name: str
    act: str
    consequence: str
    planners: Mapping[str, Planner]
    wants: Wants = nothing
    plain: str = ""
    run: str = ""
    loses: bool = False
    many: Many | None = None

    def title(self, version: int | None, first: int | None = None) -> str:
        if version is None:
            return self.plain or self.act
        if first is not None and self.run:
            return self.run.format(first=f"{first:,}", version=f"{version:,}")
        return self.act.format(version=f"{version:,}")
