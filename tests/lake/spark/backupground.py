"""Sources, inventories and jobs for the tests of backups on Spark."""

import gzip
import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import pytest
import urllib3

from lake.aws.access import Access, Lake, open_lake
from lake.spark.client import SparkWorker
from lake.spark.messages import SparkJob
from sandbox.client import REGION, Client
from tests.sandboxlake import sandbox_lake

FAR = "2099-01-01T00:00:00+00:00"
HOSTILE = (
    "t/a b/_delta_log/00000000000000000000.json",
    "t/a b/day=2026-01-01/part 1+1.parquet",
    "t/a b/100%/quo\"te's.parquet",
    "t/a b/ünïcode-雪/%2F,comma.parquet",
    "t/a b/empty.parquet",
    "t/a b/line\nbreak&<x>.parquet",
    "t/a b/ ++ %2B %25 =.parquet",
    "t/a b//é\u0301/%",
    "plain/outside.txt",
)
numbers = itertools.count()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    """The sandbox's S3, for code that finds its credentials as executors do: in the environment."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "sandbox")
    return sandbox_lake()


@dataclass(frozen=True)
class Ground:
    """Three buckets of one test's own: a source, a vault, and a place for what the runs write."""

    client: Client
    lake: Lake
    worker: SparkWorker
    source: str
    vault: str
    evidence: str

    def put(self, keys: Iterable[str], data: bytes = b"data") -> None:
        for key in keys:
            self.client.put(self.source, key, b"" if "empty" in key else data + key.encode())

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        return sorted(found.key for page in self.lake.s3.list(bucket, prefix) for found in page.objects)

    def run(self, kind: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        outcome = self.worker.run(SparkJob(kind, params))
        assert outcome.state == "done", outcome
        return outcome.result

    def refusal(self, kind: str, params: Mapping[str, Any]) -> str:
        outcome = self.worker.run(SparkJob(kind, params))
        assert outcome.error is not None
        return outcome.error.sentence

    def params(self, **changes: Any) -> dict[str, Any]:
        return {
            "source": {"bucket": self.source, "prefix": ""},
            "destination": {"bucket": self.vault, "prefix": "copy/"},
            "folder": {"bucket": self.evidence, "prefix": f"runs/{next(numbers)}/"},
            "inventory_bucket": "",
            "inventory_manifest": "",
            "cut_off": FAR,
            "selection": "all",
            "files": "all",
            "window_hours": 0,
            "storage_class": "",
            "encryption_key": "",
            "retry": {},
            "copy_limit": 5 * 1024**3,
            **changes,
        }

    def copy(self, manifest: Mapping[str, Any], params: Mapping[str, Any], **changes: Any) -> Mapping[str, Any]:
        report = {"bucket": self.evidence, "prefix": f"{params['folder']['prefix']}report/{manifest['lane']}/"}
        return self.run("backup_copy", {**params, "manifest": manifest, "report": report, "token": "t1", **changes})

    def manifest_keys(self, manifest: Mapping[str, Any]) -> list[str]:
        """Its keys, decoded, in order; every line names the source."""
        lines = self.client.get(manifest["bucket"], manifest["key"]).decode().splitlines()
        parts = [line.split(",") for line in lines]
        assert {bucket for bucket, _ in parts} <= {self.source}
        return sorted(unquote(key) for _, key in parts)

    def deliver(self, files: Iterable[bytes], kind: str, schema: str) -> dict[str, str]:
        """Write an inventory's files and manifest; return the parameters that name it."""
        home = f"inventory/{next(numbers)}"
        named, ending = [], ".csv.gz" if kind == "CSV" else ""
        for number, data in enumerate(files):
            md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
            named.append({"key": f"{home}/data/{number}{ending}", "size": len(data), "MD5checksum": md5})
            self.client.put(self.evidence, f"{home}/data/{number}{ending}", data)
        manifest = {
            "sourceBucket": self.source,
            "destinationBucket": f"arn:aws:s3:::{self.evidence}",
            "creationTimestamp": "1514944800000",
            "fileFormat": kind,
            "fileSchema": schema,
            "files": named,
        }
        self.client.put(self.evidence, f"{home}/manifest.json", json.dumps(manifest).encode())
        return {"inventory_bucket": self.evidence, "inventory_manifest": f"{home}/manifest.json"}

    def delivered(
        self, kind: str, fields: Iterable[str], *, all_versions: bool = False, parts: int = 1
    ) -> dict[str, str]:
        """Have the sandbox deliver an inventory of the source as S3 does; return the parameters that name it."""
        name = f"n{next(numbers)}"
        to = f"<Bucket>arn:aws:s3:::{self.evidence}</Bucket><Format>{kind}</Format><Prefix>inventory</Prefix>"
        optional = "".join(f"<Field>{field}</Field>" for field in fields)
        xml = (
            f"<InventoryConfiguration><Id>{name}</Id><IsEnabled>false</IsEnabled>"
            f"<IncludedObjectVersions>{'All' if all_versions else 'Current'}</IncludedObjectVersions>"
            f"<Schedule><Frequency>Daily</Frequency></Schedule>"
            f"<Destination><S3BucketDestination>{to}</S3BucketDestination></Destination>"
            f"<OptionalFields>{optional}</OptionalFields></InventoryConfiguration>"
        )
        self.client.configure_bucket(self.source, "inventory", xml, id=name)
        url = f"{self.client.origin}/_sandbox/inventory?bucket={self.source}&id={name}&parts={parts}"
        answer = urllib3.request("POST", url)
        assert answer.status == 200, answer.data
        return {"inventory_bucket": self.evidence, "inventory_manifest": answer.data.decode()}


def open_ground(worker: SparkWorker) -> Ground:
    client, number = sandbox_lake(), next(numbers)
    names = [f"backup-{name}-{number}" for name in ("source", "vault", "evidence")]
    for name in names:
        client.create_bucket(name)
    access = Access(REGION, endpoint_url=client.origin, static_credentials=("sandbox", "sandbox"))
    return Ground(client, open_lake(access), worker, *names)


def csv_line(bucket: str, *fields: str) -> str:
    """A row of a CSV inventory, its first field after the bucket the key."""
    key, *others = fields
    return ",".join(f'"{field}"' for field in (bucket, quote(key, safe="/"), *others)) + "\n"


def gz(*lines: str) -> bytes:
    return gzip.compress("".join(lines).encode())
