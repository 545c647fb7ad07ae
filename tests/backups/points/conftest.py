"""A source and a vault in the sandbox's S3, with the plan that copies the one into the other."""

import json
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import boto3
import pytest
from django.core.management import CommandError, call_command

from dashboard.connections.models import Connection
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from sandbox.client import REGION
from tests.backups.runs.world import make_plan
from tests.sandboxlake import sandbox_lake


class Backup:
    """A source and a vault in one S3, of buckets of their own, with the plan `warehouse-daily`."""

    def __init__(self) -> None:
        self.lake, unique = sandbox_lake(), uuid.uuid4().hex[:8]
        self.source, self.vault = f"source-{unique}", f"vault-{unique}"
        for bucket in (self.source, self.vault):
            self.lake.create_bucket(bucket)
        Connection.objects.create(name="prod", region=REGION, endpoint_url=self.lake.origin)
        self.uri = f"s3a://{self.vault}/pool"
        self.plan = make_plan(source=f"s3a://{self.source}/", destination=f"{self.uri}/")

    def put(self, objects: dict[str, bytes], *, copied: bool, below: str = "", hours_ago: float = 0) -> None:
        bucket, prefix = (self.vault, "pool/") if copied else (self.source, "")
        for key, data in objects.items():
            self.lake.put(bucket, f"{prefix}{below}{key}", data, modified_at=time.time() - 3_600 * hours_ago)

    def put_both(self, objects: dict[str, bytes], *, below: str = "", hours_ago: float = 0) -> None:
        """At the source and in the backup."""
        for copied in (False, True):
            self.put(objects, copied=copied, below=below, hours_ago=hours_ago)

    def boto(self) -> Any:
        keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
        return boto3.client("s3", REGION, endpoint_url=self.lake.origin, **keys)

    def put_in_one_part(self, key: str, data: bytes, *, copied: bool = True) -> None:
        """Write an object as an upload of parts, which has an ETag of its own kind."""
        place = {"Bucket": self.vault, "Key": f"pool/{key}"} if copied else {"Bucket": self.source, "Key": key}
        s3 = self.boto()
        upload = s3.create_multipart_upload(**place)["UploadId"]
        part = s3.upload_part(**place, UploadId=upload, PartNumber=1, Body=data)
        parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
        s3.complete_multipart_upload(**place, UploadId=upload, MultipartUpload=parts)


def refuse(
    monkeypatch: pytest.MonkeyPatch, method: str, code: str, is_meant: Callable[[str, str], bool] = lambda *_: True
) -> None:
    """Let S3 answer `code` to a method for what is meant by bucket and key or prefix."""
    whole = getattr(S3, method)

    def asked(self: S3, bucket: str, key: str, *words: Any, **more: Any) -> Any:
        if is_meant(bucket, key):
            raise AwsError(code, "it said", "", f"s3:{method}", "", f"s3://{bucket}/{key}")
        return whole(self, bucket, key, *words, **more)

    monkeypatch.setattr(S3, method, asked)


@pytest.fixture
def backup(tmp_path, settings) -> Backup:
    made = Backup()
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(made.lake.origin)
    return made


@pytest.fixture
def prove(capsys) -> Callable[..., Any]:
    def run(*words: str) -> Any:
        capsys.readouterr()
        with suppress(CommandError):
            call_command("prove", *words, "--json")
        return json.loads(capsys.readouterr().out)["points"]

    return run
