"""What an act on a table's coordination will change, row by row: the table as checked, and as it will be."""

from collections.abc import Iterator
from dataclasses import dataclass

from coordinator.coordination.checks import Operation
from coordinator.coordination.contract import PreflightDocument
from coordinator.coordination.features import BROUGHT, COORDINATED, IN_COMMIT_TIMESTAMP, LEFT_BEHIND, VACUUM_CHECK
from coordinator.coordination.reading import CoordinationRequest
from coordinator.models import CommitStore, DeltaTable
from lake.delta.facts import Mechanism

REFUSED_BY = "tools that do not know it, deltalake among them, are refused"
ASKED = "asked for once the drop is made; Delta may refuse"


@dataclass(frozen=True, slots=True)
class TableChange:
    """One row; `note` stands below `after`."""

    what: str
    now: str
    after: str
    note: str = ""

    @property
    def differs(self) -> bool:
        return self.now != self.after


def commits_of(operation: Operation) -> int:
    """Versions that the act itself takes."""
    return {Operation.ENABLE: 1, Operation.DROP: 2, Operation.CREATE: 1, Operation.LEFTOVERS: 1}[operation]


def changes(change: CoordinationRequest, checked: PreflightDocument, table: DeltaTable | None) -> list[TableChange]:
    """Before and after; empty for a new table, which has no before, and for one that is gone."""
    if table is None or change.operation is Operation.CREATE:
        return []
    match change.operation:
        case Operation.ENABLE:
            rows = _enabled(checked, table)
        case Operation.DROP:
            rows = _dropped(change, table)
        case _:
            rows = _removed(change, table)
    return [*rows, TableChange("Data files", "as they are", "as they are"), _history(change.operation, checked)]


def plain_commits(table: DeltaTable) -> str:
    """What the table commits through where no coordinator is in force."""
    store = table.store
    if store is not None and store.kind == CommitStore.Kind.LOG_STORE:
        return f"log store {store.name}"
    return "a log store" if table.lock_domains else "S3 alone"


def _enabled(checked: PreflightDocument, table: DeltaTable) -> Iterator[TableChange]:
    yield TableChange("Commits through", plain_commits(table), f"coordinator {checked['store']}")
    notes = {VACUUM_CHECK: REFUSED_BY, COORDINATED: "", IN_COMMIT_TIMESTAMP: "every writer has to keep them"}
    for feature in BROUGHT:
        yield TableChange(feature, _named(table, feature), "in the protocol", notes[feature])
    yield TableChange("Protocol", _protocol(table), "reader 3, writer 7", "stays there after a drop")
    yield TableChange("Coordinator item", "none in force", "a new one, accepting")


def _dropped(change: CoordinationRequest, table: DeltaTable) -> Iterator[TableChange]:
    coordinated = table.mechanism == Mechanism.COORDINATED_COMMITS
    through = f"coordinator {table.store.name}" if coordinated and table.store else plain_commits(table)
    yield TableChange("Commits through", through, _after_drop(table))
    yield TableChange(COORDINATED, _named(table, COORDINATED), "removed")
    yield from _leftovers(change, table)
    yield TableChange("Protocol", _protocol(table), _protocol(table))
    item = "accepting" if coordinated else "not accepting"
    yield TableChange("Coordinator item", item, "not accepting, kept", "sessions that are open still read it")


def _removed(change: CoordinationRequest, table: DeltaTable) -> Iterator[TableChange]:
    yield from _leftovers(change, table)
    yield TableChange("Protocol", _protocol(table), _protocol(table), "its numbers may fall with the last feature")


def _leftovers(change: CoordinationRequest, table: DeltaTable) -> Iterator[TableChange]:
    for feature in LEFT_BEHIND:
        now = _named(table, feature)
        if feature in change.remove_features:
            note = ASKED if change.operation is Operation.DROP else "Delta may refuse"
            yield TableChange(feature, now, "removed, where Delta allows it", note)
        else:
            yield TableChange(feature, now, now, REFUSED_BY if feature == VACUUM_CHECK else "")


def _after_drop(table: DeltaTable) -> str:
    return "the log store it had before" if table.lock_domains else "S3 alone"


def _history(operation: Operation, checked: PreflightDocument) -> TableChange:
    version, more = checked["version"], commits_of(operation)
    if version is None:
        return TableChange("Newest version", "unknown", f"{more} more")
    return TableChange("Newest version", f"{version:,}", f"{version + more:,}")


def _named(table: DeltaTable, feature: str) -> str:
    return "in the protocol" if feature in table.features else "not in the protocol"


def _protocol(table: DeltaTable) -> str:
    return f"reader {table.reader_version}, writer {table.writer_version}"
