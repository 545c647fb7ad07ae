"""What commit stores hold of a table that its log does not show; whoever knows the stores reads them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from dashboard.connections.models import Connection
from dashboard.loading import AtNeed
from lake.delta.accepted import ReadAccepted
from lake.delta.uri import TableUri

if TYPE_CHECKING:
    from lake.aws.access import Lake  # brings the client of AWS, which most commands do without


class LeftBehind(NamedTuple):
    """The log stores that have entries of a path, and sentences on those of which that is not known."""

    stores: tuple[str, ...] = ()
    not_known: tuple[str, ...] = ()

    def and_also(self, other: "LeftBehind") -> "LeftBehind":
        return LeftBehind(self.stores + other.stores, self.not_known + other.not_known)


ReaderOf = Callable[[Connection, "Lake", str], ReadAccepted]
EntriesOf = Callable[[Connection, "Lake", TableUri], LeftBehind]
_readers: list[ReaderOf] = []
_entries: list[EntriesOf] = []
in_modules = AtNeed()


def register(reader: ReaderOf, entries: EntriesOf) -> None:
    """Add what reads the commit stores of a connection for the tables of a bucket, and what finds entries of a path."""
    _readers.append(reader)
    _entries.append(entries)


def accepted_reader(connection: Connection, lake: "Lake", bucket: str) -> ReadAccepted | None:
    """What reads the commit stores of a connection for the tables of a bucket; None where nobody knows of any."""
    in_modules.load()
    return next((reader(connection, lake, bucket) for reader in _readers), None)


def left_behind(connection: Connection, lake: "Lake", uri: TableUri) -> LeftBehind:
    """What the log stores of a connection have of a path at which there is no table yet."""
    in_modules.load()
    return next((entries(connection, lake, uri) for entries in _entries), LeftBehind())
