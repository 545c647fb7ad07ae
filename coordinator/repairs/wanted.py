"""Files beside those that a repair is about, which tell whether they belong where they lie."""

from collections.abc import Iterator

from coordinator.repairs.table_under_repair import TableUnderRepair
from lake.delta.names import MAX_VERSION, commit_name


def checksum_of(table: TableUnderRepair, version: int) -> Iterator[str]:
    found = table.view.facts.listing.checksums.get(version)
    if found is not None:
        yield found.name


def neighbours(table: TableUnderRepair, version: int) -> Iterator[str]:
    """The published files below and above a version."""
    for neighbour in (version - 1, version + 1):
        if 0 <= neighbour <= MAX_VERSION and table.view.file(neighbour).present:
            yield commit_name(neighbour)
