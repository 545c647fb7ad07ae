"""How much a DynamoDB table was used of late, as CloudWatch counted."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lake.aws.services import Services

PERIOD_SECONDS = 300
_METRICS = (
    ("read_throttles", "ReadThrottleEvents", "Sum"),
    ("write_throttles", "WriteThrottleEvents", "Sum"),
    ("reads", "ConsumedReadCapacityUnits", "Sum"),
    ("writes", "ConsumedWriteCapacityUnits", "Sum"),
)


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
    parameters = {
        "StartTime": since.isoformat(),
        "EndTime": until.isoformat(),
        "ScanBy": "TimestampAscending",
        "MaxDatapoints": "50000",
    }
    for number, (name, metric, statistic) in enumerate(_METRICS, start=1):
        query = f"MetricDataQueries.member.{number}"
        parameters |= {
            f"{query}.Id": name,
            f"{query}.MetricStat.Metric.Namespace": "AWS/DynamoDB",
            f"{query}.MetricStat.Metric.MetricName": metric,
            f"{query}.MetricStat.Metric.Dimensions.member.1.Name": "TableName",
            f"{query}.MetricStat.Metric.Dimensions.member.1.Value": table,
            f"{query}.MetricStat.Period": str(PERIOD_SECONDS),
            f"{query}.MetricStat.Stat": statistic,
        }
    said = services.ask("monitoring", "GetMetricData", parameters, target=f"DynamoDB table {table}")
    values = {str(one.get("Id")): _values(one) for one in said.get("MetricDataResults") or ()}
    return StoreLoad(
        since=since,
        until=until,
        read_throttles=round(sum(values.get("read_throttles", ()))),
        write_throttles=round(sum(values.get("write_throttles", ()))),
        peak_reads=max(values.get("reads", ()), default=0.0) / PERIOD_SECONDS,
        peak_writes=max(values.get("writes", ()), default=0.0) / PERIOD_SECONDS,
    )


def _values(result: dict[str, Any]) -> tuple[float, ...]:
    return tuple(float(one) for one in result.get("Values") or ())
