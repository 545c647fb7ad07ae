"""Do an act's own statements on a shallow clone of a table: a log of its own that names the table's files.

The table itself is only read. What the copy leaves, in S3 and in DynamoDB, is for whoever asked to remove.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from lake.spark.errors import SparkRefused, describe
from lake.spark.jobs import drop_coordinated_commits, enable_coordinated_commits, remove_leftover_feature
from lake.spark.jobs.history import newest_commits, spark_errors
from lake.spark.jobs.parameters import quoted_location
from lake.spark.jobs.properties import FEATURE_PREFIX, table_properties
from lake.spark.jobs.report import Report
from lake.spark.messages import SparkJob

KIND = "rehearse"
CLONE = "Clone the log"
PREPARED = "Enable the copy"
BEFORE, AFTER = "Read the protocol before", "Read the protocol after"
ACTS = {
    enable_coordinated_commits.KIND: enable_coordinated_commits.run,
    drop_coordinated_commits.KIND: drop_coordinated_commits.run,
    remove_leftover_feature.KIND: remove_leftover_feature.run,
}
"""Jobs that may be rehearsed, each by the function that does it."""
MAY_BE_REFUSED = (remove_leftover_feature.KIND,)
"""The act stands without them."""


def job(table: str, scratch: str, acts: Iterable[SparkJob], prepare: SparkJob | None = None) -> SparkJob:
    """Ask for it: `acts` are the act's own jobs on `scratch`, `prepare` makes the copy what the table is already.

    SparkRefused for a location that cannot be one, and for jobs on another table than the copy or of another kind.
    """
    quoted_location(table)
    quoted_location(scratch)
    every = [one for one in (prepare, *acts) if one is not None]
    if wrong := [one.kind for one in every if one.kind not in ACTS or one.params["table"] != scratch]:
        raise SparkRefused(f"{wrong[0]} is not rehearsed, or not on the copy at {scratch}.")
    prepared = [_document(prepare)] if prepare else []
    given = {"table": table, "scratch": scratch, "prepare": prepared, "acts": [_document(one) for one in acts]}
    within = (step for act in acts for step in act.steps)
    return SparkJob(KIND, given, (CLONE, *([PREPARED] if prepare else []), BEFORE, *within, AFTER))


def run(spark: Any, params: Mapping[str, Any], report: Report) -> dict[str, object]:
    """Return the protocol `before` and `after` the act, `commits` of the copy oldest first, and what Delta `refused`.

    A protocol is `reader`, `writer` and sorted `features`; what was refused is `kind` and `sentence`.
    """
    table, scratch = quoted_location(params["table"]), quoted_location(params["scratch"])
    report.step(CLONE, "Delta writes one commit that names the table's files; it copies none.")
    spark.sql(f"CREATE TABLE {scratch} SHALLOW CLONE {table}")
    for act in params["prepare"]:
        report.step(PREPARED, "The copy gets a registration of its own.")
        _act(spark, act, _Within(report))
    report.step(BEFORE)
    before = _protocol(spark, scratch)
    refused = [told for act in params["acts"] if (told := _try(spark, act, report))]
    report.step(AFTER)
    commits = [{"version": one.version, "operation": one.operation} for one in newest_commits(spark, scratch, 100)]
    return {"before": before, "after": _protocol(spark, scratch), "commits": commits[::-1], "refused": refused}


class _Within(Report):
    """What a part reports inside a step that runs: its notes, and no steps of its own."""

    def __init__(self, report: Report) -> None:
        super().__init__(report._send)

    def step(self, name: str, waits_for: str = "", *, since_seconds: float = 0.0) -> None:
        """The step of the whole goes on."""


def _document(job: SparkJob) -> dict[str, object]:
    return {"kind": job.kind, "params": dict(job.params)}


def _try(spark: Any, act: Mapping[str, Any], report: Report) -> dict[str, str] | None:
    """Do one act; what Delta said where it refused one that the others stand without."""
    try:
        _act(spark, act, report)
    except spark_errors() as error:
        if act["kind"] not in MAY_BE_REFUSED:
            raise
        return {"kind": act["kind"], "sentence": describe(error).sentence}
    return None


def _act(spark: Any, act: Mapping[str, Any], report: Report) -> None:
    ACTS[act["kind"]](spark, act["params"], report)


def _protocol(spark: Any, table: str) -> dict[str, object]:
    properties = table_properties(spark, table)
    features = sorted(name.removeprefix(FEATURE_PREFIX) for name in properties if name.startswith(FEATURE_PREFIX))
    reader, writer = (int(properties[f"delta.min{who}Version"]) for who in ("Reader", "Writer"))
    return {"reader": reader, "writer": writer, "features": features}
