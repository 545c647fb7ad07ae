"""What can be wrong, as the alerts see it: kinds with a measure, and sources that name every problem there is now.

Apps name the modules that register kinds and sources, so that alerts know neither tables nor backups.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from dashboard.loading import AtNeed

ProblemSeverity = Literal["info", "warning", "critical"]
Unit = Literal["minutes", "hours", "days", "count"]
SEVERITIES: tuple[ProblemSeverity, ...] = ("info", "warning", "critical")


@dataclass(frozen=True)
class ProblemKind:
    """One sort of problem. A rule of this kind tells of a problem whose measure reaches the threshold.

    `unit` is what measure and threshold count; where `is_countdown`, a smaller measure is worse (days left), else a
    larger one (minutes of age). `least` and `most` bound a threshold that makes sense.
    """

    name: str
    words: str
    unit: Unit
    threshold: float
    least: float = 0
    most: float = 10_000
    is_countdown: bool = False

    def reaches(self, measure: float, threshold: float) -> bool:
        return measure <= threshold if self.is_countdown else measure >= threshold

    @property
    def asks(self) -> str:
        """The label of a field for the threshold."""
        if self.is_countdown:
            return f"Tell so many {self.unit} before"
        return "Tell from so many on" if self.unit == "count" else f"Tell after so many {self.unit}"

    def in_words(self, threshold: float) -> str:
        """When a rule with this threshold tells, with its unit."""
        if self.unit == "count":
            return "at once" if self.most <= 1 else f"from {threshold:,g} on"
        unit = self.unit.removesuffix("s") if threshold == 1 else self.unit
        length = f"{threshold:,g} {unit}"
        return f"{length} before" if self.is_countdown else f"after {length}" if threshold else "at once"


@dataclass(frozen=True)
class Problem:
    """Something that is wrong now. `key` is the same for as long as it lasts; problems of one `cause` share an alert.

    `title` is the sort of trouble in a few words (empty: those of the kind) and `subject` what it is about, such as the
    name of a table, with `subject_path` (empty: `path`) as its page; `code` is the finding's. `headline`, `meaning` and
    `advice` (empty: that is `next_step`) are plain sentences. `path` is the page on which the first step is taken, and
    `link` what its button says. `uri` and `plan` are what scopes are compared with; `since` (UTC) is when it began.
    """

    kind: str
    key: str
    cause: str
    severity: ProblemSeverity
    measure: float
    headline: str
    since: datetime
    title: str = ""
    subject: str = ""
    subject_path: str = ""
    code: str = ""
    next_step: str = ""
    meaning: str = ""
    advice: str = ""
    warning: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    path: str = ""
    link: str = ""
    connection: int | None = None
    uri: str = ""
    plan: str = ""
    also_tell: tuple[str, ...] = ()
    """Mail addresses that are told besides whom the rule names."""


Source = Callable[[datetime], Iterable[Problem]]


@dataclass(frozen=True)
class ProblemReport:
    """What all sources said at one time; `failed` names the kinds of those that raised, with the reason."""

    problems: tuple[Problem, ...]
    failed: dict[str, str] = field(default_factory=dict)


in_modules = AtNeed()
"""What registers kinds and sources: named by the apps, imported when one is asked for."""
_kinds: dict[str, ProblemKind] = {}
_sources: dict[str, tuple[tuple[str, ...], Source]] = {}


def register_source(name: str, source: Source, *kinds: ProblemKind) -> None:
    """Add a source and the kinds it yields; the same name again replaces it."""
    _kinds.update({kind.name: kind for kind in kinds})
    _sources[name] = (tuple(kind.name for kind in kinds), source)


def kind_named(name: str) -> ProblemKind | None:
    """Return the kind, or None for one that no app of this release registers."""
    in_modules.load()
    return _kinds.get(name)


def kinds() -> tuple[ProblemKind, ...]:
    """Return every kind, by name."""
    in_modules.load()
    return tuple(_kinds[name] for name in sorted(_kinds))


def look(now: datetime) -> ProblemReport:
    """Ask every source. One that raises keeps the alerts of its kinds as they are, and is told of by its kinds."""
    in_modules.load()
    problems: list[Problem] = []
    failed: dict[str, str] = {}
    for kind_names, source in list(_sources.values()):
        try:
            problems.extend(source(now))
        except Exception as error:  # noqa: BLE001 - a broken source must not silence the others
            failed.update(dict.fromkeys(kind_names, f"{type(error).__name__}: {error}"))
    return ProblemReport(tuple(problems), failed)
