"""A world to back up: a source, a destination, S3 Batch Operations and a pipeline, all in this process."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from backups import jobs
from backups.actions import start_run
from backups.models import CopyJob, Plan, Run
from backups.runs.batch_engine import S3BatchEngine
from backups.runs.ports import Planned, Reconciled, Reports, Wanted
from backups.tasks import advance_runs
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from lake.aws.batch_operations import CopyRequest, JobStatus
from lake.aws.errors import AwsError
from lake.aws.list_page import ListPage, ObjectSummary
from lake.backup.batch_manifest import Manifest
from lake.backup.completion_report import ResultFile, write_report_manifest
from tests.backups.runs.plain import reconciled

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


@dataclass
class MemoryS3:
    """Objects of one account's S3, by (bucket, key)."""

    objects: dict[tuple[str, str], bytes] = field(default_factory=dict)
    refuses: AwsError | None = None

    def list(self, bucket: str, prefix: str, *, delimiter: str = "", **_: Any) -> Iterator[ListPage]:
        self._check()
        keys = [key for there, key in self.objects if there == bucket and key.startswith(prefix)]
        folders = {prefix + key.removeprefix(prefix).split("/")[0] + "/" for key in keys if "/" in key[len(prefix) :]}
        yield ListPage((), tuple(sorted(folders)))

    def head(self, bucket: str, key: str) -> ObjectSummary | None:
        data = self.objects.get((bucket, key))
        return None if data is None else ObjectSummary(key, len(data), NOW, md5(data))

    def get(self, bucket: str, key: str, *, first: int | None = None, last: int | None = None) -> Any:
        self._check()
        data = self.objects.get((bucket, key))
        if data is None:
            raise AwsError("NoSuchKey", "it is not there", "", "s3:GetObject", "", f"s3://{bucket}/{key}")
        end = len(data) if last is None else last + 1
        return SimpleNamespace(data=data[first or 0 : end], size=len(data), etag=md5(data))

    def _check(self) -> None:
        if self.refuses is not None:
            raise self.refuses


@dataclass
class World:
    """Source and destination as {key: bytes}; `denied` are keys whose copies are refused."""

    source: dict[str, bytes] = field(default_factory=lambda: {f"t/part-{n}": b"x" * n for n in range(10)})
    pool: dict[str, bytes] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    large_from: int = 1_000_000
    s3: MemoryS3 = field(default_factory=MemoryS3)
    batch: "MemoryBatch" = field(init=False)
    manifests: dict[str, dict[str, bytes]] = field(default_factory=dict)
    copies: int = 0
    copied_until: list[datetime | None] = field(default_factory=list)
    trouble_at: dict[str, Exception] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.batch = MemoryBatch(self)

    def passing(self, point: str) -> None:
        """Fail here, if that was asked for."""
        if point in self.trouble_at:
            raise self.trouble_at[point]

    def copy(self, manifest_key: str) -> tuple[int, int]:
        """Copy what a manifest names and is still there; says how many were and were not."""
        done = failed = 0
        for key in self.manifests[manifest_key]:
            if key in self.source and key not in self.denied:
                self.pool[key] = self.source[key]
                self.copies += 1
                done += 1
            else:
                failed += 1
        return done, failed


class MemoryPipeline:
    """Plans, copies and reconciles what the world holds."""

    def __init__(self, world: World) -> None:
        self.world = world

    def plan(self, wanted: Wanted) -> Planned:
        world = self.world
        world.passing("plan")
        chosen = wanted.retry.get("keys", list(world.source)) if wanted.retry else list(world.source)
        inventory = {key: world.source[key] for key in chosen if key in world.source}
        missing = {key: data for key, data in inventory.items() if world.pool.get(key) != data}
        lanes = {
            "copy": {key: data for key, data in missing.items() if len(data) < world.large_from},
            "multipart": {key: data for key, data in missing.items() if len(data) >= world.large_from},
        }
        manifests = []
        for lane, objects in lanes.items():
            if objects:
                key = f"{wanted.folder.prefix}manifest/{lane}/0.csv"
                world.manifests[key] = objects
                size = sum(map(len, objects.values()))
                manifests.append(
                    Manifest(lane, wanted.folder.bucket, key, md5(repr(objects).encode()), len(objects), size)
                )
        world.passing("planned")
        etags = {key: md5(data) for key, data in inventory.items()}
        facts = {"roots": {"bucket": "vault", "key": ""}, "inventory": etags, "missing": sorted(missing)}
        return Planned(len(inventory), len(inventory) - len(missing), 0, 0, tuple(manifests), {}, facts)

    def copy(self, row: CopyJob) -> JobStatus:
        self.world.passing("copy")
        done, failed = self.world.copy(row.manifest_key)
        self.world.passing("copied")
        return JobStatus("", "Complete", row.total, done, failed)

    def reconcile(
        self,
        wanted: Wanted,
        planned: Mapping[str, Any],
        reports: Reports,
        copied_until: datetime | None = None,
    ) -> Reconciled:
        world = self.world
        world.passing("reconcile")
        world.copied_until.append(copied_until)
        inventory = planned["inventory"]
        outcomes = {key: (self._outcome(key, etag, planned), "") for key, etag in inventory.items()}
        return reconciled(outcomes, {key: len(world.pool.get(key, b"")) for key in inventory})

    def _outcome(self, key: str, etag: str, planned: Mapping[str, Any]) -> str:
        there = self.world.pool.get(key)
        if there is not None and md5(there) == etag:
            return "copied" if key in planned["missing"] else "already_there"
        if key not in self.world.source:
            return "vanished"
        if key in self.world.denied:
            return "denied"
        return "failed" if there is None else "changed"


