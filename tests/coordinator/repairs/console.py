"""A console beside a lake on moto: tables are observed, jobs are run as a worker would, pages are opened."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from coordinator import actions
from coordinator.models import CommitStore, DeltaTable
from coordinator.repairs.fresh import Subject, jobs_about
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.connections.models import Connection
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from tests.builders.delta import (
    EPOCH_MS,
    UUID,
    commit_bytes,
    commit_info,
    coordinator_commit,
    metadata,
    protocol,
    registration_item,
)
from tests.builders.facts import coordinated_protocol
from tests.builders.moto_lake import MotoLake
from tests.builders.people import actor


class Console:
    """One connection to one lake; `observe` reads all of it."""

    def __init__(self, connection: Connection, written: MotoLake, observe: Callable[[], Any]) -> None:
        self.connection = connection
        self.lake = written
        self.observe = observe

    def pending(self, root: str = "sales/orders", version: int = 3) -> DeltaTable:
        """A table whose newest commit is accepted and not published (C2), as observed."""
        self.lake.table(root, version, log_store=True)
        self.lake.pending(root, version)
        return self.observed(root)

    def lost(self, root: str = "sales/lost", version: int = 3) -> DeltaTable:
        """A table whose newest entry names a temp file that is gone (C11), as observed."""
        self.lake.table(root, version, log_store=True)
        self.lake.pending(root, version)
        self.lake.delete(self.temp_key(root, version))
        return self.observed(root)

    def coordinated(self, root: str = "ops/telemetry", published: int = 2, waiting: int = 2) -> DeltaTable:
        """A coordinated table whose newest `waiting` commits are staged and not backfilled (K3), as observed."""
        store = self.lake.coordinator("commits")
        CommitStore.objects.create(connection=self.connection, name=store, kind="commit_coordinator")
        self.lake.commit(root, 0, _coordinated_first_commit(store))
        elements = []
        for version in range(1, published + waiting):
            body = commit_bytes(commit_info(in_commit_timestamp=EPOCH_MS + version))
            name = f"{version:020d}.{UUID}.json"
            self.lake.put(f"{root}/_delta_log/_staged_commits/{name}", body)
            if version < published:
                self.lake.commit(root, version, body)
            else:
                elements.append(coordinator_commit(version, fsLength={"N": str(len(body))}))
        newest = published + waiting - 1
        item = registration_item(newest, path={"S": self.lake.uri(root)}, commits={"L": elements})
        self.lake.dynamodb.put_item(TableName=store, Item=item)
        return self.observed(root)

    def contended(self, root: str = "ops/telemetry") -> DeltaTable:
        """A coordinated table at version 3, whose version 2 had two writers; its list is clear."""
        self.coordinated(root, published=4, waiting=0)
        log = f"{root}/_delta_log"
        for name in (f"{2:020d}.json", f"_staged_commits/{2:020d}.{UUID}.json"):
            self.lake.put(f"{log}/{name}", commit_of("winner"))
        self.lake.put(f"{log}/_staged_commits/{2:020d}.rival.json", commit_of("rival"))
        return self.observed(root)

    def observed(self, root: str) -> DeltaTable:
        self.observe()
        return self.table(root)

    def table(self, root: str) -> DeltaTable:
        return DeltaTable.objects.select_related("connection").get(bucket=self.lake.bucket, prefix=root)

    def planned(self, table: DeltaTable) -> Job:
        """A finished job that planned the table's repairs."""
        return self.run(actions.plan_repairs(actor(Role.OPERATOR), table))

    def plan(self, table: DeltaTable, repair: str = "publish-commit") -> dict[str, Any]:
        """The document of one plan, made anew."""
        return next(plan for plan in self.planned(table).result["plans"] if plan["kind"] == repair)

    def repair(self, table: DeltaTable, plan: dict[str, Any], by: Actor | None = None, confirm: str = "") -> Job:
        """Ask for a repair of the newest job that planned it so, without running it."""
        jobs, subject = list(jobs_about(table, "plan-repair")), Subject.told_by(plan)
        planned = next((job for job in jobs if plan in job.result.get("plans", [])), jobs[0])
        return actions.repair(by or actor(Role.OPERATOR), planned, subject, plan["digest"], confirm=confirm)

    def run(self, job: Job) -> Job:
        assert execute(job.pk, "w1")
        job.refresh_from_db()
        return job

    def state(self) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
        """Every object of the bucket with its ETag, and every item of the log store."""
        listed = self.lake.s3.list_objects_v2(Bucket=self.lake.bucket).get("Contents", [])
        items = self.lake.dynamodb.scan(TableName=self.lake.log_store)["Items"]
        return [(found["Key"], found["ETag"]) for found in listed], sorted(items, key=repr)

    def objects(self) -> set[str]:
        return {key for key, _ in self.state()[0]}

    def item(self, root: str, version: int) -> dict[str, Any]:
        key = {"tablePath": {"S": self.lake.uri(root)}, "fileName": {"S": f"{version:020d}.json"}}
        return dict(self.lake.dynamodb.get_item(TableName=self.lake.log_store, Key=key).get("Item", {}))

    @property
    def registry(self) -> str:
        """The DynamoDB table of the coordinator that `coordinated` makes."""
        return f"commits-{self.lake.bucket}"

    def registrations(self) -> list[dict[str, Any]]:
        return list(self.lake.dynamodb.scan(TableName=self.registry, ConsistentRead=True)["Items"])

    def lose_registration(self) -> None:
        for item in self.registrations():
            self.lake.dynamodb.delete_item(TableName=self.registry, Key={"tableId": item["tableId"]})

    def temp_key(self, root: str, version: int) -> str:
        return f"{root}/_delta_log/{self.item(root, version)['tempPath']['S']}"

    def bytes_of(self, key: str) -> bytes:
        return bytes(self.lake.s3.get_object(Bucket=self.lake.bucket, Key=key)["Body"].read())


def made_too_long_ago(job: Job) -> None:
    """Make what a job read older than anybody may confirm."""
    job.result["read_at"] = (timezone.now() - timedelta(minutes=16)).isoformat()
    job.save(update_fields=["result"])


def commit_of(transaction: str, **more: Any) -> bytes:
    """A commit of version 2 of a coordinated table."""
    info = commit_info(in_commit_timestamp=EPOCH_MS + 2)["commitInfo"]
    return commit_bytes({"commitInfo": {**info, "txnId": transaction, **more}})


def _coordinated_first_commit(store: str) -> bytes:
    """The commit that creates a table whose properties name the coordinator `store` and registration UUID."""
    named = coordinated_protocol(UUID)
    conf = {"delta.coordinatedCommits.commitCoordinatorConf-preview": json.dumps({"dynamoDBTableName": store})}
    properties = {**named.properties, **conf, "delta.enableInCommitTimestamps": "true"}
    features = list(named.writer_features)
    return commit_bytes(
        commit_info("CREATE TABLE", in_commit_timestamp=EPOCH_MS),
        metadata(properties=properties),
        protocol(3, 7, readerFeatures=["vacuumProtocolCheck"], writerFeatures=features),
    )
