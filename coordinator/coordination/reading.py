"""Reading what an act is checked against: the table, its store, its writers and this deployment's Spark, all anew."""

import os
from collections import Counter
from dataclasses import asdict, replace
from uuid import UUID

from django.utils import timezone

from changes.plan import ChangePlan
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.situation import DescribedStore, RecentWriter, Situation, SparkFacts
from coordinator.models import Commit, CommitStore, DeltaTable
from coordinator.observation.passes import survey_for_one_table, target_of
from coordinator.protocols.coordinator_conf import aws_endpoint, read_conf
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.planning import plan_repairs
from coordinator.repairs.reading import Keep, forget, read_for_repair
from dashboard.connections.models import Connection
from dashboard.jobs.models import ACTIVE, Job
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.facts import TableFacts
from lake.delta.uri import TableUri
from lake.spark.deployment import has_log_store_class, is_in_driver, read_extra_jars, read_master
from lake.spark.errors import SparkRefused

WRITERS_OF_NEWEST = 200
"""How many of the newest commits say who else writes."""
_CHOOSING = (Operation.ENABLE, Operation.CREATE)
READING_KINDS = ("check-coordination", "plan-repair", "observe-table")
"""Kinds of jobs that change nothing, so that another may begin beside them."""


def read_situation(
    connection: Connection, lake: Lake, change: CoordinationRequest, *, own_job: UUID | None = None
) -> Situation:
    """Read everything about one change, strongly consistently. What AWS refuses of the table is part of the answer."""
    uri = TableUri.parse(change.uri)
    known = DeltaTable.objects.select_related("store").filter(connection=connection, bucket=uri.bucket, prefix=uri.key)
    table = known.first()
    bare = replace(_bare(connection, change), spark=spark_facts(), busy=_busy(uri, connection, table, own_job))
    store = _described(connection, lake, change.store)
    try:
        repair = _read(connection, lake, uri)
        situation = _with_table(bare, repair, table)
        occupied = _occupied(lake, uri, repair) if change.operation is Operation.CREATE else ""
    except AwsError as error:
        return replace(bare, error=str(error), store=store)
    if change.operation not in _CHOOSING:
        protocol = repair.facts.protocol
        store = _described(connection, lake, read_conf(protocol.properties).store if protocol else "")
    return replace(situation, store=store, occupied=occupied, bucket_region=lake.s3.region_of(uri.bucket))


def read_outcome(connection: Connection, lake: Lake, change: CoordinationRequest, keep: Keep) -> Situation:
    """Read the table alone, strongly consistently: what an outcome is proven from. `keep` is given the reading, once.

    What AWS refuses is part of the answer.
    """
    bare = _bare(connection, change)
    try:
        return replace(bare, repair=_read(connection, lake, TableUri.parse(change.uri), keep))
    except AwsError as error:
        return replace(bare, error=str(error))


def spark_facts() -> SparkFacts:
    """What this process's environment says of Spark; a setting that cannot be read is its problem."""
    try:
        master, jars = read_master(os.environ), read_extra_jars(os.environ)
    except SparkRefused as error:
        return SparkFacts(problem=str(error))
    return SparkFacts(is_in_driver(master), has_log_store_class(jars))


def _bare(connection: Connection, change: CoordinationRequest) -> Situation:
    """What is known before anything is read."""
    return Situation(
        change=change,
        uri=TableUri.parse(change.uri).s3a,
        region=connection.region,
        endpoint=connection.own_endpoint or aws_endpoint(connection.region),
        own_endpoint=bool(connection.own_endpoint),
    )


def _read(connection: Connection, lake: Lake, uri: TableUri, keep: Keep = forget) -> RepairFacts:
    survey, target = survey_for_one_table(connection, lake), target_of(connection, uri)
    return read_for_repair(lake, survey, target, timezone.now(), keep)


def _with_table(bare: Situation, repair: RepairFacts, table: DeltaTable | None) -> Situation:
    made = plan_repairs(repair)
    return replace(
        bare,
        repair=repair,
        plans=tuple(one for one in made if isinstance(one, ChangePlan)),
        writers=_writers(repair.facts, table),
        lock_domains=repair.lock_domains,
        log_store=_log_store(repair, table),
    )


def _log_store(repair: RepairFacts, table: DeltaTable | None) -> str:
    """The DynamoDB table of the entries; of a quiet table, whose entries have expired, the one known before."""
    holding = next((domain.store for domain, entries in repair.facts.entries.items() if entries), "")
    if holding:
        return holding
    known = table.store if table else None
    return known.name if known and known.kind == CommitStore.Kind.LOG_STORE else ""


def _described(connection: Connection, lake: Lake, name: str) -> DescribedStore | None:
    """Ask DynamoDB for its description of a table; None without a name."""
    if not name:
        return None
    declared = CommitStore.objects.filter(connection=connection, name=name).first()
    kind = declared.kind if declared else ""
    try:
        return DescribedStore(name, kind, asdict(lake.dynamodb.describe(name)))
    except AwsError as error:
        return DescribedStore(name, kind, error=str(error))


def _writers(facts: TableFacts, table: DeltaTable | None) -> tuple[RecentWriter, ...]:
    """Engines of the newest commits, the busiest first: as stored, and of those that only this reading saw."""
    stored = Commit.objects.filter(table=table).exclude(engine="") if table else Commit.objects.none()
    rows = stored.order_by("-version")[:WRITERS_OF_NEWEST]
    seen = {row.version: (row.engine, row.modified_at) for row in rows}
    commits = facts.listing.commits
    for version, info in facts.commit_infos.items():
        seen[version] = info.engine, commits[version].modified_at if version in commits else None
    newest = [seen[version] for version in sorted(seen, reverse=True)[:WRITERS_OF_NEWEST]]
    last = dict(reversed(newest))
    counted = Counter(engine for engine, _ in newest)
    return tuple(RecentWriter(engine, number, last[engine]) for engine, number in counted.most_common())


def _busy(uri: TableUri, connection: Connection, table: DeltaTable | None, own_job: UUID | None) -> str:
    jobs = Job.objects.filter(state__in=ACTIVE, connection=connection, target_label__in=uri.spellings())
    if table:
        jobs = jobs | Job.objects.filter(state__in=ACTIVE, target_type="table", target_id=str(table.pk))
    acting = jobs.exclude(kind__in=READING_KINDS)
    found = (acting.exclude(pk=own_job) if own_job else acting).first()
    return f"Job {found.pk} ({found.title})" if found else ""


def _occupied(lake: Lake, uri: TableUri, repair: RepairFacts) -> str:
    if not uri.key:
        return "A table at the root of a bucket takes the whole bucket: choose a path below it."
    for page in lake.s3.list(uri.bucket, f"{uri.key}/", max_keys=1):
        if page.objects:
            return f"Objects lie at this place already, such as {page.objects[0].key!a}: choose another path."
        break
    left = sum(len(entries) for entries in repair.facts.entries.values())
    if left:
        return f"A log store still has {left:,} entries of a table at this path: remove them first (finding C10)."
    return ""
