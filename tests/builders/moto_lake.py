"""Tables written by hand into moto: each object and item exactly as a test wants it."""

from dataclasses import dataclass
from typing import Any

from tests.builders.delta import commit_bytes, commit_info, first_commit_bytes, incomplete_item, log_store_item


@dataclass
class MotoLake:
    """One bucket, and one log store that is made with it."""

    s3: Any
    dynamodb: Any
    bucket: str

    def __post_init__(self) -> None:
        self.log_store = f"log-{self.bucket}"
        keys = [("tablePath", "HASH"), ("fileName", "RANGE")]
        self.dynamodb.create_table(
            TableName=self.log_store,
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
            BillingMode="PAY_PER_REQUEST",
        )

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

    def entry(self, root: str, version: int, *, scheme: str = "s3a", **changes: Any) -> None:
        item = log_store_item(version, f"{scheme}://{self.bucket}/{root}", **changes)
        self.dynamodb.put_item(TableName=self.log_store, Item=item)

    def pending(self, root: str, version: int) -> None:
        """Accept a commit without publishing it: entry incomplete, temp file present."""
        item = incomplete_item(version, self.uri(root))
        self.put(f"{root}/_delta_log/{item['tempPath']['S']}", commit_body(version))
        self.dynamodb.put_item(TableName=self.log_store, Item=item)

    def put(self, key: str, body: bytes) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=body)

    def delete(self, key: str) -> None:
        self.s3.delete_object(Bucket=self.bucket, Key=key)


def commit_body(version: int) -> bytes:
    return first_commit_bytes() if version == 0 else commit_bytes(commit_info(), newline=True)
