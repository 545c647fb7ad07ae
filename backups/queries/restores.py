"""A restore as its page shows it and its command prints it, from what jobs have stored."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.urls import reverse

from backups.contract import PlannedRestore, RestoreJob, RestorePlan, TableRestoreJson, Verified, Ways
from backups.models import RestorePoint
from backups.restores.actions import PlanRestoreParams, PlanRestoreResult, RestoreKind, RestoreResult, kind_of
from backups.restores.planning import title_of
from changes.commands import job_document
from changes.pages import PlanPage
from dashboard.jobs.models import Job, JobState
from lake.delta.uri import TableUri

FACTS = {
    "version": "Version",
    "files": "Data files",
    "rows": "Rows",
    "partitions": "Partitions",
    "vectors": "Deletion vectors",
}
"""What a page says of a restored table, by the names of the facts in the JSON."""
EACH_FILE = "Each file: place, size, partition values, deletion vector"


class ReadRow(NamedTuple):
    """A fact of a table, as it was proven and as each reader saw it."""

    fact: str
    proven: str
    spark: str
    deltalake: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRestorePage(PlanPage):
    """The page of a plan to restore a version, and of what came of it."""

    told: PlanRestoreResult
    kind: RestoreKind

    @property
    def is_open(self) -> bool:
        return self.kind == "instant"

    @property
    def is_in_place(self) -> bool:
        return self.kind == "in_place"

    @property
    def removal(self) -> str:
        """What removes what the plan writes; "" before there is a plan."""
        to = self.told.get("to", "").replace("s3a://", "s3://", 1)
        return shlex.join(["aws", "s3", "rm", "--recursive", f"{to}/"]) if to else ""

    @property
    def written_version(self) -> int:
        """The version that Spark wrote, or would have, to see that it can."""
        return self.outcome["verified"]["expected"]["version"] + 1 if self.outcome else 0

    @property
    def is_detached(self) -> bool:
        """Whether it left its commit coordinator."""
        return not self.is_open and self.written_version > self.told["version"] + 1

    @property
    def enabling(self) -> str:
        """What puts it under a coordinator again."""
        return shlex.join(["levee", "commits", "enable", self.told["to"], "--store=NAME"])

    @property
    def outcome(self) -> RestoreResult | None:
        """What the job has proven that this plan led to; None before, and where it only asked S3."""
        done = self.led_to
        return done.result if done and done.state == JobState.SUCCEEDED and not self.told.get("archived") else None

    @property
    def rows(self) -> list[ReadRow]:
        """What each reader saw beside what was proven; none before a reader has."""
        if (outcome := self.outcome) is None:
            return []
        seen: Mapping[str, Any] = outcome["verified"]
        proven, spark, other = seen["expected"], seen["spark"], seen["deltalake"]
        unread = "Not read" if other["reason"] else "Not compared"
        rows = []
        for key, name in FACTS.items():
            if key in spark:  # what was restored by an earlier release has fewer of them
                numbers = _number(proven.get(key), "Not known"), _number(spark[key]), _number(other.get(key), unread)
                rows.append(ReadRow(name, *numbers))
        if "files_equal" in spark:
            rows.append(ReadRow(EACH_FILE, "In the log", "Equal", unread))
        return [*rows, ReadRow("Columns", "In the log", "Equal", "Not read" if other["reason"] else "Equal")]


def _number(value: int | None, absent: str = "Not read") -> str:
    return absent if value is None else f"{value:,}"


def restore_page(point: RestorePoint, job: Job) -> TableRestorePage:
    result: PlanRestoreResult = job.result
    name = TableUri.parse(point.table).name
    return TableRestorePage(
        job=job,
        plan=result.get("plan"),
        refusal=result.get("refusal"),
        command=command_line(point, job.params),
        name=name,
        place=point.table,
        back=reverse("backup-restore", args=[point.pk]),
        called=title_of(None, kind_of(job.params)),
        told=result,
        kind=kind_of(job.params),
    )


def command_line(point: RestorePoint, params: PlanRestoreParams) -> str:
    words = ["levee", "restore", str(point.pk)]
    to = params.get("to")
    in_place = ["--in-place", "--confirm", TableUri.parse(point.table).name] if params.get("in_place") else []
    words += in_place or (["--instant"] if to is None else ["--to", to] if to else [])
    words += ["--version", str(params["version"])] if params["version"] is not None else []
    words += ["--at", params["moment"]] if params["moment"] else []
    return shlex.join([*words, "--apply"])


def restore_document(point: RestorePoint, planned: Job, job: Job | None = None) -> TableRestoreJson:
    """A plan, or why there is none, and the job that carried it out."""
    result: PlanRestoreResult = planned.result
    document = document_of(point.table, str(point.pk), kind_of(planned.params), result)
    version = result.get("version", planned.params["version"])
    return {
        **document,
        "document": document["document"] or point.proof,
        "version": version,
        "job": _job(job) if job else None,
    }


def document_of(table: str, point: str, kind: RestoreKind, result: PlanRestoreResult) -> PlannedRestore:
    """What was planned for one table."""
    told: RestorePlan | None = None
    if plan := result.get("plan"):
        told = {
            **plan,
            "archived": result.get("archived", 0),
            "objects": result["objects"],
            "bytes": result["size"],
            "cost": result["usd"],
            "seconds": result["seconds"],
        }
    return {
        "table": table,
        "point": point,
        "document": result.get("document", ""),
        "version": result.get("version"),
        "kind": kind,
        "to": result.get("to", ""),
        "aside": result.get("aside", ""),
        "plan": told,
        "refusal": result.get("refusal"),
    }


def _job(job: Job) -> RestoreJob:
    result: RestoreResult = job.result
    verified: Verified | None = result.get("verified")
    ways: Ways | None = result.get("ways")
    return {**job_document(job), "seconds": result.get("seconds"), "verified": verified, "ways": ways}
