"""Reading and checking a job's parameters, before Spark is asked and again where they become SQL."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF
from lake.spark.errors import SparkRefused
from lake.spark.sql import delta_path

FEATURE = "coordinatedCommits-preview"

_STORE = re.compile(r"[A-Za-z0-9_.-]{3,255}")


def text(params: Mapping[str, Any], name: str) -> str:
    """Return a text parameter; SparkRefused where it is missing or no text."""
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise SparkRefused(f"The job's parameter {name!r} is missing or no text.")
    return value


def table_path(params: Mapping[str, Any]) -> str:
    """Return the parameter `table`, a location, quoted for SQL; SparkRefused for one that Spark cannot hold."""
    return quoted_location(text(params, "table"))


def quoted_location(uri: str) -> str:
    """Quote a table's location for SQL; SparkRefused for one that Spark cannot hold."""
    try:
        return delta_path(uri)
    except ValueError as error:
        raise SparkRefused(str(error)) from error


def coordinator_properties(store: str, endpoint: str) -> dict[str, str]:
    """Return the two properties that put a table under a DynamoDB commit coordinator (Delta 3.3 to 4.4).

    Both have to be set in one statement. SparkRefused for a store that cannot be a DynamoDB table's name, and for an
    endpoint that is not an origin such as https://dynamodb.eu-central-1.amazonaws.com.
    """
    if not _STORE.fullmatch(store):
        raise SparkRefused(f"{store!r} is not a DynamoDB table's name: 3 to 255 letters, digits, '_', '-' and '.'.")
    if not _is_origin(endpoint):
        raise SparkRefused(f"{endpoint!r} is no endpoint: write https://dynamodb.REGION.amazonaws.com.")
    where = {"dynamoDBTableName": store, "dynamoDBEndpoint": endpoint}
    return {COORDINATOR: "dynamodb", COORDINATOR_CONF: json.dumps(where, separators=(",", ":"))}


def _is_origin(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return False
    host = parts.hostname or ""
    if not re.fullmatch(r"[a-z0-9.-]+", host):
        return False
    return parts.scheme in {"http", "https"} and endpoint == f"{parts.scheme}://{host}{port}"
