"""The newest entries of a table's lock domains in one request, however many domains it has."""

import time
from collections.abc import Sequence
from typing import Any

from lake.aws.dynamodb import DynamoDB, Item
from lake.aws.errors import AwsError
from lake.delta.facts import LogStoreEntry
from lake.delta.log_store import read_entry
from lake.delta.names import MAX_VERSION, commit_name

MOST_DOMAINS = 50
"""Two keys of each fit into the 100 of one BatchGetItem."""
ATTEMPTS = 5
PAUSE_SECONDS = 0.2


def read_newest(
    dynamodb: DynamoDB, store: str, paths: Sequence[str], version: int
) -> dict[str, tuple[LogStoreEntry, ...]]:
    """Read the entries of `version` and the one after it under each path, consistently. Raises AwsError."""
    names = [commit_name(number) for number in (version, version + 1) if number <= MAX_VERSION]
    if len(paths) == 1:
        pages = dynamodb.query(store, "tablePath", paths[0], range_name="fileName", at_least=names[0], limit=len(names))
        found = [read_entry(item) for page in pages for item in page]
    else:
        keys = [{"tablePath": {"S": path}, "fileName": {"S": name}} for path in paths[:MOST_DOMAINS] for name in names]
        found = [read_entry(item) for item in _batch_get(dynamodb, store, keys)]
    by_path: dict[str, tuple[LogStoreEntry, ...]] = {}
    for entry in sorted(found, key=lambda entry: entry.file_name):
        if entry.file_name in names:
            by_path[entry.table_path] = (*by_path.get(entry.table_path, ()), entry)
    return by_path


def _batch_get(dynamodb: DynamoDB, store: str, keys: list[Item]) -> list[Item]:
    """GetItem of all keys at once; what DynamoDB leaves for later is asked again, a few times."""
    items: list[Item] = []
    for attempt in range(ATTEMPTS):
        said = dynamodb.ask("BatchGetItem", {"RequestItems": {store: {"Keys": keys, "ConsistentRead": True}}})
        answers: Any = said.get("Responses")
        items += answers.get(store, []) if isinstance(answers, dict) else []
        left: Any = said.get("UnprocessedKeys")
        if not left:
            return items
        keys = left[store]["Keys"]
        time.sleep(PAUSE_SECONDS * 2**attempt)
    raise AwsError(
        "ProvisionedThroughputExceededException",
        f"{len(keys)} keys were still left after {ATTEMPTS} attempts",
        operation="dynamodb:BatchGetItem",
        target=f"DynamoDB table {store}",
    )
