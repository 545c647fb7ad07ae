"""What commit stores hold of a table that its log does not show; whoever knows the stores reads them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dashboard.connections.models import Connection
from dashboard.loading import AtNeed
from lake.delta.accepted import ReadAccepted
from lake.delta.uri import TableUri

if TYPE_CHECKING:
    from lake.aws.access import Lake  # brings the client of AWS, which most commands do without


class StoreItem(NamedTuple):
    """An item of a DynamoDB table, in wire form."""

    store: str
    item: Mapping[str, Any]


class LeftBehind(NamedTuple):
    """What log stores and commit coordinators have of a path, and sentences on those of which that is not known."""

    entries: tuple[StoreItem, ...] = ()
    registrations: tuple[StoreItem, ...] = ()
    not_known: tuple[str, ...] = ()

    @property
    def log_stores(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.store for one in self.entries))

    def and_also(self, other: "LeftBehind") -> "LeftBehind":
        entries, registrations = self.entries + other.entries, self.registrations + other.registrations
        return LeftBehind(entries, registrations, self.not_known + other.not_known)


ReaderOf = Callable[[Connection, "Lake", str], ReadAccepted]
Forget = Callable[[TableUri], None]
ForgetTable = Callable[[Connection, TableUri], None]
LeftOf = Callable[[Connection, "Lake", TableUri], LeftBehind]
AheadOf = Callable[[Connection, str], Mapping[str, int]]
_readers: list[ReaderOf] = []
_left: list[LeftOf] = []
_forget: list[Forget] = []
_forget_table: list[ForgetTable] = []
_ahead: list[AheadOf] = []
in_modules = AtNeed()


def register(reader: ReaderOf, left: LeftOf, forget: Forget, ahead: AheadOf, forget_table: ForgetTable) -> None:
    """Add what reads the commit stores of a connection for the tables of a bucket, what finds all that they have of a
    path, what lets go of the commits that were seen there, what names the tables that are ahead of their logs, and what
    lets go of a table."""
    _readers.append(reader)
    _left.append(left)
    _forget.append(forget)
    _ahead.append(ahead)
    _forget_table.append(forget_table)


def accepted_reader(connection: Connection, lake: "Lake", bucket: str) -> ReadAccepted | None:
    """What reads the commit stores of a connection for the tables of a bucket; None where nobody knows of any."""
    in_modules.load()
    return next((reader(connection, lake, bucket) for reader in _readers), None)


def tables_ahead(connection: Connection, bucket: str) -> Mapping[str, int]:
    """The newest version that looks saw accepted, by the root of each table of a bucket whose log did not show it."""
    in_modules.load()
    return next((ahead(connection, bucket) for ahead in _ahead), {})


def left_behind(connection: Connection, lake: "Lake", uri: TableUri) -> LeftBehind:
    """What the commit stores of a connection have of a path, whether or not there is a table."""
    in_modules.load()
    return next((left(connection, lake, uri) for left in _left), LeftBehind())


def forget_commits(uri: TableUri) -> None:
    """Let go of the commits that looks have seen at a path: the log that is there now was put there on purpose."""
    in_modules.load()
    for forget in _forget:
        forget(uri)


def forget_table(connection: Connection, uri: TableUri) -> None:
    """Let go of the table at a path of the connection's S3, which was removed on purpose: it has not vanished."""
    in_modules.load()
    for forget in _forget_table:
        forget(connection, uri)
