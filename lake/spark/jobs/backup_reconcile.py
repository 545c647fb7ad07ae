"""Reconcile a backup: reports, manifest and a listing of the destination, to one outcome for every source object."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from lake.aws.access import Access
from lake.backup.objects import BucketPrefix
from lake.spark.backups.exchange import BLOBS
from lake.spark.backups.listing import listed
from lake.spark.backups.outcomes import OUTCOMES, SAFE, WORTH_RETRY
from lake.spark.backups.places import access_of, place, slots
from lake.spark.backups.reports import file_shares, report_shares
from lake.spark.backups.settling import (
    PLANNED,
    PROVED,
    Settling,
    keys_below,
    listing,
    parts_for,
    reads_of,
    settle,
    write_none,
)
from lake.spark.backups.tasks import Share
from lake.spark.backups.tuning import BULK, EXCHANGE, require_room, set_while
from lake.spark.jobs.report import Report

KIND = "backup_reconcile"
MOST_GROUPS = 50


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Give every object of the source exactly one outcome, by the rules of lake.spark.backups.outcomes.

    Parameters are those of the plan, its `facts` as `planned`, `reports`, places below which completion reports lie,
    `report_files`, verified ones {"bucket", "key", "size", "etag"}, `reports_whole`, false where a file of S3's reports
    is missing or altered, and `copied_until`, when the last copy ended whose report names no ETag, ISO 8601, or ""
    where nobody says. Writes the outcomes as Parquet to `folder`.

    Returns `listed`, `counts` by outcome, whose sum it is, `bytes_copied`, `groups` by outcome and code with a few
    examples, `facts` with the place of the outcomes (`reconciled`), and `retry`, the same place and how many `objects`
    in it are worth another attempt, or {}.
    """
    facts, copied_until = params["planned"], params.get("copied_until")
    kept = place(params, "folder").below(f"reconciled/{uuid.uuid4().hex[:12]}/")
    destination = place(params, "destination")
    with set_while(spark, BULK):
        access, parallel = access_of(spark), slots(spark)
        report.step("Read the reports")
        objects = facts["planned"]["objects"]
        require_room(spark, objects)
        reads = _reads(access, facts, params)
        settling = Settling(
            access,
            place(params, "source").bucket,
            kept,
            datetime.fromisoformat(facts["began"]),
            str(params.get("encryption_key") or ""),
            parts_for(objects, parallel),
            datetime.fromisoformat(copied_until) if copied_until else None,
            params.get("reports_whole", True),
        )
        report.step("Compare with the destination")
        there = listed(spark, access, destination, listing(settling, destination), parallel=parallel, schema=BLOBS)
        groups = groups_of(spark, settling, reads, there)
        if not groups:
            # A later plan reads the folder, whatever it holds.
            write_none(settling)
        report.step("Count the outcomes")
    counts = {name: sum(group["objects"] for group in groups if group["outcome"] == name) for name in OUTCOMES}
    again = sum(counts[name] for name in WORTH_RETRY)
    return {
        "listed": sum(counts.values()),
        "counts": counts,
        "bytes_copied": sum(group["bytes"] for group in groups if group["outcome"] == "copied"),
        "groups": [group for group in groups if group["outcome"] not in SAFE][:MOST_GROUPS],
        "retry": {**asdict(kept), "objects": again} if again else {},
        "facts": {"reconciled": asdict(kept)},
    }


def groups_of(spark: Any, settling: Settling, reads: list[Share], others: Any | None = None) -> list[dict[str, Any]]:
    """Settle all; then objects, bytes and tables by outcome and code, the largest first, with examples."""
    with set_while(spark, EXCHANGE):
        groups = [row.asDict() for row in settle(spark, settling, reads, others).collect()]
    return sorted(groups, key=lambda group: (-group["objects"], group["outcome"], group["code"]))


def _reads(access: Access, facts: Mapping[str, Any], params: Mapping[str, Any]) -> list[Share]:
    """All files to be read: planned objects but those left out, reports, and what was proved before."""
    places = [BucketPrefix(**one) for one in params.get("reports") or ()]
    reads = [*report_shares(access, places), *file_shares(params.get("report_files") or ())]
    reads += reads_of(access, PLANNED, facts["planned"]["bucket"], facts["planned"]["files"])
    if facts.get("pool"):
        pool = place(facts, "pool")
        reads += reads_of(access, PROVED, pool.bucket, keys_below(access, pool))
    return reads
