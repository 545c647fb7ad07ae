"""What putting a copy back rests on, all read anew, and whether the copy is of the table that is here. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from changes.plan import Refusal
from coordinator.protocols.wording import thousands
from coordinator.repairs.rescue import NOWHERE_KNOWN, CopiedFrom
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.copies import SavedCopy, SavedItem
from lake.delta.wire import shown

KIND = "restore-copy"
"""The name of the change, in plans, digests and documents."""


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The bytes of a saved file, by their SHA-256 and their size."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RestoreFacts:
    """`why_unreadable` is the sentence that says why the copy cannot be used; else one of `file` and `kept` is there.

    Of a file `there` is the SHA-256 of what its key holds now, None where that is absent, and `noted` what the note
    beside it says; what it holds as a commit is in `table.given.files`. Of an item `store` is the DynamoDB table that
    it belongs to, `found` the item under its key there, and `endpoint` where the connection asks, "" for AWS.
    """

    table: TableUnderRepair
    copy: SavedCopy
    why_unreadable: str = ""
    file: SavedFile | None = None
    there: str | None = None
    kept: SavedItem | None = None
    store: str = ""
    found: Mapping[str, Mapping[str, Any]] | None = None
    endpoint: str = ""
    noted: CopiedFrom = NOWHERE_KNOWN

    @property
    def copied_from(self) -> CopiedFrom:
        """Where the copy is from by its own word."""
        return self.noted if self.kept is None else self.kept.copied_from


def is_of_this_table(given: RestoreFacts) -> bool:
    """Whether the copy is proven to be of the table that is here now."""
    saved = given.copied_from.metadata_id
    return bool(saved) and saved == given.table.copied_from.metadata_id


def why_another_table(given: RestoreFacts) -> str:
    """Why the copy is of a table that was dropped, and this one made in its place."""
    saved, now = given.copied_from.metadata_id, given.table.copied_from.metadata_id
    if saved and now and saved != now:
        return f"The copy is of the table with metaData.id {shown(saved)}; the one that is here now has {shown(now)}."
    first = given.table.given.facts.listing.commits.get(0)
    if not saved and first is not None and first.modified_at > given.copy.saved_at:
        return "0.json was written after the copy was saved, and the copy does not say of which table it is."
    return ""


def doubt_about_table(given: RestoreFacts) -> str:
    """What cannot be ruled out where one of the two is not known, as the end of a sentence; "" where both are."""
    if is_of_this_table(given):
        return ""
    missing = (
        "the metaData.id of this table was not read" if given.copied_from.metadata_id else "it holds no metaData.id"
    )
    return f"the copy may be of a table that was here before, since {missing}"


def with_doubt(given: RestoreFacts, danger: str) -> str:
    """A danger with that doubt behind it."""
    return "; ".join(part for part in (danger, doubt_about_table(given)) if part)


def title_of(copy: SavedCopy) -> str:
    of = "" if copy.version is None else f" of {thousands(copy.version)}"
    return f"Put the {copy.kind.words}{of} back"


def refuse(given: RestoreFacts, reason: str, why: str = "") -> Refusal:
    uri = given.table.given.facts.uri
    return Refusal(KIND, uri, reason, why, title_of(given.copy), version=given.copy.version)
