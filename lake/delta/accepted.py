"""Commits that commit stores have accepted and a log does not show yet."""

from collections.abc import Callable
from dataclasses import dataclass

from lake.delta.uri import TableUri


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
