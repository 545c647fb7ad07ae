"""Tables written by hand into moto: each object and item exactly as a test wants it."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.builders.delta import (
    UUID,
    commit_bytes,
    commit_info,
    coordinator_properties,
    first_commit_bytes,
    incomplete_item,
    log_store_item,
    registration_item,
)


@dataclass
class MotoLake:
    """One bucket, and one log store that is made with it."""

    s3: Any
    dynamodb: Any
    bucket: str
    endpoint: str = ""
    """What coordinated tables say of where their coordinator is."""

    def __post_init__(self) -> None:
        self.endpoint = self.endpoint or self.dynamodb.meta.endpoint_url
        self.log_store = self.store(f"log-{self.bucket}", tablePath="HASH", fileName="RANGE")

    def store(self, name: str, **keys: str) -> str:
        """Make a DynamoDB table with text keys, on demand; returns its name."""
        self.dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
            BillingMode="PAY_PER_REQUEST",
        )
        return name

    def coordinator(self, name: str = "coordinator") -> str:
        """Make the DynamoDB table of a commit coordinator."""
        return self.store(f"{name}-{self.bucket}", tableId="HASH")

    def coordinated(
        self, root: str, store: str, commits: int = 3, unbackfilled: Sequence[int] = (), **changes: Any
    ) -> str:
        """Write a coordinated table: published versions, its registration, and staged commits not yet backfilled."""
        table_id = str(uuid.uuid4())
        self.commit(root, 0, first_commit_bytes(coordinator_properties(store, self.endpoint, table_id)))
        for version in range(1, commits):
            self.commit(root, version)
        body = commit_body(1)
        for version in unbackfilled:
            self.put(f"{root}/_delta_log/_staged_commits/{version:020d}.{UUID}.json", body)
        newest = max(unbackfilled, default=commits - 1)
        item = registration_item(newest, unbackfilled, tableId={"S": table_id}, path={"S": self.uri(root)}, **changes)
        for element in item["commits"]["L"]:
            element["M"]["fsLength"] = {"N": str(len(body))}
        self.dynamodb.put_item(TableName=store, Item=item)
        return self.uri(root)

    def table(self, root: str, commits: int = 3, *, log_store: bool = False) -> str:
        """Write versions 0 to commits-1, with complete entries if it is a log store's; returns the s3a URI."""
        for version in range(commits):
            self.commit(root, version)
            if log_store:
                self.entry(root, version)
        return self.uri(root)

    def uri(self, root: str) -> str:
        return f"s3a://{self.bucket}/{root}"

    def commit(self, root: str, version: int, body: bytes | None = None) -> None:
        self.put(f"{root}/_delta_log/{version:020d}.json", body if body is not None else commit_body(version))

    def entry(self, root: str, version: int, *, scheme: str = "s3a", store: str = "", **changes: Any) -> None:
        item = log_store_item(version, f"{scheme}://{self.bucket}/{root}", **changes)
        self.dynamodb.put_item(TableName=store or self.log_store, Item=item)

    def pending(self, root: str, version: int, *, store: str = "") -> None:
        """Accept a commit without publishing it: entry incomplete, temp file present."""
        item = incomplete_item(version, self.uri(root))
        self.put(f"{root}/_delta_log/{item['tempPath']['S']}", commit_body(version))
        self.dynamodb.put_item(TableName=store or self.log_store, Item=item)

    def second_log_store(self) -> str:
        """Make another log store."""
        return self.store(f"second-{self.bucket}", tablePath="HASH", fileName="RANGE")

    def put(self, key: str, body: bytes) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=body)

    def put_in_parts(self, key: str, body: bytes) -> None:
        """Write an object whose ETag is not that of a single PUT of the same bytes."""
        place = {"Bucket": self.bucket, "Key": key}
        upload = self.s3.create_multipart_upload(**place)["UploadId"]
        part = self.s3.upload_part(**place, UploadId=upload, PartNumber=1, Body=body)
        parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
        self.s3.complete_multipart_upload(**place, UploadId=upload, MultipartUpload=parts)

    def delete(self, key: str) -> None:
        self.s3.delete_object(Bucket=self.bucket, Key=key)

    def wipe(self, root: str) -> None:
        """Drop the table by hand: every object of it goes, and its items stay."""
        for found in self.s3.list_objects_v2(Bucket=self.bucket, Prefix=f"{root}/").get("Contents", []):
            self.delete(found["Key"])

    def drop_entries(self, root: str, *versions: int, store: str = "") -> None:
        """What TTL does to entries, or somebody by hand."""
        for version in versions:
            key = {"tablePath": {"S": self.uri(root)}, "fileName": {"S": f"{version:020d}.json"}}
            self.dynamodb.delete_item(TableName=store or self.log_store, Key=key)


def commit_body(version: int) -> bytes:
    return first_commit_bytes() if version == 0 else commit_bytes(commit_info(), newline=True)
