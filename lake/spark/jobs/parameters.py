"""A job's parameters as SQL takes them."""

import json

from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF
from lake.spark.errors import SparkRefused
from lake.spark.sql import delta_path

FEATURE = "coordinatedCommits-preview"


def quoted_location(uri: str) -> str:
    """Quote a table's location for SQL; SparkRefused for one that Spark cannot hold."""
    try:
        return delta_path(uri)
    except ValueError as error:
        raise SparkRefused(str(error)) from error


def coordinator_properties(store: str, endpoint: str) -> dict[str, str]:
    """Return the two properties that put a table under a DynamoDB commit coordinator (Delta 3.3 to 4.4).

    Both have to be set in one statement.
    """
    where = {"dynamoDBTableName": store, "dynamoDBEndpoint": endpoint}
    return {COORDINATOR: "dynamodb", COORDINATOR_CONF: json.dumps(where, separators=(",", ":"))}
