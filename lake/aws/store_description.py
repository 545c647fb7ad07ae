"""A DynamoDB table's settings and load, as AWS tells them. What cannot be read is unknown, with the reason."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lake.aws.errors import AwsError
from lake.aws.services import Services

Ask = Callable[[str, dict[str, Any]], dict[str, Any]]
PERIOD_SECONDS = 300
_METRICS = (
    ("read_throttles", "ReadThrottleEvents", "Sum"),
    ("write_throttles", "WriteThrottleEvents", "Sum"),
    ("reads", "ConsumedReadCapacityUnits", "Sum"),
    ("writes", "ConsumedWriteCapacityUnits", "Sum"),
)


@dataclass(frozen=True)
class StoreDescription:
    """Settings of one DynamoDB table; None marks a fact that the endpoint does not state.

    `key_schema` holds (attribute, "HASH" or "RANGE", type "S", "N" or "B"). Capacities are units per second, 0 on
    demand. `item_count` and `size_bytes` are DynamoDB's own, up to six hours old. `unknown` holds (fact, reason) for
    each fact whose operation failed: "time to live" and "point-in-time recovery". `encryption` is the ARN of a KMS key,
    "" for one of DynamoDB's own.
    """

    name: str
    arn: str
    status: str
    key_schema: tuple[tuple[str, str, str], ...]
    billing: str
    read_capacity: int
    write_capacity: int
    item_count: int
    size_bytes: int
    created_at: datetime | None
    deletion_protection: bool | None = None
    ttl_status: str | None = None
    ttl_attribute: str | None = None
    point_in_time_recovery: bool | None = None
    global_indexes: tuple[str, ...] = ()
    local_indexes: tuple[str, ...] = ()
    encryption: str = ""
    unknown: tuple[tuple[str, str], ...] = ()


def describe_store(ask: Ask, name: str) -> StoreDescription:
    """DescribeTable, DescribeTimeToLive and DescribeContinuousBackups. Raises AwsError where the first fails."""
    said = ask("DescribeTable", {"TableName": name})
    try:
        facts = _table_facts(said["Table"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        raise AwsError(
            "MalformedAnswer",
            f"the description lacks or garbles {error}",
            operation="dynamodb:DescribeTable",
            target=f"DynamoDB table {name}",
        ) from error
    unknown: list[tuple[str, str]] = []
    for fact, read in (("time to live", _time_to_live), ("point-in-time recovery", _recovery)):
        try:
            facts |= read(ask, name)
        except AwsError as error:
            unknown.append((fact, str(error)))
    return StoreDescription(**facts, unknown=tuple(unknown))


def _table_facts(table: dict[str, Any]) -> dict[str, Any]:
    throughput = table.get("ProvisionedThroughput") or {}
    return {
        "name": str(table["TableName"]),
        "arn": str(table.get("TableArn", "")),
        "status": str(table["TableStatus"]),
        "key_schema": _key_schema(table),
        "billing": _billing(table),
        "read_capacity": int(throughput.get("ReadCapacityUnits", 0)),
        "write_capacity": int(throughput.get("WriteCapacityUnits", 0)),
        "item_count": int(table.get("ItemCount", 0)),
        "size_bytes": int(table.get("TableSizeBytes", 0)),
        "created_at": _moment(table.get("CreationDateTime")),
        "deletion_protection": table.get("DeletionProtectionEnabled"),
        "global_indexes": _index_names(table, "GlobalSecondaryIndexes"),
        "local_indexes": _index_names(table, "LocalSecondaryIndexes"),
        "encryption": str((table.get("SSEDescription") or {}).get("KMSMasterKeyArn") or ""),
    }


def _key_schema(table: dict[str, Any]) -> tuple[tuple[str, str, str], ...]:
    types = {each["AttributeName"]: each["AttributeType"] for each in table.get("AttributeDefinitions", ())}
    return tuple(
        (each["AttributeName"], each["KeyType"], types.get(each["AttributeName"], "")) for each in table["KeySchema"]
    )


def _billing(table: dict[str, Any]) -> str:
    on_demand = (table.get("BillingModeSummary") or {}).get("BillingMode") == "PAY_PER_REQUEST"
    return "on_demand" if on_demand else "provisioned"


def _moment(seconds: Any) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(float(seconds), UTC)


def _index_names(table: dict[str, Any], kind: str) -> tuple[str, ...]:
    return tuple(sorted(str(each["IndexName"]) for each in table.get(kind) or ()))


def _time_to_live(ask: Ask, name: str) -> dict[str, Any]:
    said = ask("DescribeTimeToLive", {"TableName": name}).get("TimeToLiveDescription") or {}
    return {"ttl_status": said.get("TimeToLiveStatus"), "ttl_attribute": said.get("AttributeName")}


def _recovery(ask: Ask, name: str) -> dict[str, Any]:
    said = ask("DescribeContinuousBackups", {"TableName": name}).get("ContinuousBackupsDescription") or {}
    recovery = said.get("PointInTimeRecoveryDescription") or {}
    status = recovery.get("PointInTimeRecoveryStatus")
    return {"point_in_time_recovery": None if status is None else status == "ENABLED"}


@dataclass(frozen=True, slots=True)
class StoreLoad:
    """Throttled requests in the whole time, and the highest units per second over five minutes."""

    since: datetime
    until: datetime
    read_throttles: int
    write_throttles: int
    peak_reads: float
    peak_writes: float


def read_load(services: Services, table: str, since: datetime, until: datetime) -> StoreLoad:
    """One CloudWatch GetMetricData request for four metrics of a table. Raises AwsError.

    CloudWatch has no points where nothing happened, so that an absent metric is a count of 0.
    """
    dimensions = [{"Name": "TableName", "Value": table}]
    parameters = {
        "StartTime": since,
        "EndTime": until,
        "ScanBy": "TimestampAscending",
        "MaxDatapoints": 50_000,
        "MetricDataQueries": [_query(name, metric, statistic, dimensions) for name, metric, statistic in _METRICS],
    }
    said = services.ask("cloudwatch", "GetMetricData", parameters, target=f"DynamoDB table {table}")
    values: dict[str, list[float]] = {one["Id"]: one.get("Values") or [] for one in said.get("MetricDataResults") or ()}
    return StoreLoad(
        since=since,
        until=until,
        read_throttles=round(sum(values.get("read_throttles", ()))),
        write_throttles=round(sum(values.get("write_throttles", ()))),
        peak_reads=max(values.get("reads", ()), default=0.0) / PERIOD_SECONDS,
        peak_writes=max(values.get("writes", ()), default=0.0) / PERIOD_SECONDS,
    )


def _query(name: str, metric: str, statistic: str, dimensions: list[dict[str, str]]) -> dict[str, Any]:
    measured = {"Namespace": "AWS/DynamoDB", "MetricName": metric, "Dimensions": dimensions}
    return {"Id": name, "MetricStat": {"Metric": measured, "Period": PERIOD_SECONDS, "Stat": statistic}}
