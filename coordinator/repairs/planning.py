"""Which repairs a table's findings allow, and which they do not: pure, from facts that were read for it.

An offer stands only where a plan can follow from what was read. Files that planning reads in full have not been read by
then, so each is taken to hold what its plan needs. A repair that is refused even so would be refused whatever they
hold, and no button may promise it.
"""

from collections.abc import Mapping
from dataclasses import replace

from changes.plan import ChangePlan, Refusal
from coordinator.protocols.registrations import seen_commits
from coordinator.protocols.verdict import Finding, Verdict
from coordinator.repairs.declaration import NoPlan, Planned, Repair
from coordinator.repairs.facts import FileCheck, RepairFacts
from coordinator.repairs.kinds import REPAIRS
from coordinator.repairs.no_button import refused_anyway
from coordinator.repairs.object_calls import Item
from coordinator.repairs.registration_plans import current_registration
from coordinator.repairs.table_under_repair import TableUnderRepair
from lake.delta.facts import LockDomain, TableFacts

PlanOrRefusal = ChangePlan | Refusal

REFUSED = "refused"
"""Where the evidence of a finding says why a repair that its kind may have is not offered: repair to reason."""


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
    made = [(repair.name, repair.planners[finding.code](table, finding)) for repair in repairs_of(finding)]
    told = (*made, *refused_anyway(finding))
    return tuple(_outcome(table, finding, repair, one) for repair, one in told if one is not None)


def _outcome(table: TableUnderRepair, finding: Finding, repair: str, made: Planned) -> PlanOrRefusal:
    uri, code, version = table.given.facts.uri, finding.code, finding.version
    if isinstance(made, NoPlan):
        return Refusal(repair, uri, made.reason, title=made.title, code=code, version=version, asks=made.asks)
    return ChangePlan(
        repair,
        uri,
        made.title,
        tuple(made.calls),
        tuple(made.consequences),
        code,
        version,
        danger=made.loses,
        can_lose=bool(made.loses),
        asks=made.asks,
        rests_on=table.rests_on,
    )


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


# What may be offered before anything is read for a plan


def with_possible_repairs(
    facts: TableFacts, verdict: Verdict, lock_domains: tuple[LockDomain, ...], coordinator: str
) -> Verdict:
    """The verdict with the repairs alone that may still have a plan. Pure; raises nothing, whatever was read.

    `lock_domains` are all that the table has, and had since it is known; `coordinator` is the DynamoDB table that the
    properties name, "" where they name none of this connection.
    """
    given = RepairFacts(_as_if_whole(facts), verdict, lock_domains, coordinator, _as_if_read(facts))
    table = TableUnderRepair(given)
    return replace(verdict, findings=tuple(_possible(table, one) for one in verdict.findings))


def _possible(table: TableUnderRepair, finding: Finding) -> Finding:
    if not finding.repairs:
        return finding
    try:
        outcomes = outcomes_of(_with_files(table, finding), finding)
    except ValueError:  # the table's URI names no place, so that nothing can be planned for it
        outcomes = ()
    # What waits for a choice alone is offered: the page of the plan asks for it.
    planned = {one.kind for one in outcomes if isinstance(one, ChangePlan) or one.asks}
    offered = tuple(name for name in finding.repairs if name in planned)
    reasons = {
        one.kind: one.reason
        for one in outcomes
        if not isinstance(one, ChangePlan) and one.kind in finding.repairs and one.kind not in planned
    }
    evidence = {**finding.evidence, REFUSED: reasons} if reasons else finding.evidence
    return replace(finding, repairs=offered, evidence=evidence)


def _as_if_whole(facts: TableFacts) -> TableFacts:
    """Planning lists the folders that a look at the log's tail leaves out; they may turn out to be empty."""
    log = facts.listing
    return replace(facts, listing=replace(log, temp_files=log.temp_files or (), staged=log.staged or ()))


def _as_if_read(facts: TableFacts) -> dict[tuple[str, str], Item]:
    """Each registration as an item that has not changed since."""
    return {(one.store, one.table_id): {"commits": {"L": []}} for one in facts.registrations if one.table_id}


def _with_files(table: TableUnderRepair, finding: Finding) -> TableUnderRepair:
    times = _times(table, finding)
    files = {name: _file(table, name, times.get(name)) for name in wanted_of(table, finding)}
    return TableUnderRepair(replace(table.given, files=files))


def _file(table: TableUnderRepair, name: str, time: int | None) -> FileCheck:
    """A whole commit as long as the listing has it; its bytes are no other file's."""
    found = table.view.temp(name).object or table.view.staged(name.rpartition("/")[2]).object
    at = int(found.modified_at.timestamp() * 1_000) if found else None
    return FileCheck(name, found.size if found else 0, found.etag if found else "", name, 1, time, timestamp=at)


def _times(table: TableUnderRepair, finding: Finding) -> Mapping[str, int | None]:
    """The in-commit timestamps that the accepted copies have to have; any other file may hold none."""
    if finding.code in ("K8", "K9"):
        return dict.fromkeys(wanted_of(table, finding), 0)
    if finding.code == "K6" and finding.version is not None:
        registration = current_registration(table)
        candidates = [file.name for file in table.view.staged_of(finding.version)]
        return dict.fromkeys(candidates[:1], registration.table_timestamp if registration else None)
    return {
        one.staged.name: one.commit.in_commit_timestamp
        for registration in table.registrations
        for one in seen_commits(table.view, registration)
        if one.staged
    }
