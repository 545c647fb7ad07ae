"""Commits that commit stores have accepted and a log does not show yet; whoever knows the stores reads them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from dashboard.connections.models import Connection
from dashboard.loading import AtNeed
from lake.delta.accepted import ReadAccepted

if TYPE_CHECKING:
    from lake.aws.access import Lake  # brings the client of AWS, which most commands do without


ReaderOf = Callable[[Connection, "Lake", str], ReadAccepted]
_readers: list[ReaderOf] = []
in_modules = AtNeed()


def register(reader: ReaderOf) -> None:
    """Add what reads the commit stores of a connection for the tables of a bucket."""
    _readers.append(reader)


def accepted_reader(connection: Connection, lake: "Lake", bucket: str) -> ReadAccepted | None:
    """What reads the commit stores of a connection for the tables of a bucket; None where nobody knows of any."""
    in_modules.load()
    return next((reader(connection, lake, bucket) for reader in _readers), None)
