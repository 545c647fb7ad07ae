"""States of a table as facts of repairs, and the plans and refusals made of them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from changes.plan import ChangePlan, Refusal
from coordinator.protocols.diagnosis import diagnose
from coordinator.repairs.facts import FileCheck, RepairFacts
from coordinator.repairs.planning import plan_repairs, wanted_files
from lake.delta.facts import HeldElsewhere, LockDomain, TableFacts
from lake.delta.names import checksum_name
from tests.builders.facts import (
    DAY,
    NOW,
    STORE,
    URI,
    coordinated_facts,
    coordinator_commit,
    entry,
    listing,
    log_object,
    log_store_facts,
    registration,
    staged_name,
    temp_name,
)

STAMP = coordinator_commit(0).in_commit_timestamp or 0
STAGED = [staged_name(4)]
DOMAIN = LockDomain(STORE, URI)
OTHER_PATH = "s3://lake/orders"
OTHER_STORE = "delta_log_eu"
OTHER_DOMAIN = LockDomain(OTHER_STORE, URI)
ELSEWHERE = HeldElsewhere("prod-us", "us-east-1", DOMAIN, 5, NOW)
IN_OTHER = {OTHER_STORE: [entry(2)]}
ORPHANED = listing(temp=[log_object(temp_name(3, "lost"), age=2 * DAY), temp_name(3)])
LOST_RUN = log_store_facts(listing(range(2), temp=[temp_name(v) for v in range(4)]), *(entry(v) for v in range(4)))


def file(name: str, *, time: int | None = None, size: int = 1_000, problems: tuple[str, ...] = ()) -> FileCheck:
    return FileCheck(name, size, "e", name, 2, time, problems, timestamp=int(NOW.timestamp() * 1_000))


def default_file(name: str) -> FileCheck:
    """A whole file of its version's own transaction; published commits are a second older for each version below 4."""
    version = int(name.rpartition("/")[2][:20]) if name.rpartition("/")[2][:20].isdecimal() else 0
    transaction = "lost" if ".lost" in name else f"accepted {version}"
    return replace(file(name, time=STAMP + (version - 4) * 1_000), transaction=transaction)


def repair_facts(
    facts: TableFacts,
    *,
    files: Mapping[str, FileCheck | None] | None = None,
    coordinator: str = "commits",
    lock_domains: tuple[LockDomain, ...] = (),
) -> RepairFacts:
    verdict = diagnose(facts)
    found: dict[str, FileCheck | None] = {name: default_file(name) for name in wanted_files(facts, verdict)}
    items = {"commits": {"L": [{"M": {"version": {"N": "4"}}}]}}
    raw = {(one.store, one.table_id): items for one in facts.registrations if one.store == coordinator}
    found |= files or {}
    return RepairFacts(facts, verdict, lock_domains, coordinator, raw, found, registered_path=URI)


def made(facts: TableFacts, **options: Any) -> tuple[ChangePlan | Refusal, ...]:
    return plan_repairs(repair_facts(facts, **options))


def plans(facts: TableFacts, **options: Any) -> dict[str, ChangePlan]:
    return {one.kind: one for one in made(facts, **options) if isinstance(one, ChangePlan)}


def refusals(facts: TableFacts, **options: Any) -> dict[str, str]:
    """All reasons for each repair: more than one finding may refuse it."""
    found: dict[str, str] = {}
    for one in made(facts, **options):
        if isinstance(one, Refusal):
            found[one.kind] = f"{found.get(one.kind, '')} {one.reason}"
    return found


def kinds(plan: ChangePlan) -> list[str]:
    return [type(call).__name__ for call in plan.calls]


def pending(**options: Any) -> TableFacts:
    return log_store_facts(listing(temp=[temp_name(4)]), entry(3), entry(4, complete=False, **options))


def lost_file(**options: Any) -> TableFacts:
    return log_store_facts(listing(temp=[temp_name(4)], **options), entry(3), entry(4))


def unrecoverable() -> TableFacts:
    return log_store_facts(listing(), entry(3), entry(4, complete=False))


def unbackfilled(*commits: Any, version: int = 4, **options: Any) -> TableFacts:
    listed = commits or (coordinator_commit(4),)
    return coordinated_facts(listing(staged=STAGED), registration(version, *listed, **options))


def lost_item(*others: Any, staged: Iterable[str] = (), **options: Any) -> TableFacts:
    facts = coordinated_facts(listing(staged=staged), *others, **options)
    assert facts.protocol
    return replace(facts, protocol=replace(facts.protocol, version=3))


def two_coordinators(facts: TableFacts) -> TableFacts:
    """The same table with a registration in another DynamoDB table that accepts commits too."""
    other = registration(3, table_id="other", store="commits_eu")
    return replace(facts, registrations=(*facts.registrations, other))


def orphaned() -> TableFacts:
    """A registration whose upgrade lost version 2 to another commit, two days ago."""
    return coordinated_facts(listing(age=2 * DAY), registration(3), registration(2, table_id="other", accepted=False))


def losers(*lost: str, staged: Iterable[Any] = (), checksum: bool = True, **options: Any) -> TableFacts:
    """Staged files of version 3 that differ from the published one, which `staged` hold."""
    files = [log_object(staged_name(3, name), size=7, age=2 * DAY) for name in lost]
    log = listing(staged=[*files, *(staged or [staged_name(3)])])
    checksums = {3: log_object(checksum_name(3))} if checksum else {}
    return coordinated_facts(replace(log, checksums=checksums), registration(3), **options)


def never_named(*, age: float = 2 * DAY) -> TableFacts:
    """A temp file of version 4, which nothing else speaks of."""
    return log_store_facts(listing(temp=[log_object(temp_name(4), age=age)]), entry(3))


def cleared(*staged: str, **options: Any) -> TableFacts:
    """Version 4 is accepted, and neither listed nor published; its checksum was written."""
    log = replace(listing(staged=staged or STAGED), checksums={4: log_object(checksum_name(4))})
    return coordinated_facts(log, registration(4), **options)
