"""Whatever items and listings hold, planning answers, and no plan leaves the table's own log and items."""

from hypothesis import given

from changes.plan import ChangePlan
from coordinator.protocols.diagnosis import diagnose
from coordinator.repairs import item_calls, object_calls, orphan_calls
from coordinator.repairs.facts import FileCheck, RepairFacts
from coordinator.repairs.planning import plan_repairs, wanted_files
from lake.delta.facts import TableFacts
from tests.coordinator.protocols.test_hostile_facts import facts

LOG = "orders/_delta_log/"


def repair_facts(read: TableFacts) -> RepairFacts:
    """Files that are all there and whole, so that nothing but the facts keeps a plan from being made."""
    verdict = diagnose(read)
    files = {name: FileCheck(name, 1_000, "e", name, 1, 1) for name in wanted_files(read, verdict)}
    raw = {(one.store, one.table_id): {"commits": {"L": []}} for one in read.registrations}
    return RepairFacts(read, verdict, (), "commits", raw, files)


@given(facts())
def test_planning_answers_and_stays_within_the_table(read):
    for outcome in plan_repairs(repair_facts(read)):
        if not isinstance(outcome, ChangePlan):
            assert outcome.reason
            continue
        assert outcome.calls
        for call in outcome.calls:
            assert call.says
            match call:
                case object_calls.Publish():
                    assert call.source.startswith(LOG)
                    assert call.key.startswith(LOG)
                    assert ".." not in call.source
                case orphan_calls.DeleteOrphan():
                    assert call.key.startswith(LOG)
                case item_calls.CompleteEntry() | item_calls.DeleteEntry():
                    assert call.table_path.rstrip("/").endswith("://lake/orders")
                case item_calls.ClearCommits() | item_calls.RaiseVersion() | item_calls.DeleteRegistration():
                    assert call.path.rstrip("/").endswith("://lake/orders")
