"""What is known of the backups of tables: whoever keeps backups says it, and the pages of tables ask here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from dashboard.loading import AtNeed


@dataclass(frozen=True, slots=True)
class SeenTable:
    """A table as it was last looked at.

    `endpoint` is where its S3 is, "" for AWS's own; `root` is its key without slashes at its ends, `incarnation` its
    metaData.id, "" where that was not read. `oldest` and `published` are the ends of its log, `accepted` is the newest
    version that a commit store or the log has; None where there is none, or none was read.
    """

    endpoint: str
    bucket: str
    root: str
    uri: str
    incarnation: str
    oldest: int | None
    published: int | None
    accepted: int | None


@dataclass(frozen=True, slots=True)
class Restorable:
    """What of a table can be restored. `state` is the name of a look; `version` is the newest that can be, None for
    none, and `committed_at` when its writer says that it was made."""

    state: str
    says: str
    version: int | None = None
    committed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PlanSource:
    """What a plan takes: `prefix` is "" for the whole bucket, else ends in a slash."""

    endpoint: str
    bucket: str
    prefix: str

    def takes(self, table: SeenTable) -> bool:
        where = (table.endpoint, table.bucket)
        return where == (self.endpoint, self.bucket) and f"{table.root}/".startswith(self.prefix)


class Backups(Protocol):
    """`visible` are the connections of which may be told; None: of all."""

    def restorable_of(
        self, tables: Sequence[SeenTable], visible: frozenset[int] | None, now: datetime
    ) -> list[Restorable]:
        """What of each of these tables can be restored, in their order."""

    def page_of(self, table: SeenTable, visible: frozenset[int] | None, now: datetime) -> object:
        """What `backups/parts/table.html` shows of a table."""

    def plans(self, visible: frozenset[int] | None) -> list[str]:
        """The names of plans."""

    def sources(self, plan: str) -> list[PlanSource]:
        """What the plan of this name takes, "" for all plans; none where there is none of that name."""


in_modules = AtNeed()
_kept: list[Backups] = []


def register(backups: Backups) -> None:
    """Add what knows the backups of tables."""
    _kept[:] = [backups]


def backups() -> Backups:
    """Return what knows the backups of tables."""
    in_modules.load()
    return _kept[0]
