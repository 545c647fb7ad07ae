"""Commits that commit stores have accepted and a log does not show yet; whoever knows the stores reads them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.connections.models import Connection
from dashboard.loading import AtNeed
from lake.delta.uri import TableUri

if TYPE_CHECKING:
    from lake.aws.access import Lake  # brings the client of AWS, which most commands do without


@dataclass(frozen=True, slots=True)
class AcceptedCommits:
    """`published` is the newest version that the log shows, None for none. `unpublished` are the accepted versions
    after it, ascending without a gap, each with the name below `_delta_log/` of the file that holds it. `not_known`
    says in a sentence why there may be more; "" where there are none."""

    published: int | None
    unpublished: tuple[tuple[int, str], ...] = ()
    not_known: str = ""

    @property
    def newest(self) -> int:
        """The newest accepted version, -1 for none."""
        return self.unpublished[-1][0] if self.unpublished else -1 if self.published is None else self.published


ReadAccepted = Callable[[TableUri], AcceptedCommits]
"""Reads the log of a table and then its stores, consistently. Raises nothing, and may be called by many threads."""
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
