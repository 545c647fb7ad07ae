"""Registrations that an act which failed left behind: told by name, and removed where they are provably its own.

Source: `registerTable` of Delta 3.3 to 4.4 comes before the commit that names the registration, and a commit that meets
another one is given up and not tried again. So Spark's own word that its commit met another one says that it had put
one registration, and that no request for it is under way any more.
"""

from dataclasses import dataclass

from changes.plan import ChangePlan
from coordinator.coordination.checks import Operation
from coordinator.coordination.contract import LeftRegistrations
from coordinator.coordination.situation import Situation
from coordinator.protocols.wording import joined, thousands, verb
from coordinator.repairs.kinds.remove_orphans import orphans, removal, why_not_lost
from coordinator.repairs.table_under_repair import TableUnderRepair
from lake.delta.facts import Registration
from lake.spark.messages import SparkOutcome

CONFLICTS = ("DELTA_CONCURRENT_", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
"""Beginnings of Delta's conditions for a commit that met another one."""
UNCERTAIN = "a commit store"


@dataclass(frozen=True, slots=True)
class Left:
    """Registrations of the table that appeared during an act; none has accepted a commit or is named.

    `store` is the DynamoDB table that holds them, "" where that is not certain. `unseen` is the act's own where nobody
    lists what it holds. `version` is the one that the upgrade of the only registration was to write.
    """

    store: str
    registrations: tuple[Registration, ...]
    unseen: str = ""

    @property
    def version(self) -> int | None:
        return self.registrations[0].table_version if len(self.registrations) == 1 else None

    @property
    def sentence(self) -> str:
        """What is there; "" for nothing."""
        ids = [one.table_id for one in self.registrations]
        if not ids:
            return f"{self.unseen} is not declared, so what was left in it is not known." if self.unseen else ""
        many = len(ids)
        what = f"{verb(many, 'Registration', 'Registrations')} {joined(ids[:4])} appeared in {self.store or UNCERTAIN}"
        they, them = verb(many, "it has", "they have"), verb(many, "it", "them")
        return f"{what} meanwhile; {they} accepted no commit, and the newest metadata does not name {them}."

    @property
    def stays(self) -> str:
        """What becomes of it where it is not removed here."""
        one = self.version
        when = f"version {thousands(one)} has" if one is not None else "their versions have"
        return (
            f"{verb(len(self.registrations), 'It does', 'They do')} no harm. The table's page offers the removal once "
            f"{when} gone to another commit for a day (K0)."
        )

    def document(self, *, removed: bool) -> LeftRegistrations:
        """As JSON, for the result and the audit log."""
        ids = [one.table_id for one in self.registrations]
        return {"store": self.store, "table_ids": ids, "removed": removed}


def left_by(before: Situation, after: Situation) -> Left:
    """What an act that puts a registration has left of it, by what was read before and after."""
    if before.operation not in (Operation.ENABLE, Operation.CREATE) or after.repair is None:
        return Left("", ())
    known = {(one.store, one.table_id) for one in before.facts.registrations} if before.facts else set()
    table = TableUnderRepair(after.repair)
    new = tuple(one for one in orphans(table) if (one.store, one.table_id) not in known)
    stores = {one.store for one in new if table.raw(one) is not None}
    certain = len(stores) == 1 and all(table.raw(one) is not None for one in new)
    store = before.store
    return Left(stores.pop() if certain else "", new, unseen=store.name if store and not store.kind else "")


def removal_of(left: Left, after: Situation, outcome: SparkOutcome | None) -> ChangePlan | None:
    """The plan that removes it, None where it is not certain that it is the act's own and that nothing can name it."""
    if after.repair is None or len(left.registrations) != 1 or not _met_another_commit(outcome):
        return None
    table, registration = TableUnderRepair(after.repair), left.registrations[0]
    if not left.store or table.why_nothing() or why_not_lost(table, registration):
        return None
    title = f"Remove registration {registration.table_id}"
    calls = (removal(table, registration),)
    return ChangePlan("remove-orphans", after.uri, title, calls, ("Deletes no file.",), "K0")


def _met_another_commit(outcome: SparkOutcome | None) -> bool:
    """Whether Spark itself said so; a Spark that was killed may have requests under way."""
    if outcome is None or outcome.state != "failed" or outcome.error is None:
        return False
    return outcome.error.condition.startswith(CONFLICTS)
