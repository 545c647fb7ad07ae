"""The job `prove-backup` on the queue aws: which versions of which tables a backup restores."""

import hashlib
import json
from contextlib import ExitStack, closing
from functools import partial
from typing import TypedDict

from django.utils import timezone

from backups.contract import PointJson
from backups.models import Plan, PointState
from backups.points.documents import point_document
from backups.points.spreading import proven_tables
from backups.runs.ports import ProofWanted
from backups.runs.spark_pipeline import SparkPipeline
from dashboard.accounts.actor import Actor
from dashboard.commands import DocumentEncoder
from dashboard.connections.accepted import accepted_reader, tables_ahead
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.actions import Target, run_in_foreground
from dashboard.jobs.context import JobContext, JobResult
from dashboard.jobs.models import Job
from dashboard.jobs.registry import job_kind
from dashboard.storable import clean_json
from lake.aws.access import open_lake
from lake.backup.objects import BucketPrefix, place_of
from lake.points.copies import roots_below
from lake.points.proving import REQUESTS_AT_ONCE, Source, prove_copy

KIND = "prove-backup"


class ProveParams(TypedDict):
    """The backup's place, what of its keys below that is to be proven, and the plan that it is of, if any."""

    bucket: str
    prefix: str
    within: str
    connection: int
    plan: int | None


class ProveResult(JobResult, total=False):
    points: list[PointJson]


def prove(actor: Actor, place: BucketPrefix, within: str, connection: Connection, plan: Plan | None) -> Job:
    """Prove, here and now, the tables of a backup. Raises NotAllowed."""
    uri = f"{place.uri}{within}"
    return run_in_foreground(
        actor,
        KIND,
        f"Prove {uri}"[:200],
        connection=connection,
        target=Target("backup", hashlib.sha256(uri.encode()).hexdigest()[:32], uri),
        params=ProveParams(
            bucket=place.bucket,
            prefix=place.prefix,
            within=within,
            connection=connection.pk,
            plan=plan.pk if plan else None,
        ),
    )


@job_kind(KIND, queue="aws", verb="backup.prove", changes_lake=False)
def prove_backup(context: JobContext, params: ProveParams) -> str:
    """Prove every table of a backup; the result is a `ProveResult`, as far as it was proven."""
    place, points = BucketPrefix(params["bucket"], params["prefix"]), list[PointJson]()
    plan = Plan.objects.select_related("connection").get(pk=params["plan"]) if params["plan"] else None
    with ExitStack() as stack:
        connection, source = Connection.objects.get(pk=params["connection"]), None
        vault = stack.enter_context(open_lake(lake_access(connection), parallel=REQUESTS_AT_ONCE))
        if plan is not None:
            lake = stack.enter_context(open_lake(lake_access(plan.connection), parallel=REQUESTS_AT_ONCE))
            bucket = place_of(plan.source).bucket
            reader = accepted_reader(plan.connection, lake, bucket)
            source = Source(lake.s3, bucket, reader, ahead=tables_ahead(plan.connection, bucket))
        with context.step("Read the logs and the listing"):
            roots = roots_below(vault.s3, place, params["within"])
            here = partial(prove_copy, vault.s3, place, params["within"], source)
            pipeline = SparkPipeline(connection, vault, context)
            wanted = ProofWanted(place, source.bucket if source else "")
            # Spark has one identity, so that who may read the source alone is asked here.
            is_one = plan is None or plan.connection_id == connection.pk
            tables = proven_tables(roots, here, pipeline if is_one else None, wanted, source.ahead if source else ())
            for proven in stack.enter_context(closing(tables)):
                context.check_cancelled()
                points += [point_document(table, place, plan, timezone.now()) for table in proven]
                context.progress(len(points), None)
    points.sort(key=lambda point: point["table"])
    context.result(ProveResult(points=clean_json(json.loads(json.dumps(points, cls=DocumentEncoder)))))
    states = [point["state"] for point in points]
    counts = ", ".join(f"{states.count(state):,} {PointState(state).label.lower()}" for state in PointState)
    return f"Tables: {counts}."
