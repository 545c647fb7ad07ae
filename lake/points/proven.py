"""What was proven of a table, as a record and as a line of JSON that goes from the process that proves to another."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lake.delta.facts import LogObject, ReadingProblem
from lake.delta.proving import TableProof
from lake.delta.restorable import Blocked, TableAtVersion
from lake.points.moments import Span


@dataclass(frozen=True, slots=True)
class RestorableVersions:
    """What a `TableProof` says: the newest version that can be restored, the ranges of all of them, both ends included,
    and what the others lack, that of the newest first, `blocked_total` in all."""

    newest: TableAtVersion | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    blocked: tuple[Blocked, ...] = ()
    blocked_total: int = 0
    problems: tuple[ReadingProblem, ...] = ()


def versions_of(proof: TableProof) -> RestorableVersions:
    return RestorableVersions(proof.newest, proof.ranges, proof.blocked, proof.blocked_total, proof.problems)


@dataclass(frozen=True)
class ProvenTable:
    """What of a table can be restored from a backup.

    `accepted` is the newest version of the source's log, or of the log in the backup without a source, and
    `accepted_at` when it was committed, in epoch milliseconds; None where that is not known. `unpublished` are its last
    versions, where commit stores have accepted them and no file of their own shows it, with the names of the files that
    hold them. `lacking_since` is when S3 was given the first commit after the newest that can be restored; None where
    it has none, or has cleaned it up. `may_lack_since` is the earliest moment of any that is or may be lacking, and of
    the files in which that first one waited: one that was published late, as by a backfill, was accepted before.
    `not_known` says why more than `accepted` may have been accepted, "" where nothing was; `waiting` is the oldest file
    there of such a commit, None where none is left. `read_at` is when reading the source's log began, None without a
    source. `kept` is the URI of the document of its restore point, "" for none; `not_kept` then says why.
    `not_topped_up` says why what it lacks of its plan's promise was not copied from the source, "" where it was or it
    lacks none. `moments` are those to which it can be restored, by the times at which S3 was given the source's
    commits, the newest last.
    """

    root: str
    proof: RestorableVersions
    accepted: int | None = None
    accepted_at: int | None = None
    lacking_since: datetime | None = None
    may_lack_since: datetime | None = None
    waiting: LogObject | None = None
    read_at: datetime | None = None
    unpublished: Mapping[int, str] = field(default_factory=dict)
    not_known: str = ""
    kept: str = ""
    not_kept: str = ""
    not_topped_up: str = ""
    moments: tuple[Span, ...] = ()

    @property
    def is_anchored(self) -> bool:
        """Whether its log was compared with the source's."""
        return self.read_at is not None

    @property
    def has_newest(self) -> bool:
        """Whether the newest version can be restored; so it is said where there is none and none can."""
        return (self.proof.newest.version if self.proof.newest else None) == self.accepted

    @property
    def holds_until(self) -> datetime | None:
        """When S3 was given the first commit that is not, or may not be, in the newest version that can be restored;
        where that has all of them, when reading them began. None where it is not known."""
        first = self.read_at if self.has_newest else self.lacking_since
        if first is None or not self.is_anchored:
            return None
        waited = self.waiting.modified_at if self.waiting else first
        return min(first, self.may_lack_since or first, waited)

    def lacks(self, objective: timedelta) -> bool:
        """Whether it lacks, or may lack, a commit that was older than the objective when the source's log was read."""
        if self.has_newest or not self.read_at:
            return False
        since = self.lacking_since
        return since is None or min(since, self.may_lack_since or since) <= self.read_at - objective

    @property
    def is_gone(self) -> bool:
        """Whether the source's log was read, and nothing of a table is there."""
        return self.accepted is None and self.waiting is None and self.is_anchored


def line_of(table: ProvenTable) -> str:
    """A table as one line of JSON."""
    return json.dumps(asdict(table), separators=(",", ":"), default=datetime.isoformat)


def read_line(line: str) -> ProvenTable:
    """The table of which `line_of` made this line."""
    said: dict[str, Any] = json.loads(line)
    proof, waiting = said["proof"], said["waiting"]
    times = ("lacking_since", "may_lack_since", "read_at")
    return ProvenTable(
        **{
            **said,
            "proof": RestorableVersions(
                TableAtVersion(**proof["newest"]) if proof["newest"] else None,
                tuple((first, last) for first, last in proof["ranges"]),
                tuple(Blocked(*one) for one in proof["blocked"]),
                proof["blocked_total"],
                tuple(ReadingProblem(**one) for one in proof["problems"]),
            ),
            "waiting": LogObject(**{**waiting, "modified_at": _moment(waiting["modified_at"])}) if waiting else None,
            "unpublished": {int(version): name for version, name in said["unpublished"].items()},
            "moments": tuple((_moment(start), _moment(end)) for start, end in said["moments"]),
            **{name: _moment(said[name]) for name in times if said[name]},
        }
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
