"""What planning to put a copy back rests on: the table, the copy and the place that it goes to, all read anew."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coordinator.repairs.rescued_items import NOWHERE_KNOWN, CopiedFrom
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.copies import SavedCopy
from coordinator.rescue.kept_items import SavedItem


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The bytes of a saved file, by their SHA-256 and their size."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RestoreFacts:
    """`why_unreadable` is the sentence that says why the copy cannot be used; else one of `file` and `kept` is there.

    Of a file `there` is the SHA-256 of what its key holds now, None where that is absent, and `noted` what the note
    beside it says. Of an item `store` is the DynamoDB table that it belongs to ("" where nothing tells), `found` the
    item under its key there. `log_stores` are those of the connection, `regions` those in which a store of that name is
    known, or was seen to hold items of the table. What the copy, or what a saved entry names, holds as a commit is in
    `table.given.files`.
    """

    table: TableUnderRepair
    copy: SavedCopy
    why_unreadable: str = ""
    file: SavedFile | None = None
    there: str | None = None
    kept: SavedItem | None = None
    store: str = ""
    found: Mapping[str, Mapping[str, Any]] | None = None
    log_stores: tuple[str, ...] = ()
    regions: frozenset[str] = frozenset()
    noted: CopiedFrom = NOWHERE_KNOWN

    @property
    def copied_from(self) -> CopiedFrom:
        """Where the copy is from by its own word."""
        return self.noted if self.kept is None else self.kept.copied_from
