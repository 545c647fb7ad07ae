"""Reconcile a backup: reports, manifest and a listing of the destination, to one outcome for every source object."""

import uuid
from collections.abc import Mapping
from typing import Any

from lake.spark.backups.listing import listed
from lake.spark.backups.manifests import write_manifest_of
from lake.spark.backups.outcomes import OUTCOMES, WORTH_RETRY, joined, with_outcomes
from lake.spark.backups.places import Place, access_of, place, slots
from lake.spark.backups.reports import once, read_reports
from lake.spark.backups.tuning import bulk_settings, divide
from lake.spark.errors import SparkRefused
from lake.spark.jobs.parameters import text
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob

KIND = "backup_reconcile"
MOST_GROUPS = 50
EXAMPLES = 5
PLANNED = (
    "key string, size bigint, etag string, modified_at timestamp, encryption_status string, table string, lane string"
)
KEPT = ("key", "size", "etag", "modified_at", "table", "lane", "outcome", "code")


def job(params: Mapping[str, Any]) -> SparkJob:
    """Ask for it by the parameters that `run` names; SparkRefused where they cannot be met."""
    _planned(params)
    for name in ("source", "destination", "folder"):
        place(params, name)
    return SparkJob(KIND, dict(params))


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Give every object of the source exactly one outcome, by the rules of lake.spark.backups.outcomes.

    Parameters are those of the plan, its `facts` as `planned`, and `reports`, places below which completion reports
    lie. Writes the outcomes as Parquet, and one manifest of what is worth another attempt, below `folder`.

    Returns `listed`, `counts` by outcome, whose sum it is, `bytes_copied`, `groups` by outcome and code with a few
    examples, `retry` {"bucket", "key", "objects"} or {}, and `facts` with the place of the outcomes (`reconciled`).
    """
    facts = _planned(params)
    with bulk_settings(spark):
        access, parallel, folder = access_of(spark), slots(spark), place(params, "folder")
        attempt = uuid.uuid4().hex[:12]
        source, destination = place(params, "source"), place(params, "destination")
        report.step("Read the reports")
        places = [_place(one) for one in params.get("reports") or ()]
        reported = read_reports(spark, access, places, source.bucket)
        report.step("Compare with the destination")
        there = _by_source_keys(listed(spark, access, destination, parallel=parallel), destination)
        planned = _read_planned(spark, facts)
        number = planned.count()
        divide(spark, number)
        planned = _with_proofs(spark, planned, facts)
        kept = Place(folder.bucket, f"{folder.prefix}reconciled/{attempt}/")
        key = str(params.get("encryption_key") or "")
        outcomes = settle(planned, number, reported, there, kept, began=text(facts, "began"), encryption_key=key)
        report.step("Count the outcomes")
        groups = groups_of(outcomes)
        retry = _retry(outcomes, groups, params, attempt)
    counts = {name: sum(group["objects"] for group in groups if group["outcome"] == name) for name in OUTCOMES}
    return {
        "listed": sum(counts.values()),
        "counts": counts,
        "bytes_copied": sum(group["bytes"] for group in groups if group["outcome"] == "copied"),
        "groups": [group for group in groups if group["outcome"] not in {"copied", "already_there"}][:MOST_GROUPS],
        "retry": retry,
        "facts": {"reconciled": {"bucket": kept.bucket, "prefix": kept.prefix}},
    }


def settle(
    planned: Any, number: int, reported: Any, there: Any, kept: Place, *, began: str, encryption_key: str
) -> Any:
    """Write one outcome for each of `number` planned objects below `kept`; those rows: KEPT and `destination_etag`.

    Reports name an object once unless its copy was tried again. Sorting them for that takes as long as all the rest,
    so it is done where the outcomes turn out to be more than the objects.
    """

    def write(rows: Any) -> Any:
        told = with_outcomes(joined(planned, rows, there), began=began, encryption_key=encryption_key)
        told.select(*KEPT, _destination_etag()).write.mode("overwrite").parquet(kept.uri())
        return planned.sparkSession.read.parquet(kept.uri())

    outcomes = write(reported)
    return outcomes if outcomes.count() == number else write(once(reported))


def _planned(params: Mapping[str, Any]) -> Mapping[str, Any]:
    facts = params.get("planned")
    if not isinstance(facts, Mapping) or "files" not in (facts.get("planned") or {}) or not facts.get("began"):
        raise SparkRefused("The job's parameter 'planned' is not what planning gave as its facts.")
    return facts


def _read_planned(spark: Any, facts: Mapping[str, Any]) -> Any:
    """All planned objects but those left out."""
    bucket, files = facts["planned"]["bucket"], facts["planned"]["files"]
    if not files:
        return spark.createDataFrame([], PLANNED)
    return spark.read.schema(PLANNED).parquet(*(f"s3a://{bucket}/{file}" for file in files))


def _place(given: Mapping[str, Any]) -> Place:
    return place({"reports": given}, "reports")


def _by_source_keys(there: Any, destination: Place) -> Any:
    from pyspark.sql import functions as sql

    key = sql.substring(sql.col("key"), sql.lit(len(destination.prefix) + 1), sql.length("key"))
    return there.withColumn("key", key)


def _with_proofs(spark: Any, planned: Any, facts: Mapping[str, Any]) -> Any:
    """Add `proved_etag`, the destination's, of objects that an earlier reconciliation found safe; else null."""
    from pyspark.sql import functions as sql

    if not facts.get("pool"):
        return planned.withColumn("proved_etag", sql.lit(None).cast("string"))
    earlier = spark.read.parquet(place(facts, "pool").uri())
    safe = earlier.where(sql.col("outcome").isin("copied", "already_there"))
    proofs = safe.select("key", "size", "etag", sql.col("destination_etag").alias("proved_etag"))
    return planned.join(proofs.hint("shuffle_hash"), ["key", "size", "etag"], "left")


