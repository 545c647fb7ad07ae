"""A restore as its page shows it and its command prints it, from what jobs have stored."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from django.urls import reverse

from backups.contract import PlannedRestore, RestoreJob, RestorePlan, TableRestoreJson, Verified, Ways
from backups.models import RestorePoint
from backups.restores.actions import (
    PLAN_KIND,
    REMOVE_KIND,
    PlanRestoreParams,
    PlanRestoreResult,
    RestoreKind,
    RestoreResult,
    kind_of,
    removing,
    subject_of,
    target_at,
)
from backups.restores.many import PLAN_MANY_KIND, tables_of
from backups.restores.planning import title_of
from changes.asking import led_to
from changes.commands import job_document
from changes.gate import is_before_any_change
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
MOST_PLANS = 200
"""Plans of many restores that are looked through for one path, the newest first."""
EACH_FILE = "Each file: place, size, partition values, deletion vector"


class ReadRow(NamedTuple):
    """A fact of a table, as it was proven and as each reader saw it."""

    fact: str
    proven: str
    spark: str
    deltalake: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRestorePage(PlanPage):
    """The page of a plan to restore a version, or to remove a copy, and of what came of it. `removal` is the last job
    that was to remove what it restored to a path of its own, None before."""

    told: PlanRestoreResult
    kind: RestoreKind
    removal: Job | None

    @property
    def is_open(self) -> bool:
        return self.kind == "instant"

    @property
    def is_in_place(self) -> bool:
        return self.kind == "in_place"

    @property
    def by_hand(self) -> str:
        """What removes the folder of what is open in the backup; "" before there is a plan."""
        to = self.told.get("to", "").replace("s3a://", "s3://", 1)
        return shlex.join(["aws", "s3", "rm", "--recursive", f"{to}/"]) if to else ""

    @property
    def is_removed(self) -> bool:
        return self.removal is not None and self.removal.state == JobState.SUCCEEDED

    @property
    def has_removed(self) -> bool:
        """Whether a plan to remove a copy has led to that."""
        return self.led_to is not None and self.led_to.state == JobState.SUCCEEDED

    @property
    def can_be_removed(self) -> bool:
        """Whether what this plan has written to a path of its own may be there yet."""
        restored = self.led_to
        is_over = restored is not None and restored.is_finished and not is_before_any_change(restored)
        return self.kind == "full" and is_over and not self.told.get("archived") and not self.is_removed

    @property
    def copy(self) -> PlanRestoreParams | None:
        """What may be removed by a plan, anew where this is one; None for nothing."""
        if self.kind == "remove":
            return cast("PlanRestoreParams", self.job.params)
        return removing(self.job.params["point"], self.told) if self.can_be_removed else None

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
        is_restored = self.kind != "remove" and not self.told.get("archived")
        return done.result if is_restored and done and done.state == JobState.SUCCEEDED else None

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
    subject, plan = subject_of(job.params, point.table), result.get("plan")
    return TableRestorePage(
        job=job,
        plan=plan,
        refusal=result.get("refusal"),
        command=command_line(point, job.params, can_lose=bool(plan and plan["can_lose"])),
        name=TableUri.parse(subject).name,
        place=subject,
        back=reverse("backup-restore", args=[point.pk]),
        called=title_of(None, kind_of(job.params)),
        told=result,
        kind=kind_of(job.params),
        removal=_removal(job),
    )


def _removal(job: Job) -> Job | None:
    """The first that has removed what a plan restored, else the last that has begun to."""
    restored = led_to(job, job.result.get("plan")) if kind_of(job.params) == "full" else None
    if restored is None or restored.finished_at is None:
        return None
    removals = Job.objects.filter(kind=REMOVE_KIND, target_id=target_at("remove", job.result["to"]).id)
    since = removals.filter(created_at__gt=restored.finished_at).order_by("created_at")
    begun = [one for one in since if "before" in one.result and not is_before_any_change(one)]
    return next((one for one in begun if one.state == JobState.SUCCEEDED), begun[-1] if begun else None)


def command_line(point: RestorePoint, params: PlanRestoreParams, *, can_lose: bool) -> str:
    words, to = ["levee", "restore", str(point.pk)], params.get("to")
    if to and params.get("removes"):
        typed = ["--confirm", TableUri.parse(to).name] if can_lose else []
        return shlex.join(["levee", "restore", to, "--remove", *typed, "--apply"])
    in_place = ["--in-place", "--confirm", TableUri.parse(point.table).name] if params.get("in_place") else []
    words += in_place or (["--instant"] if to is None else ["--to", to] if to else [])
    words += ["--version", str(params["version"])] if params["version"] is not None else []
    words += ["--at", params["moment"]] if params["moment"] else []
    return shlex.join([*words, "--apply"])


def restored_at(uri: str) -> PlanRestoreParams | None:
    """What was last restored to a path of its own, or begun to be, as a plan removes it."""
    of_one = Job.objects.filter(kind=PLAN_KIND, result__to=uri)
    of_many = Job.objects.filter(kind=PLAN_MANY_KIND).order_by("-created_at")[:MOST_PLANS]
    for job in sorted([*of_one, *of_many], key=lambda job: job.created_at, reverse=True):
        done = led_to(job, job.result.get("plan")) if kind_of(job.params) == "full" else None
        if done is not None and not is_before_any_change(done):
            rows = tables_of(job) if job.kind == PLAN_MANY_KIND else [{**job.result, "point": job.params["point"]}]
            for one in rows:
                if one["to"] == uri and not one.get("archived"):
                    return removing(one["point"], cast("PlanRestoreResult", one))
    return None


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
