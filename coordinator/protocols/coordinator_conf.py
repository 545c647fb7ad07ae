"""The settings that put a table under a DynamoDB commit coordinator: read with mistrust, and whether they fit.

Source: `DynamoDBCommitCoordinatorClientBuilder` of Delta 3.3 to 4.4. Its JSON has exactly two keys, `dynamoDBTableName`
and `dynamoDBEndpoint`; the endpoint is mandatory and decides the region that requests are signed for.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF

STORE_KEY, ENDPOINT_KEY = "dynamoDBTableName", "dynamoDBEndpoint"

_AWS_HOST = re.compile(r"(?:.*\.)?dynamodb(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class CoordinatorConf:
    """`commitCoordinatorConf-preview` as read; `problem` is one sentence where it cannot be used, else ""."""

    store: str = ""
    endpoint: str = ""
    problem: str = ""


def read_conf(properties: Mapping[str, str]) -> CoordinatorConf:
    """Read both properties of a table that is coordinated, or says so. Raises nothing, whatever they hold."""
    name, text = properties.get(COORDINATOR), properties.get(COORDINATOR_CONF)
    if name != "dynamodb":
        return CoordinatorConf(problem=f"The table names the commit coordinator {name!r}, and Levee knows dynamodb.")
    try:
        content = json.loads(text or "")
    except (ValueError, RecursionError, TypeError):
        return CoordinatorConf(problem=f"{COORDINATOR_CONF} is not JSON: correct it with the writers that set it.")
    if not isinstance(content, dict):
        return CoordinatorConf(problem=f"{COORDINATOR_CONF} is not a JSON object with {STORE_KEY} and {ENDPOINT_KEY}.")
    store, endpoint = content.get(STORE_KEY), content.get(ENDPOINT_KEY)
    return CoordinatorConf(
        store if isinstance(store, str) else "",
        endpoint if isinstance(endpoint, str) else "",
        _problem_of(content),
    )


def _problem_of(content: Mapping[str, object]) -> str:
    for key in (STORE_KEY, ENDPOINT_KEY):
        if not isinstance(content.get(key), str) or not content[key]:
            return f"{COORDINATOR_CONF} has no {key}: Delta can reach no coordinator with it."
    unknown = sorted(set(content) - {STORE_KEY, ENDPOINT_KEY})
    if unknown:
        keys = ", ".join(repr(key[:40]) for key in unknown[:5])
        return f"{COORDINATOR_CONF} has keys that no release of Delta knows: {keys}. What they change is not known."
    return ""


def aws_endpoint(region: str) -> str:
    """AWS's own DynamoDB endpoint of a region."""
    return f"https://dynamodb.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def coordinator_elsewhere(properties: Mapping[str, str], origin: str, region: str) -> str:
    """Why what `origin` holds in `region` says nothing of this coordinated table; "" where it is its coordinator's.

    Properties that name no endpoint are another trouble, and "" here.
    """
    endpoint = read_conf(properties).endpoint
    asked = _origin(origin)
    own = "" if asked and _AWS_HOST.fullmatch(asked[1]) else origin
    return endpoint_mismatch(endpoint, region, own) if endpoint else ""


def endpoint_mismatch(endpoint: str, region: str, own_endpoint: str) -> str:
    """Why Spark would not reach the DynamoDB that Levee reads, in one sentence; "" where both are the same.

    `own_endpoint` is the connection's where it is not AWS itself, else "".
    """
    origin = _origin(endpoint)
    if origin is None:
        return f"The endpoint {endpoint[:200]!r} is no origin: write https://dynamodb.{region}.amazonaws.com."
    named = _AWS_HOST.fullmatch(origin[1])
    if own_endpoint and origin == _origin(own_endpoint):
        return f"The endpoint is in {named[1]}, the connection in {region}." if named and named[1] != region else ""
    if own_endpoint:
        return f"The endpoint is {endpoint}, and this connection reaches DynamoDB at {own_endpoint}."
    if named is None:
        return f"The endpoint {endpoint} is not AWS's, and this connection reaches DynamoDB at AWS itself."
    if named[1] != region:
        return f"The endpoint signs for {named[1]}, and the connection, with its commit stores, is in {region}."
    return ""


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or parts.username or parts.query or parts.fragment:
        return None
    if parts.path not in ("", "/"):
        return None
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]
