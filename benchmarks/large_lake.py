"""Rows of a lake of 100,000 tables, for benchmarks of the console's lists: the same rows at every size asked for.

Nothing is random: each row's place in the lake follows from its number.
"""

import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db.models import F, Model

from backups.models import Plan, Run, RunState
from coordinator.models import Bucket, Commit, CommitStore, DeltaTable, Entry, ObservationPass, TableFinding
from coordinator.protocols.verdict import State
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job, JobState, WorkerBeat

CONNECTIONS, BUCKETS, STORES, PLANS = 4, 40, 12, 50
COMMITS, ENTRIES = 11, 5
"""Commits of every second table, and entries of each that commits through a store."""
_TROUBLE = {7: State.ATTENTION, 29: State.PENDING, 211: State.UNSAFE, 997: State.BLOCKED}
"""Every how many tables one is in this state."""
_BATCH = 2_000


def fill(tables: int, now: datetime) -> None:
    """Store a lake of so many tables, with as many jobs, twice as many audit rows and a tenth as many runs."""
    connections = [Connection(name=f"account-{number}", region="eu-central-1") for number in range(CONNECTIONS)]
    _store(connections)
    stores = [_commit_store(connections, number, now) for number in range(STORES)]
    _store(stores)
    _store(_bucket(connections, number, now) for number in range(BUCKETS))
    # As workers do each minute while they live: pages look for more where one is silent.
    _store(WorkerBeat(queue=queue, worker="worker", at=now + timedelta(hours=1)) for queue in settings.QUEUES)
    _store(ObservationPass(connection=one, started_at=now, finished_at=now) for one in connections)
    _store(_table(connections, stores, number, now) for number in range(tables))
    rows = DeltaTable.objects.order_by("pk").only("pk", "state", "store_id", "unpublished_count")
    _store(_commits(rows.iterator(chunk_size=_BATCH), now))
    _store(_entries(rows.iterator(chunk_size=_BATCH), now))
    _store(_findings(rows.exclude(state=State.HEALTHY).iterator(chunk_size=_BATCH), now))
    _store(_job(number, connections, now) for number in range(tables))
    _store(_audit_entry(number, now) for number in range(2 * tables))
    plans = [_plan(connections, number) for number in range(PLANS)]
    _store(plans)
    _store(_run(plans, number, now) for number in range(tables // 10))
    for model in (Job, Run):
        model._default_manager.update(created_at=F("started_at"))


def _store(rows: Iterable[Model]) -> None:
    left = iter(rows)
    while batch := list(islice(left, _BATCH)):
        type(batch[0])._default_manager.bulk_create(batch)


def _commit_store(connections: list[Connection], number: int, now: datetime) -> CommitStore:
    kind = CommitStore.Kind.COMMIT_COORDINATOR if number % 4 == 3 else CommitStore.Kind.LOG_STORE
    return CommitStore(
        connection=connections[number % CONNECTIONS], name=f"delta_log_{number:02d}", kind=kind, observed_at=now,
        state=State.HEALTHY, state_rank=State.HEALTHY.rank,
        facts={"ttl_status": "ENABLED", "ttl_attribute": "expireTime"},
    )  # fmt: skip


def _bucket(connections: list[Connection], number: int, now: datetime) -> Bucket:
    return Bucket(
        connection=connections[number % CONNECTIONS], name=f"lake-{number:02d}", observed_at=now,
        state=State.HEALTHY, state_rank=State.HEALTHY.rank, facts={"versioning": "Enabled", "lifecycle_rules": []},
    )  # fmt: skip


def _table(connections: list[Connection], stores: list[CommitStore], number: int, now: datetime) -> DeltaTable:
    bucket, prefix = f"lake-{number % BUCKETS:02d}", f"warehouse/domain_{number % 311:03d}/table_{number:06d}"
    state = next((state for every, state in _TROUBLE.items() if number % every == every - 1), State.HEALTHY)
    store = None if number % 5 == 4 else stores[number % STORES]
    mechanism = "single_driver" if store is None else "log_store"
    if store is not None and store.kind == CommitStore.Kind.COMMIT_COORDINATOR:
        mechanism = "coordinated_commits"
    waiting = 1 if state == State.PENDING else 0
    return DeltaTable(
        connection=connections[number % CONNECTIONS], bucket=bucket, prefix=prefix, uri=f"s3a://{bucket}/{prefix}",
        name=f"domain_{number % 311:03d}.table_{number:06d}", mechanism=mechanism, store=store, state=state,
        state_rank=state.rank, summary="" if state == State.HEALTHY else f"Commit {COMMITS} is {state.value}.",
        published_version=COMMITS - 1, accepted_version=COMMITS - 1 + waiting, unpublished_count=waiting,
        oldest_unpublished_at=now - timedelta(minutes=20) if waiting else None,
        last_commit_at=now - timedelta(seconds=number), oldest_version=0, observed_at=now, changed_at=now,
        listed_at=now, reader_version=1, writer_version=2, gone_at=now if number % 503 == 502 else None,
    )  # fmt: skip


def _commits(tables: Iterator[DeltaTable], now: datetime) -> Iterator[Commit]:
    for place, table in enumerate(tables):
        for version in range(COMMITS if place % 2 else 0):
            yield Commit(
                table=table, version=version, published=True, size=1_500, operation="WRITE",
                modified_at=now - timedelta(hours=3 * (COMMITS - version)),
            )  # fmt: skip


def _entries(tables: Iterator[DeltaTable], now: datetime) -> Iterator[Entry]:
    for table in tables:
        if table.store_id is None:
            continue
        for version in range(COMMITS - ENTRIES, COMMITS):
            yield Entry(
                table=table, store_id=table.store_id, lock_domain=str(table.pk), version=version, code="C1",
                published=True, complete=True, expire_time=int(now.timestamp()) + 86_400, observed_at=now,
            )  # fmt: skip


def _findings(tables: Iterator[DeltaTable], now: datetime) -> Iterator[TableFinding]:
    for table in tables:
        state = State(table.state)
        code, repairs = ("C5", ["publish"]) if state == State.PENDING else ("several-writers", [])
        yield TableFinding(
            table=table, code=code, version=COMMITS, key=f"{code}@{COMMITS}", severity="warning", state=state,
            state_rank=state.rank, summary=f"Commit {COMMITS} is {state.value}.", repairs=repairs, opened_at=now,
            seen_at=now,
        )  # fmt: skip


def _job(number: int, connections: list[Connection], now: datetime) -> Job:
    at = now - timedelta(minutes=number)
    state = JobState.FAILED if number % 97 == 96 else JobState.SUCCEEDED
    person = number % 9 == 8
    job = Job(
        kind="table.repair" if person else "lake.observe", title=f"Job {number}", queue="aws", state=state,
        connection=connections[number % CONNECTIONS], target_type="table" if person else "lake",
        target_id=str(number), target_label=f"domain.table_{number}", target_key=f"1:table:{number}",
        requested_by_name="mara" if person else "schedule", enqueued_at=at, started_at=at,
        finished_at=at + timedelta(seconds=3), message="Done.",
    )  # fmt: skip
    job.id = uuid.UUID(int=number + 1)
    return job


def _audit_entry(number: int, now: datetime) -> AuditEntry:
    return AuditEntry(
        at=now - timedelta(seconds=30 * number), actor_name="mara", source="page", action="table.repair",
        target_type="table", target_id=str(number), target_label=f"domain.table_{number}",
        outcome="requested" if number % 2 else "done",
    )  # fmt: skip


def _plan(connections: list[Connection], number: int) -> Plan:
    connection = connections[number % CONNECTIONS]
    return Plan(
        name=f"plan-{number:02d}", connection=connection, vault_connection=connection, objective_hours=48,
        source=f"s3a://lake-{number % BUCKETS:02d}/warehouse", destination=f"s3a://vault-{number:02d}/copy",
        schedule="0 2 * * *",
    )  # fmt: skip


def _run(plans: list[Plan], number: int, now: datetime) -> Run:
    at = now - timedelta(hours=4 * (number // PLANS))
    state = RunState.FAILED if number % 131 == 130 else RunState.COMPLETE
    counts: dict[str, Any] = {"listed": 5_000, "copied": 4_000, "already_there": 1_000}
    return Run(
        plan=plans[number % PLANS], state=state, stage="reconcile", requested_by_name="schedule", due_at=at,
        started_at=at, finished_at=at + timedelta(minutes=40), cut_off=at, bytes_copied=10**10,
        tables={"points": {"proven": 2_000}}, is_proof=state == RunState.COMPLETE, holds_until=at, **counts,
    )  # fmt: skip