def _destination_etag() -> Any:
    from pyspark.sql import functions as sql

    return sql.col("d_etag").alias("destination_etag")


def groups_of(outcomes: Any) -> list[dict[str, Any]]:
    """Objects, bytes and tables by outcome and code, the largest first; those that are not safe with examples."""
    from pyspark.sql import functions as sql

    rows = (
        outcomes.groupBy("outcome", "code")
        .agg(
            sql.count(sql.lit(1)).alias("objects"),
            sql.coalesce(sql.sum("size"), sql.lit(0)).alias("bytes"),
            sql.approx_count_distinct("table").alias("tables"),
        )
        .orderBy(sql.desc("objects"), "outcome", "code")
        .collect()
    )
    groups = [row.asDict() for row in rows]
    for group in groups[:MOST_GROUPS]:
        safe = group["outcome"] in {"copied", "already_there"}
        group["examples"] = [] if safe else _examples(outcomes, group["outcome"], group["code"])
    return groups


def _examples(outcomes: Any, outcome: str, code: str) -> list[str]:
    from pyspark.sql import functions as sql

    of_group = outcomes.where((sql.col("outcome") == outcome) & (sql.col("code") == code))
    return [str(row["key"]) for row in of_group.select("key").limit(EXAMPLES).collect()]


def _retry(outcomes: Any, groups: list[dict[str, Any]], params: Mapping[str, Any], attempt: str) -> dict[str, Any]:
    """Write one manifest of all that is worth another attempt; {} where nothing is."""
    from pyspark.sql import functions as sql

    count = sum(group["objects"] for group in groups if group["outcome"] in WORTH_RETRY)
    folder = place(params, "folder")
    again = Place(folder.bucket, f"{folder.prefix}retry/{attempt}/")
    if not count:
        return {}
    rows = outcomes.where(sql.col("outcome").isin(*WORTH_RETRY))
    source = place(params, "source").bucket
    written = write_manifest_of(rows, access_of(outcomes.sparkSession), source, again, "copy")
    return {"bucket": again.bucket, "key": written.key, "objects": count} if written else {}
