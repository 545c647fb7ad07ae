"""Which repairs a table's findings allow, and which they do not: pure, from facts that were read for it."""

from collections.abc import Callable, Iterator, Mapping

from changes.plan import Plan, Refusal
from coordinator.protocols.names import staged_file_version
from coordinator.protocols.survivors import Proof
from coordinator.protocols.verdict import Finding, Verdict
from coordinator.repairs import coordinator_plans, litter_plans, log_store_plans, refusals, registration_plans
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.orphans import orphans, upgrade_file
from coordinator.repairs.staged_files import MOST_CANDIDATES, waiting_commits
from coordinator.repairs.table_under_repair import Outcome, TableUnderRepair
from lake.delta.facts import TableFacts
from lake.delta.names import MAX_VERSION, commit_name

MOST_ORPHANS = 50
"""Registrations that no metadata names whose upgrades are read for one plan; the next plan takes the rest."""
Planner = Callable[[TableUnderRepair, Finding], Iterator[Outcome]]


def plan_repairs(given: RepairFacts) -> tuple[Plan | Refusal, ...]:
    """The plans and refusals of every finding, worst finding first. Pure; raises nothing, whatever was read.

    No two share kind, code and version.
    """
    table = TableUnderRepair(given)
    try:
        _ = table.place
    except ValueError:
        return ()
    made: dict[tuple[str, str, int | None], Outcome] = {}
    for finding in given.verdict.findings:
        for outcome in outcomes_of(table, finding):
            made.setdefault((outcome.kind, outcome.code, outcome.version), outcome)
    return tuple(made.values())


def outcomes_of(table: TableUnderRepair, finding: Finding) -> tuple[Outcome, ...]:
    """The plans and refusals of one finding. Raises ValueError where the table's URI names no place on S3."""
    planner = _planner(finding)
    return tuple(planner(table, finding)) if planner else ()


def wanted_files(facts: TableFacts, verdict: Verdict) -> tuple[str, ...]:
    """Files that planning needs in full, relative to `_delta_log/`: what would be published, and its neighbours."""
    table = TableUnderRepair(RepairFacts(facts, verdict))
    names = (name for finding in verdict.findings for name in wanted_of(table, finding))
    return tuple(dict.fromkeys(names))


def wanted_of(table: TableUnderRepair, finding: Finding) -> tuple[str, ...]:
    """The files that planning the repairs of one finding needs in full."""
    return tuple(dict.fromkeys(_names(table, finding)))


def _planner(finding: Finding) -> Planner | None:
    if finding.code == "C4" and finding.evidence.get("bytes_equal") is False and not finding.repairs:
        return log_store_plans.bytes_differ
    if finding.code == "bytes-differ" and "dynamodb" not in finding.evidence:
        return litter_plans.keep_last_copies
    return PLANNERS.get(finding.code)


PLANNERS: Mapping[str, Planner] = {
    "C1": litter_plans.remove_temp_files,
    "C2": log_store_plans.publish_commit,
    "rewind-leftover": log_store_plans.publish_commit,
    "C4": log_store_plans.complete_entry,
    "bytes-differ": log_store_plans.bytes_differ,
    "C6": log_store_plans.republish_file,
    "C7": log_store_plans.lost_for_good,
    "C9": log_store_plans.complete_stale_entries,
    "C10": log_store_plans.abandon_commit,
    "C11": log_store_plans.abandon_commit,
    "K0": litter_plans.remove_registrations,
    "K2": litter_plans.remove_staged_files,
    "K3": coordinator_plans.backfill,
    "K4": coordinator_plans.clear_entries,
    "K6": coordinator_plans.publish_accepted_staged_file,
    "K8": registration_plans.register_again,
    "K9": registration_plans.raise_version,
    **refusals.PLANNERS,
}


def _names(table: TableUnderRepair, finding: Finding) -> Iterator[str]:
    match finding.code:
        case "C2" | "rewind-leftover" | "C6" if finding.version is not None:
            for version in log_store_plans.republished(finding):
                yield from (one.temp.name for one in table.entries_of(version) if one.temp and one.temp.present)
                yield from _neighbours(table, version)
        case "C1":
            found = [file for file, fate in litter_plans.temp_litter(table) if fate.proof is Proof.NEVER_ACCEPTED]
            yield from (file.name for file in found[: litter_plans.MOST_DELETED])
        case "K0":
            names = (upgrade_file(one) for one in orphans(table)[:MOST_ORPHANS])
            yield from (name for name in names if name and table.view.file(int(name[:20])).present)
        case "K2":
            yield from _names_of_losers(table)
        case "K3" | "K4" | "K12":
            yield from _names_of_lists(table)
        case "K6" if finding.version is not None:
            files = table.view.staged_of(finding.version)
            yield from (file.name for file in files if len(files) <= MOST_CANDIDATES)
            yield from _checksum(table, finding.version)
            yield from _neighbours(table, finding.version)
        case "K8" | "K9":
            newest = table.newest_contiguous()
            if newest is not None:
                yield commit_name(newest)
                yield from _checksum(table, newest)
                yield from (file.name for file in table.view.staged_of(newest)[:MOST_CANDIDATES])


def _names_of_losers(table: TableUnderRepair) -> Iterator[str]:
    """What tells of a version which of its files was accepted, and each file that may go."""
    for file, _ in litter_plans.staged_litter(table)[: litter_plans.MOST_DELETED]:
        version = staged_file_version(file.name)
        if version is not None:
            yield commit_name(version)
            yield from _checksum(table, version)
            yield file.name


def _checksum(table: TableUnderRepair, version: int) -> Iterator[str]:
    found = table.view.facts.listing.checksums.get(version)
    if found is not None:
        yield found.name


def _names_of_lists(table: TableUnderRepair) -> Iterator[str]:
    for registration in table.registrations:
        for one in waiting_commits(table.view, registration):
            if one.staged and one.staged.present and staged_file_version(one.staged.name) == one.version:
                yield one.staged.name
                yield from _neighbours(table, one.version)


def _neighbours(table: TableUnderRepair, version: int) -> Iterator[str]:
    for neighbour in (version - 1, version + 1):
        if 0 <= neighbour <= MAX_VERSION and table.view.file(neighbour).present:
            yield commit_name(neighbour)
