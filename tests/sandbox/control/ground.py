"""Buckets of a test's own in the shared sandbox, boto3's clients for it, and its rules for one test."""

import csv
import hashlib
import io
import json
import time
import uuid
from collections.abc import Iterable
from typing import Any

import boto3
import urllib3

from lake.aws.access import Access
from lake.aws.rare_clients import without_account_label
from lake.backup.batch_manifest import FIELDS, FIELDS_WITH_VERSIONS, FORMAT
from lake.backup.completion_report import ReportManifest, read_report_manifest
from lake.backup.objects import ManifestObject, TaskResult
from sandbox.client import REGION
from tests.builders.batch import read_results, write_lines
from tests.sandboxlake import sandbox_lake
from tests.waiting import scaled

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/levee-backup"
KEYS = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox", "region_name": REGION}
ENDED = {"Complete", "Failed", "Cancelled"}


class Ground:
    """A source, a vault and an evidence bucket, and copy jobs between them."""

    def __init__(self) -> None:
        self.client = sandbox_lake()
        self.origin = self.client.origin
        self.s3 = boto3.client("s3", endpoint_url=self.origin, **KEYS)
        self.control = boto3.client("s3control", endpoint_url=self.origin, **KEYS)
        self.control.meta.events.register("before-call.s3-control", without_account_label)
        name = uuid.uuid4().hex[:8]
        self.source, self.vault, self.evidence = f"source-{name}", f"vault-{name}", f"evidence-{name}"
        for bucket in (self.source, self.vault, self.evidence):
            self.client.create_bucket(bucket)

    @property
    def access(self) -> Access:
        return Access(REGION, endpoint_url=self.origin, static_credentials=("sandbox", "sandbox"))

    def rules(self, **changed: Any) -> None:
        answer = urllib3.request("PUT", f"{self.origin}/_sandbox/rules", body=json.dumps(changed).encode())
        assert answer.status == 200, answer.data

    def own_rules(self) -> None:
        urllib3.request("DELETE", f"{self.origin}/_sandbox/rules")

    def fill(self, *keys: str) -> None:
        for key in keys:
            self.client.put(self.source, key, f"data of {key}".encode())

    def plant(self, keys: list[str], data: str) -> None:
        """Thousands of objects of the same text at once."""
        body = json.dumps({"bucket": self.source, "keys": keys, "data": data}).encode()
        answer = urllib3.request("POST", f"{self.origin}/_sandbox/objects", body=body)
        assert answer.status == 200, answer.data

    def manifest(self, objects: Iterable[ManifestObject], *, with_versions: bool = False) -> dict[str, Any]:
        data = "".join(write_lines(objects, with_versions=with_versions)).encode()
        return self.manifest_of(data, FIELDS_WITH_VERSIONS if with_versions else FIELDS)

    def manifest_of(self, data: bytes, fields: tuple[str, ...] = FIELDS) -> dict[str, Any]:
        key = f"manifest/{uuid.uuid4().hex}.csv"
        self.client.put(self.evidence, key, data)
        etag = hashlib.md5(data, usedforsecurity=False).hexdigest()
        return {
            "Spec": {"Format": FORMAT, "Fields": list(fields)},
            "Location": {"ObjectArn": f"arn:aws:s3:::{self.evidence}/{key}", "ETag": etag},
        }

    def request(self, manifest: dict[str, Any], **changed: Any) -> dict[str, Any]:
        copy = {"TargetResource": f"arn:aws:s3:::{self.vault}", "TargetKeyPrefix": "run"}
        return {
            "AccountId": ACCOUNT,
            "ConfirmationRequired": False,
            "Operation": {"S3PutObjectCopy": copy | changed.pop("copy", {})},
            "Manifest": manifest,
            "Report": {
                "Enabled": True,
                "Bucket": f"arn:aws:s3:::{self.evidence}",
                "Prefix": "report",
                "Format": "Report_CSV_20180820",
                "ReportScope": "AllTasks",
            },
            "Priority": 10,
            "RoleArn": ROLE,
            "ClientRequestToken": uuid.uuid4().hex,
        } | changed

    def create(self, *keys: str, **changed: Any) -> str:
        manifest = self.manifest(ManifestObject(self.source, key) for key in keys)
        return str(self.control.create_job(**self.request(manifest, **changed))["JobId"])

    def job(self, job_id: str) -> dict[str, Any]:
        return dict(self.control.describe_job(AccountId=ACCOUNT, JobId=job_id)["Job"])

    def wait(self, job_id: str, *statuses: str, seconds: float = 60) -> dict[str, Any]:
        """The job once it has one of the statuses, or has ended where none is named."""
        wanted, until = set(statuses) or ENDED, time.monotonic() + scaled(seconds)
        while time.monotonic() < until:
            job = self.job(job_id)
            if job["Status"] in wanted:
                return job
            time.sleep(0.02)
        raise AssertionError(f"the job is {job['Status']}, not {wanted}")

    def report(self, job_id: str, prefix: str = "report") -> dict[str, TaskResult]:
        """Results by key, their files checked against the report's MD5s."""
        manifest = self._report_manifest(job_id, prefix)
        found: dict[str, TaskResult] = {}
        for file in manifest.results:
            data = self.client.get(file.bucket, file.key)
            assert hashlib.md5(data, usedforsecurity=False).hexdigest() == file.md5
            for result in read_results(io.StringIO(data.decode(), newline="")):
                assert result.succeeded == file.succeeded
                found[result.key] = result
        return found

    def _report_manifest(self, job_id: str, prefix: str = "report") -> ReportManifest:
        key = f"{prefix}/job-{job_id}/manifest.json"
        return read_report_manifest(self.client.get(self.evidence, key), self.client.get(self.evidence, f"{key}.md5"))

    def rows(self, job_id: str) -> list[list[str]]:
        """Rows of the report as they are written."""
        manifest = self._report_manifest(job_id)
        texts = [self.client.get(file.bucket, file.key).decode() for file in manifest.results]
        return [row for text in texts for row in csv.reader(io.StringIO(text, newline=""))]
