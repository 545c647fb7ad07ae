"""When the settings of a bucket take something that a table needs, as pages and commands tell it."""

from dataclasses import dataclass

from coordinator.models import Bucket
from coordinator.protocols.deadlines import AtRisk, Deadline, read_moment
from coordinator.protocols.verdict import State
from coordinator.protocols.wording import counted, thousands

SHOWN = 20


class DeadlineRow(Deadline):
    """One deadline as it was stored."""

    @property
    def is_far(self) -> bool:
        """Whether it is more than 14 days away."""
        return self.state is State.HEALTHY

    @property
    def subject(self) -> str:
        """What is at risk, and of which table."""
        table = self.table or "the table at the root"
        commit = "commit" if self.version is None else f"commit {thousands(self.version)}"
        if self.what is AtRisk.UNPUBLISHED:
            return f"{commit.capitalize()} of {table}, not published"
        if self.what is AtRisk.LAST_COPY:
            return f"What may be the last copy of {commit} of {table}"
        if self.what is AtRisk.LOST:
            return f"An old version of {commit} of {table}, which is lost"
        files = "The log" if self.what is AtRisk.LOG else "Data files"
        more = f" and of {counted(self.tables - 1, 'other table')}" if self.tables > 1 else ""
        return f"{files} of {table}{more}"


@dataclass(frozen=True, slots=True)
class Deadlines:
    """The soonest of a bucket, and how many there are besides."""

    rows: tuple[DeadlineRow, ...]
    more: int


def deadlines_of(bucket: Bucket, most: int = SHOWN) -> Deadlines:
    """As last judged; only the soonest were kept."""
    rows = tuple(
        DeadlineRow(**{**one, "at": read_moment(one["at"]), "state": State(one["state"]), "what": AtRisk(one["what"])})
        for one in bucket.facts.get("deadlines", [])[:most]
    )
    return Deadlines(rows, bucket.facts.get("deadlines_in_all", 0) - len(rows))
