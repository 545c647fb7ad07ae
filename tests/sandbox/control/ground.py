"""Buckets of a test's own in the shared sandbox, and its rules for one test."""

import hashlib
import io
import uuid
from typing import Any

import boto3
import urllib3

from lake.aws.access import Access
from lake.backup.completion_report import read_report_manifest
from lake.backup.objects import TaskResult
from sandbox.client import REGION
from tests.builders.batch import read_results
from tests.sandboxlake import sandbox_lake

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/levee-backup"
KEYS = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox", "region_name": REGION}


class Ground:
    """A source, a vault and an evidence bucket."""

    def __init__(self) -> None:
        self.client = sandbox_lake()
        name = uuid.uuid4().hex[:8]
        self.source, self.vault, self.evidence = f"source-{name}", f"vault-{name}", f"evidence-{name}"
        for bucket in (self.source, self.vault, self.evidence):
            self.client.create_bucket(bucket)

    @property
    def access(self) -> Access:
        return Access(REGION, endpoint_url=self.client.origin, static_credentials=("sandbox", "sandbox"))

    @property
    def s3(self) -> Any:
        return boto3.client("s3", endpoint_url=self.client.origin, **KEYS)

    def own_rules(self) -> None:
        urllib3.request("DELETE", f"{self.client.origin}/_sandbox/rules")

    def fill(self, *keys: str) -> None:
        for key in keys:
            self.client.put(self.source, key, f"data of {key}".encode())

    def report(self, job_id: str) -> dict[str, TaskResult]:
        """Results by key, their files checked against the report's MD5s."""
        key = f"report/job-{job_id}/manifest.json"
        body, checksum = (self.client.get(self.evidence, one) for one in (key, f"{key}.md5"))
        found: dict[str, TaskResult] = {}
        for file in read_report_manifest(body, checksum):
            data = self.client.get(file.bucket, file.key)
            assert hashlib.md5(data, usedforsecurity=False).hexdigest() == file.md5
            for result in read_results(io.StringIO(data.decode(), newline="")):
                assert result.succeeded == file.succeeded
                found[result.key] = result
        return found
