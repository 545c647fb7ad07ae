"""What is known of the backups of tables, and of the tables that they should hold: each side asks the other here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model, QuerySet

from dashboard.loading import AtNeed


@dataclass(frozen=True, slots=True)
class SeenTable:
    """A table as it was last looked at.

    `s3` is that of its connection, `root` its key without slashes at its ends, `uri` without one at its end.
    `incarnation` is its metaData.id, "" where that was not read. `oldest` and `published` are the ends of its log,
    `accepted` is the newest version that a commit store or the log has; None where there is none, or none was read.
    `seen_at` is when all of this was read, None where the last look could not.
    """

    s3: str
    bucket: str
    root: str
    uri: str
    incarnation: str
    oldest: int | None
    published: int | None
    accepted: int | None
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Restorable:
    """What of a table can be restored. `state` is the name of a look; `version` is the newest that can be, None for
    none, and `committed_at` when its writer says that it was made. `is_kept` is whether a restore point leads to it."""

    state: str
    says: str
    version: int | None = None
    committed_at: datetime | None = None
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class PlanSource:
    """What a plan takes; `prefix` is "" for the whole bucket, else ends in a slash."""

    s3: str
    bucket: str
    prefix: str

    @property
    def path(self) -> str:
        """What the paths of its tables begin with, each a bucket and a root with a slash behind."""
        return f"{self.bucket}/{self.prefix}"

    def takes(self, table: SeenTable) -> bool:
        return table.s3 == self.s3 and f"{table.bucket}/{table.root}/".startswith(self.path)


@dataclass(frozen=True, slots=True)
class TablesOutside:
    """How many tables no plan takes, and how many one takes and no newest proof has found."""

    no_plan: int
    in_no_proof: int


NO_PLAN, IN_NO_PROOF = "no plan", "in no proof"
"""Where a list of tables is narrowed by the name of a plan, these. No plan has a name with a space."""
Visible = frozenset[int] | None
"""The connections of which may be told; None: all."""


@dataclass(frozen=True, slots=True)
class Backups:
    """What knows the backups of tables: what of each of some tables can be restored now, in their order; what
    `backups/parts/table.html` shows of one; the names of plans; what the plan of a name takes, "" for all; and rows
    with the `table` of each table of an S3 that the newest proofs of plans have found."""

    restorable_of: Callable[[Sequence[SeenTable], Visible, datetime], list[Restorable]]
    page_of: Callable[[SeenTable, Visible, datetime], object]
    plans: Callable[[Visible], list[str]]
    sources: Callable[[str, Visible], list[PlanSource]]
    proven: Callable[[str, Visible], QuerySet[Model]]


CountOutside = Callable[[str], TablesOutside | None]
"""Counts the tables of the connection of a name, "" for all, by the plans that read or write through it; None where
they are too many to look at each."""

in_modules = AtNeed()
_kept: list[Backups] = []
_counting: list[CountOutside] = []


def register(backups: Backups) -> None:
    """Add what knows the backups of tables."""
    _kept[:] = [backups]


def backups() -> Backups:
    """Return what knows the backups of tables."""
    in_modules.load()
    return _kept[0]


def register_tables(count: CountOutside) -> None:
    """Add what counts the tables that no backup holds."""
    _counting[:] = [count]


def tables_outside(connection: str) -> TablesOutside | None:
    """Return how many tables no backup holds."""
    in_modules.load()
    return _counting[0](connection)
