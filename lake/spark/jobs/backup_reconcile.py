"""Reconcile a backup: reports, manifest and a listing of the destination, to one outcome for every source object."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lake.aws.access import Access
from lake.backup.objects import BucketPrefix
from lake.spark.backups.exchange import BLOBS
from lake.spark.backups.listing import listed
from lake.spark.backups.manifests import write_manifest_of
from lake.spark.backups.outcomes import OUTCOMES, SAFE, WORTH_RETRY
from lake.spark.backups.places import access_of, place, slots
from lake.spark.backups.reports import file_shares, report_shares
from lake.spark.backups.room import require_room
from lake.spark.backups.settling import (
    PLANNED,
    PROVED,
    REPORTED,
    Settling,
    ShareOfKind,
    keys_below,
    listing,
    parts_for,
    reads_of,
    rows_of,
    settle,
    write_none,
)
from lake.spark.backups.tuning import EXCHANGE, bulk_settings, set_while
from lake.spark.errors import SparkRefused
from lake.spark.jobs.parameters import text
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob

KIND = "backup_reconcile"
MOST_GROUPS = 50


def job(params: Mapping[str, Any]) -> SparkJob:
    """Ask for it by the parameters that `run` names; SparkRefused where they cannot be met."""
    _planned(params)
    for name in ("source", "destination", "folder"):
        place(params, name)
    return SparkJob(KIND, dict(params))


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Give every object of the source exactly one outcome, by the rules of lake.spark.backups.outcomes.

    Parameters are those of the plan, its `facts` as `planned`, `reports`, places below which completion reports lie,
    `report_files`, verified ones {"bucket", "key", "size", "etag"}, `reports_whole`, false where a file of S3's reports
    is missing or altered, and `copied_until`, when the last copy ended whose report names no ETag, ISO 8601, or ""
    where nobody says. Writes the outcomes as Parquet, and one manifest of what is worth another attempt, to `folder`.

    Returns `listed`, `counts` by outcome, whose sum it is, `bytes_copied`, `groups` by outcome and code with a few
    examples, `retry` {"bucket", "key", "objects"} or {}, and `facts` with the place of the outcomes (`reconciled`).
    """
    facts, attempt = _planned(params), uuid.uuid4().hex[:12]
    folder, destination = place(params, "folder"), place(params, "destination")
    with bulk_settings(spark):
        access, parallel = access_of(spark), slots(spark)
        report.step("Read the reports")
        objects = _objects(access, facts)
        require_room(spark, objects)
        reads = _reads(access, facts, params)
        settling = Settling(
            access,
            place(params, "source").bucket,
            BucketPrefix(folder.bucket, f"{folder.prefix}reconciled/{attempt}/"),
            _began(facts),
            str(params.get("encryption_key") or ""),
            parts_for(objects, parallel),
            _copied_until(params),
            params.get("reports_whole", True) is True,
        )
        report.step("Compare with the destination")
        there = listed(spark, access, destination, listing(settling, destination), parallel=parallel, schema=BLOBS)
        groups = groups_of(spark, settling, reads, there)
        if not groups:
            # A later plan reads the folder, whatever it holds.
            write_none(settling)
        report.step("Count the outcomes")
        retry = _retry(spark, settling.kept, groups, params, attempt)
    counts = {name: sum(group["objects"] for group in groups if group["outcome"] == name) for name in OUTCOMES}
    return {
        "listed": sum(counts.values()),
        "counts": counts,
        "bytes_copied": sum(group["bytes"] for group in groups if group["outcome"] == "copied"),
        "groups": [group for group in groups if group["outcome"] not in SAFE][:MOST_GROUPS],
        "retry": retry,
        "facts": {"reconciled": {"bucket": settling.kept.bucket, "prefix": settling.kept.prefix}},
    }


def groups_of(
    spark: Any, settling: Settling, reads: list[ShareOfKind], others: Any | None = None
) -> list[dict[str, Any]]:
    """Settle all; then objects, bytes and tables by outcome and code, the largest first, with examples."""
    with set_while(spark, EXCHANGE):
        groups = [row.asDict() for row in settle(spark, settling, reads, others).collect()]
    return sorted(groups, key=lambda group: (-group["objects"], group["outcome"], group["code"]))


def _planned(params: Mapping[str, Any]) -> Mapping[str, Any]:
    facts = params.get("planned")
    if not isinstance(facts, Mapping) or "files" not in (facts.get("planned") or {}) or not facts.get("began"):
        raise SparkRefused("The job's parameter 'planned' is not what planning gave as its facts.")
    _began(facts)
    return facts


def _began(facts: Mapping[str, Any]) -> datetime:
    try:
        return _moment(text(facts, "began"))
    except ValueError as error:
        raise SparkRefused("The job's parameter 'planned' does not say when planning began, in ISO 8601.") from error


def _copied_until(params: Mapping[str, Any]) -> datetime | None:
    written = str(params.get("copied_until") or "")
    try:
        return _moment(written) if written else None
    except ValueError as error:
        raise SparkRefused(f"The job's parameter 'copied_until' is no moment in ISO 8601: {written!r}.") from error


def _moment(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _objects(access: Access, facts: Mapping[str, Any]) -> int:
    """How many objects are planned; plans of earlier versions do not say it."""
    told = facts["planned"].get("objects")
    return rows_of(access, facts["planned"]["bucket"], facts["planned"]["files"]) if told is None else int(told)


def _reads(access: Access, facts: Mapping[str, Any], params: Mapping[str, Any]) -> list[ShareOfKind]:
    """All files to be read: planned objects but those left out, reports, and what was proved before."""
    places = [place({"reports": one}, "reports") for one in params.get("reports") or ()]
    shares = [*report_shares(access, places), *file_shares(params.get("report_files") or ())]
    reads = [ShareOfKind(REPORTED, share) for share in shares]
    reads += reads_of(access, PLANNED, facts["planned"]["bucket"], facts["planned"]["files"])
    if facts.get("pool"):
        pool = place(facts, "pool")
        reads += reads_of(access, PROVED, pool.bucket, keys_below(access, pool))
    return reads


def _retry(
    spark: Any, kept: BucketPrefix, groups: list[dict[str, Any]], params: Mapping[str, Any], attempt: str
) -> dict[str, Any]:
    """Write one manifest of all that is worth another attempt; {} where nothing is."""
    from pyspark.sql import functions as sql

    count = sum(group["objects"] for group in groups if group["outcome"] in WORTH_RETRY)
    if not count:
        return {}
    folder = place(params, "folder")
    again = BucketPrefix(folder.bucket, f"{folder.prefix}retry/{attempt}/")
    rows = spark.read.parquet(kept.uri).where(sql.col("outcome").isin(*WORTH_RETRY))
    written = write_manifest_of(rows, access_of(spark), place(params, "source").bucket, again, "copy")
    return {"bucket": again.bucket, "key": written.key, "objects": count} if written else {}
