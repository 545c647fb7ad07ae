"""The item that a copy holds, read as the entry or the registration that its name says it is. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coordinator.protocols.names import is_entry_of, is_version, same_place
from coordinator.protocols.registrations import element_problems
from coordinator.repairs.rescued_items import NOWHERE_KNOWN, CopiedFrom, read_kept
from coordinator.rescue.copies import CopyKind, SavedCopy
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.log_store import read_entry


@dataclass(frozen=True, slots=True)
class SavedItem:
    """An item in wire form, and what it says. One of `entry` and `registration` is not None.

    `table` is the DynamoDB table that it is from, "" where its copy, of an earlier release, does not say.
    """

    table: str
    item: Mapping[str, Mapping[str, Any]]
    entry: LogStoreEntry | None = None
    registration: Registration | None = None
    copied_from: CopiedFrom = NOWHERE_KNOWN

    @property
    def key_names(self) -> tuple[str, ...]:
        return ("tablePath", "fileName") if self.entry else ("tableId",)

    @property
    def version(self) -> int | None:
        if self.entry:
            return self.entry.version
        return self.registration.table_version if self.registration else None

    @property
    def name(self) -> str:
        """The item as a sentence names it, with its whole key."""
        if self.entry:
            return f"entry {self.entry.file_name} of {self.entry.table_path}"
        return f"registration {self.registration.table_id if self.registration else ''}"


def read_item(copy: SavedCopy, data: bytes) -> SavedItem:
    """The item of a copy. Raises ValueError with the sentence that says why it is not one of this table."""
    kept = read_kept(data)
    if copy.kind is CopyKind.ENTRY:
        entry = _entry(kept.item, copy.place.s3a)
        return SavedItem(kept.table, kept.item, entry=entry, copied_from=kept.copied_from)
    registration = _registration(kept.item, kept.table, copy.place.s3a)
    return SavedItem(kept.table, kept.item, registration=registration, copied_from=kept.copied_from)


def _entry(item: Mapping[str, Mapping[str, Any]], uri: str) -> LogStoreEntry:
    entry = read_entry(item)
    if entry.problems or entry.version is None or entry.temp_path is None:
        raise ValueError(f"Its item is no sound entry: {_first(entry.problems)}.")
    if not is_entry_of(entry, uri):
        raise ValueError("Its item is the entry of another table.")
    return entry


def _registration(item: Mapping[str, Mapping[str, Any]], table: str, uri: str) -> Registration:
    registration = read_registration(item, table)
    problems = (*registration.problems, *element_problems(registration))
    if problems or not registration.table_id or not is_version(registration.table_version):
        raise ValueError(f"Its item is no sound registration: {_first(problems)}.")
    if not same_place(registration.path, uri):
        raise ValueError("Its item is the registration of another table.")
    return registration


def _first(problems: tuple[str, ...]) -> str:
    return problems[0].rstrip(".") if problems else "its version is missing"
