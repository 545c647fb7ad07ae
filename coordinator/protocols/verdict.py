"""What diagnosis says of a table: states, findings, and the sentence that could be read out on a call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial


class State(StrEnum):
    """The state of a table, store or bucket. The order is worst first and is the sort order of every list."""

    BLOCKED = "blocked"
    UNSAFE = "unsafe"
    ATTENTION = "attention"
    NOT_CHECKED = "not_checked"
    UNBACKFILLED = "unbackfilled"
    PENDING = "pending"
    HEALTHY = "healthy"

    @property
    def rank(self) -> int:
        """0 is worst; stored beside the state so that databases sort by it."""
        return list(State).index(self)


LOUD = (State.BLOCKED, State.UNSAFE)
"""States in which somebody has to act now."""


class Severity(StrEnum):
    """How loud a finding is."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Absence:
    """Something that had to be there and was not seen: `what` in the words of `protocols.absence`, else the very name.

    It counts for the versions `first` to `last`; both are 0 where no version counts.
    """

    what: str
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is or may go wrong. `code` is C0-C11, K0-K12 or a word such as foreign-writer.

    `summary` is one plain sentence; `meaning` says what happens if nobody acts; `evidence` is what was read, ready
    for JSON. `repairs` are the names of safe repairs. `state` is what this finding makes of the table. `absent` is what
    it rests on not being there: one look can miss what a writer is just making (docs/decisions/007).

    One cause in a run of versions is one finding: of the newest of them, which stays while the oldest are mended, with
    `first_version` as the other end.
    """

    code: str
    summary: str
    version: int | None = None
    meaning: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    absent: tuple[Absence, ...] = ()
    first_version: int | None = None
    severity: Severity = field(kw_only=True)
    state: State = field(kw_only=True)

    @property
    def versions(self) -> range:
        """The versions of which it speaks, ascending; none where it speaks of no version."""
        if self.version is None:
            return range(0)
        return range(self.version if self.first_version is None else self.first_version, self.version + 1)


_LOUDNESS = {
    State.BLOCKED: Severity.CRITICAL,
    State.UNSAFE: Severity.CRITICAL,
    State.ATTENTION: Severity.WARNING,
    State.NOT_CHECKED: Severity.WARNING,
    State.HEALTHY: Severity.INFO,
}


def graded(state: State) -> partial[Finding]:
    """Makes findings of a state, each as loud as those usually are."""
    return partial(Finding, severity=_LOUDNESS[state], state=state)


blocked, unsafe = graded(State.BLOCKED), graded(State.UNSAFE)
attention, not_checked = graded(State.ATTENTION), graded(State.NOT_CHECKED)


@dataclass(frozen=True, slots=True)
class EntryVerdict:
    """One entry of a log store or coordinator beside its file. `code` is the state of the tables C and K.

    `store` is the DynamoDB table that holds it, `lock_domain` its tablePath or tableId. `file` is relative to
    `_delta_log/`; `file_size` and `file_present` are None where the file was not looked at.
    """

    version: int
    code: str
    published: bool | None
    file: str
    store: str
    lock_domain: str
    complete: bool | None
    expire_time: int | None = None
    file_present: bool | None = None
    file_size: int | None = None
    written_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The diagnosis of one table: `findings` worst first; `summary` is the worst one's sentence or says all is well.

    `published_version` is the newest with a file of its own; of a log without commits that of its checkpoint.
    `withheld` are findings that rest on an absence which no second look has confirmed; they are not among `findings`.
    """

    state: State
    summary: str
    published_version: int | None
    accepted_version: int | None
    entries: tuple[EntryVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    unpublished: tuple[int, ...] = ()
    oldest_unpublished_at: datetime | None = None
    withheld: tuple[Finding, ...] = ()
