"""What becomes of an object, for every combination of what the plan, the report and the destination say."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from lake.spark.backups.copying import ALREADY
from lake.spark.backups.outcomes import OUTCOMES, with_outcomes
from sandbox.spark_tables import SparkLake
from tests.sparksession import spark_lake

__all__ = ["spark_lake"]
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

BEGAN = datetime(2026, 11, 20, tzinfo=UTC)
SIZE, MINE, PARTS, OTHER = 7, "aaaa", "aaaa-3", "bbbb"
PLANNED = ("key", "size", "etag", "encryption_status", "lane", "proved_etag")
REPORTED = ("r_key", "r_succeeded", "r_http_status", "r_code", "r_message")
THERE = ("d_key", "d_size", "d_etag", "d_modified_at")
SCHEMA = (
    "key string, size bigint, etag string, encryption_status string, lane string, proved_etag string, "
    "r_key string, r_succeeded boolean, r_http_status string, r_code string, r_message string, "
    "d_key string, d_size bigint, d_etag string, d_modified_at timestamp"
)

FAILURES = {
    ("404", "NoSuchKey"): "vanished",
    ("404", None): "vanished",
    ("403", "AccessDenied"): "denied",
    ("403", "InvalidObjectState"): "archived",
    ("412", "PreconditionFailed"): "changed",
    ("503", "SlowDown"): "failed",
    (None, None): "failed",
}
REPORTS = [
    (None,) * 5,
    *(("k", True, "200", None, message) for message in ("", None, f"ETag={MINE}", f"ETag={OTHER}", ALREADY)),
    *(("k", False, status, code, "no") for status, code in FAILURES),
]
OLD, NEW = BEGAN - timedelta(days=1), BEGAN + timedelta(minutes=5)
DESTINATIONS = [
    (None,) * 4,
    *(("k", size, etag, moment) for size in (SIZE, 8) for etag in (MINE, OTHER, PARTS) for moment in (OLD, NEW)),
]
PLANS = [
    ("k", SIZE, etag, encryption, lane, proved)
    for etag in (MINE, PARTS, None)
    for encryption in ("SSE-S3", "SSE-KMS")
    for lane in ("copy", "multipart", "already_there", "too_new", "archived")
    for proved in (None, MINE, OTHER)
]
ROWS = [(*plan, *report, *there) for plan, report, there in itertools.product(PLANS, REPORTS, DESTINATIONS)]


def is_safe(row: dict, *, key: bool) -> bool:
    """The rule in its own words: the destination shows size and ETag, or what stands for the ETag."""
    if row["d_key"] is None or row["d_size"] != row["size"]:
        return False
    if row["d_etag"] == row["etag"] or row["d_etag"] == row["proved_etag"]:
        return True
    if not row["r_succeeded"]:
        return False
    unlike = key or row["encryption_status"] == "SSE-KMS" or "-" in (row["etag"] or "")
    message = row["r_message"] or ""
    if message.startswith("ETag="):
        return (unlike or "-" in row["d_etag"]) and message == f"ETag={row['d_etag']}"
    return unlike and message != ALREADY and row["d_modified_at"] >= BEGAN - timedelta(minutes=1)


@pytest.mark.parametrize("key", ["", "arn:aws:kms:eu-central-1:111122223333:key/k"])
def test_every_combination_has_one_outcome_and_none_is_safe_that_the_destination_does_not_show(
    spark_lake: SparkLake, key: str
) -> None:
    frame = spark_lake.spark.createDataFrame(ROWS, SCHEMA)
    told = with_outcomes(frame, began=BEGAN.isoformat(), encryption_key=key).collect()
    assert len(told) == len(ROWS)
    for one in told:
        row = one.asDict()
        row["d_modified_at"] = row["d_modified_at"] and row["d_modified_at"].astimezone(UTC)
        assert row["outcome"] in OUTCOMES
        assert expected(row, key=bool(key)) == (row["outcome"], row["code"]), row


def expected(row: dict, *, key: bool) -> tuple[str, str]:
    if row["lane"] in ("too_new", "archived"):
        return row["lane"], ""
    if is_safe(row, key=key):
        new = row["d_modified_at"] == NEW and row["lane"] != "already_there" and row["r_message"] != ALREADY
        return ("copied" if new and row["r_succeeded"] is not False else "already_there"), ""
    if row["r_succeeded"]:
        return ("failed", "NotAtDestination") if row["d_key"] is None else ("changed", "OtherContent")
    if row["r_succeeded"] is None:
        return "failed", "LostFromDestination" if row["lane"] == "already_there" else "NotReported"
    outcome = FAILURES[row["r_http_status"], row["r_code"]]
    return outcome, "" if outcome == "archived" else row["r_code"] or row["r_http_status"] or "Unknown"
