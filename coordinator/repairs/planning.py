"""Which repairs a table's findings allow, and which they do not: pure, from facts that were read for it."""

from changes.plan import ChangePlan, Refusal
from coordinator.protocols.verdict import Finding, Verdict
from coordinator.repairs.declaration import Repair
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.kinds import REPAIRS
from coordinator.repairs.no_button import refused_anyway
from coordinator.repairs.table_under_repair import PlanOrRefusal, TableUnderRepair
from lake.delta.facts import TableFacts


def plan_repairs(given: RepairFacts) -> tuple[ChangePlan | Refusal, ...]:
    """The plans and refusals of every finding, worst finding first. Pure; raises nothing, whatever was read.

    No two share kind, code and version.
    """
    table = TableUnderRepair(given)
    try:
        _ = table.place
    except ValueError:
        return ()
    made: dict[tuple[str, str, int | None], PlanOrRefusal] = {}
    for finding in given.verdict.findings:
        for outcome in outcomes_of(table, finding):
            made.setdefault((outcome.kind, outcome.code, outcome.version), outcome)
    return tuple(made.values())


def outcomes_of(table: TableUnderRepair, finding: Finding) -> tuple[PlanOrRefusal, ...]:
    """The plans and refusals of one finding. Raises ValueError where the table's URI names no place on S3."""
    made = (repair.planners[finding.code](table, finding) for repair in repairs_of(finding))
    return (*(one for one in made if one is not None), *refused_anyway(table, finding))


def wanted_files(facts: TableFacts, verdict: Verdict) -> tuple[str, ...]:
    """Files that planning needs in full, relative to `_delta_log/`: what would be published, and its neighbours."""
    table = TableUnderRepair(RepairFacts(facts, verdict))
    names = (name for finding in verdict.findings for name in wanted_of(table, finding))
    return tuple(dict.fromkeys(names))


def wanted_of(table: TableUnderRepair, finding: Finding) -> tuple[str, ...]:
    """The files that planning the repairs of one finding needs in full."""
    return tuple(dict.fromkeys(name for repair in repairs_of(finding) for name in repair.wants(table, finding)))


def repairs_of(finding: Finding) -> list[Repair]:
    """The repairs that are about findings of this code."""
    return [repair for repair in REPAIRS.values() if finding.code in repair.planners]
