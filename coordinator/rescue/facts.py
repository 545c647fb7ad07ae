"""What planning to put a copy back rests on, all read anew, and whether the copy belongs where it would be put.

An item belongs to the region and account of its DynamoDB, and every copy to its table. Pure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coordinator.protocols.wording import joined
from coordinator.repairs.rescue import NOWHERE_KNOWN, CopiedFrom
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.copies import SavedCopy, SavedItem
from lake.delta.wire import shown


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


def why_not_here(given: RestoreFacts) -> Iterator[str]:
    """Why an item does not belong into the DynamoDB of this connection: a store of the same name is another store."""
    if given.kept is None:
        return
    saved, now = given.copied_from, given.table.copied_from
    if saved.region and saved.region != now.region:
        yield f"The copy is from {given.store} in {saved.region}, and this connection reads {now.region}."
    if saved.account and now.account and saved.account != now.account:
        yield (
            f"The copy is from {given.store} in account {saved.account}, and the role of this connection is in "
            f"{now.account}."
        )
    if not saved.region:
        yield _why_several(given, given.regions - {now.region})


def where_it_goes(given: RestoreFacts) -> str:
    """Where an item would be put, as a sentence."""
    region = given.table.copied_from.region
    if given.kept is not None and not given.copied_from.region:
        return f"The copy does not say its region; {given.store} is known in {region} alone, and it goes there."
    return f"It goes to {given.store} in {region}."


def _why_several(given: RestoreFacts, others: frozenset[str]) -> str:
    if not others:
        return ""
    return (
        f"The copy does not say its region, and {given.store} is known in {joined(sorted(others))} as well: it could "
        "be from there."
    )


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
