"""What can befall a coordinated table: commits taken back to where their writer had died, and lost pieces."""

import json

from sandbox.client import Body, Client
from sandbox.ground import DELTA_COMMITS
from sandbox.log_store_writer import file_name

STAGED = "_staged_commits"


def registration(client: Client, table_path: str) -> Body:
    """Return the coordinator's item of a table path as stored; LookupError where there is none."""
    items = client.dynamodb("Scan", TableName=DELTA_COMMITS, ConsistentRead=True)["Items"]
    found: Body | None = next((item for item in items if item["path"]["S"] == table_path), None)
    if found is None:
        raise LookupError(f"{DELTA_COMMITS} holds no registration of {table_path}")
    return found


def take_back_backfill(client: Client, bucket: str, key: str, versions: list[int]) -> None:
    """Leave these commits as if each writer had died after its commit was accepted: in the item, without their file."""
    item = registration(client, f"s3a://{bucket}/{key}")
    entries = [_entry(client, bucket, key, version) for version in sorted(versions)]
    client.dynamodb(
        "UpdateItem",
        TableName=DELTA_COMMITS,
        Key={"tableId": item["tableId"]},
        UpdateExpression="SET commits = :entries",
        ExpressionAttributeValues={":entries": {"L": entries}},
    )
    for version in versions:
        lose_published(client, bucket, key, version)


def lose_published(client: Client, bucket: str, key: str, version: int) -> None:
    """Delete a published commit and its checksum file."""
    name = file_name(version)
    client.delete(bucket, f"{key}/_delta_log/{name}")
    client.delete(bucket, f"{key}/_delta_log/{name.removesuffix('.json')}.crc")


def lose_staged(client: Client, bucket: str, key: str, version: int) -> None:
    """Delete the staged file of a commit."""
    path, _ = _staged(client, bucket, key, version)
    client.delete(bucket, path)


def _staged(client: Client, bucket: str, key: str, version: int) -> tuple[str, int]:
    return next(client.list(bucket, f"{key}/_delta_log/{STAGED}/{version:020d}."))


def _entry(client: Client, bucket: str, key: str, version: int) -> Body:
    """Write an element of `commits` for a version whose staged file is still there (delta's own attribute names)."""
    path, size = _staged(client, bucket, key, version)
    timestamp = in_commit_timestamp(client.get(bucket, path))
    return {
        "M": {
            "version": {"N": str(version)},
            "timestamp": {"N": str(timestamp)},
            "fsName": {"S": path.rpartition("/")[2]},
            "fsLength": {"N": str(size)},
            "fsTimestamp": {"N": str(timestamp)},
        }
    }


def in_commit_timestamp(commit: bytes) -> int:
    """Read a commit's in-commit timestamp (epoch ms) from its first line."""
    first: Body = json.loads(commit.partition(b"\n")[0])
    return int(first["commitInfo"]["inCommitTimestamp"])