class MemoryBatch:
    """S3 Batch Operations as engines need it: idempotent by token, suspended until confirmed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.by_token: dict[str, str] = {}
        self.jobs: dict[str, JobStatus] = {}
        self.asked: dict[str, CopyRequest] = {}
        self.polls_until_done = 1
        self.account_id = "999999999999"
        self.miscounts = False
        self.ends_at: datetime | None = NOW + timedelta(hours=3)

    def create_copy(self, request: CopyRequest) -> str:
        self.world.passing("create")
        job_id = self.by_token.setdefault(request.token, f"job-{len(self.by_token) + 1}")
        if job_id not in self.jobs:
            self.asked[job_id] = request
            total = len(self.world.manifests[request.manifest_key]) + self.miscounts
            self.jobs[job_id] = JobStatus(job_id, "Suspended", total, priority=request.priority)
        self.world.passing("created")
        return job_id

    def status_of(self, job_id: str) -> JobStatus:
        self.world.passing("status")
        job = self.jobs[job_id]
        if job.status == "Ready":
            self.polls_until_done -= 1
            if self.polls_until_done < 0:
                self._run(job_id, job)
        return self.jobs[job_id]

    def _run(self, job_id: str, job: JobStatus) -> None:
        done, failed = self.world.copy(self.asked[job_id].manifest_key)
        self._report(job_id)
        self.jobs[job_id] = JobStatus(job_id, "Complete", job.total, done, failed, 3, ended_at=self.ends_at)

    def _report(self, job_id: str) -> None:
        """As S3 writes it, with one file of results; nobody here reads what its lines say."""
        bucket, folder = self.asked[job_id].report_bucket, f"{self.asked[job_id].report_prefix}/job-{job_id}/"
        rows, key = b"lines", f"{folder}results/1.csv"
        said = write_report_manifest([ResultFile(True, bucket, key, md5(rows))], NOW)
        self.world.s3.objects |= {(bucket, key): rows, (bucket, f"{folder}manifest.json"): said}

    def confirm(self, job_id: str) -> None:
        self.world.passing("confirm")
        self.jobs[job_id] = replace(self.jobs[job_id], status="Ready")
        self.world.passing("confirmed")

    def set_priority(self, job_id: str, priority: int) -> None:
        self.jobs[job_id] = replace(self.jobs[job_id], priority=priority)

    def cancel(self, job_id: str) -> None:
        self.jobs[job_id] = JobStatus(job_id, "Cancelled", self.jobs[job_id].total)


def inhabit(monkeypatch: Any, world: World) -> World:
    """Let jobs work on the world instead of AWS and Spark."""

    @contextmanager
    def open_lake(access: object, **_: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(s3=world.s3)

    def parts(run: Run, *_: object) -> Any:
        return MemoryPipeline(world), S3BatchEngine(world.batch)

    monkeypatch.setattr(jobs, "open_lake", open_lake)
    monkeypatch.setattr(jobs, "keep_owner", lambda *_: None)  # nobody of this world has an account
    monkeypatch.setattr(jobs, "parts", parts)
    return world


def make_plan(**changes: Any) -> Plan:
    connection, _ = Connection.objects.get_or_create(name="prod", defaults={"region": "eu-west-1"})
    values = {
        "name": "warehouse-daily",
        "connection": connection,
        "vault_connection": connection,
        "source": "s3a://lake/warehouse/",
        "destination": "s3a://vault/pool/",
        "engine": "spark",
        **changes,
    }
    return Plan.objects.create(**values)


def start(plan: Plan) -> Run:
    return start_run(Actor.command(), plan, enqueue=False)


def _execute(pk: int) -> None:
    execute(pk, "worker/1")


def tick(world: World, rounds: int = 30, work: Callable[[int], None] = _execute) -> None:
    """Let ticks and workers go on until no run can; waiting times are over at once."""
    for _ in range(rounds):
        Run.objects.update(look_again_at=None)
        advance_runs(NOW)
        waiting = list(Job.objects.filter(state="queued").values_list("pk", flat=True))
        if not waiting:
            return
        for pk in waiting:
            work(pk)


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
