"""Runs on the sandbox's S3 and S3 Batch Operations: buckets of a test's own, and what became of them."""

import json
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import urllib3

from backups import jobs
from backups.models import Plan, Run
from dashboard.connections.models import Connection
from lake.aws.access import Access, open_lake
from lake.aws.batch_operations import BatchOperations, JobStatus
from lake.backup.objects import POINTS
from sandbox.client import REGION
from tests.backups.runs import plain
from tests.backups.runs.world import make_plan
from tests.sandboxlake import sandbox_lake

ROLE = "arn:aws:iam::123456789012:role/levee-backup"
KEYS = ("t/_delta_log/0.json", "t/a b+c%20.parquet", "t/ünï=☃/\"q'\n.parquet", "t/empty", "t/part-1", "t/part-2")


class Ground:
    """A source with a few objects in it and a vault, and plans between them."""

    role = ROLE

    def __init__(self, keys: Iterable[str] = KEYS) -> None:
        self.client = sandbox_lake()
        name = uuid.uuid4().hex[:8]
        self.source, self.vault = f"source-{name}", f"vault-{name}"
        self.client.create_bucket(self.source)
        self.client.create_bucket(self.vault)
        for key in keys:
            self.client.put(self.source, key, b"" if "empty" in key else key.encode())

        self._lake = open_lake(self.access)
        self._batch = BatchOperations(self._lake)

    @property
    def access(self) -> Access:
        return Access(REGION, endpoint_url=self.client.origin, static_credentials=("sandbox", "sandbox"))

    def allow(self, settings: Any, folder: Path) -> None:
        """Let connections of this process reach the sandbox."""
        settings.SANDBOX_ENDPOINT_FILE = folder / "endpoint"
        settings.SANDBOX_ENDPOINT_FILE.write_text(self.client.origin)

    def inhabit(self, monkeypatch: Any) -> None:
        """Let jobs do the data work in plain Python."""
        monkeypatch.setattr(jobs, "parts", plain.parts)

    def plan(self, **changes: Any) -> Plan:
        defaults = {"region": REGION, "endpoint_url": self.client.origin}
        Connection.objects.get_or_create(name="prod", defaults=defaults)
        values = {"source": f"s3a://{self.source}/", "destination": f"s3a://{self.vault}/pool/", "role_arn": ROLE}
        return make_plan(**{**values, **changes})

    def jobs_of(self, run_id: object) -> list[JobStatus]:
        """The copy jobs of a run that S3 has."""
        said = self._lake.services.ask("s3control", "ListJobs", {"AccountId": self._batch.account_id})
        found = [self._batch.status_of(job["JobId"]) for job in said["Jobs"]]
        return [job for job in found if str(run_id) in job.description]

    def copies(self, prefix: str = "pool/") -> dict[str, bytes]:
        """What lies in the vault below a prefix, by its key at the source; but for the restore points."""
        keys = [key for key, _ in self.client.list(self.vault, prefix) if not key.startswith(prefix + POINTS)]
        return {key.removeprefix(prefix): self.client.get(self.vault, key) for key in keys}

    def originals(self) -> dict[str, bytes]:
        return {key: self.client.get(self.source, key) for key, _ in self.client.list(self.source, "")}

    def policy(self, effect: str, key: str) -> None:
        """Let the source's only statement be this one, of whoever reads that key."""
        said = {"Effect": effect, "Principal": "*", "Action": "s3:GetObject"}
        document = {"Statement": [{**said, "Resource": f"arn:aws:s3:::{self.source}/{key}"}]}
        self.client.configure_bucket(self.source, "policy", json.dumps(document))

    def rules(self, **changed: Any) -> None:
        answer = urllib3.request("PUT", f"{self.client.origin}/_sandbox/rules", body=json.dumps(changed).encode())
        assert answer.status == 200, answer.data

    def own_rules(self) -> None:
        urllib3.request("DELETE", f"{self.client.origin}/_sandbox/rules")

    def plant(self, bucket: str, keys: list[str], data: str) -> None:
        """Write many objects with the same text."""
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda key: self.client.put(bucket, key, data.encode()), keys))


def counts(run: Run) -> dict[str, int]:
    """Outcomes of a run that any object had."""
    return {name: count for name, count in run.counts.items() if count}
