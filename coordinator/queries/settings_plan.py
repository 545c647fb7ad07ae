"""Plans of settings as their page shows them: the plan, what it rests on, the rules it leaves alone, its command."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from xml.etree import ElementTree

from django.db.models import QuerySet
from django.urls import reverse

from changes.documents import PlanDocument, PlannedResult
from changes.pages import PlanPage
from coordinator.models import Bucket, CommitStore
from coordinator.settings.actions import PLAN_KIND
from coordinator.settings.requests import (
    Capacity,
    ChangeCapacity,
    ChangeProtection,
    ChangeRecovery,
    ChangeRequest,
    CleanWriterTest,
    CreateStore,
    DisableTtl,
    EnableTtl,
    MigrateTtl,
    OfStore,
    RemoveTempRule,
    SetMultipartRule,
    SetTempRule,
    Sweep,
    read_change_request,
)
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job

MOST_RULES_SHOWN = 30

_BUTTONS = {
    SetTempRule.ACT: "Write this rule",
    RemoveTempRule.ACT: "Remove this rule",
    SetMultipartRule.ACT: "Write this rule",
    Sweep.ACT: "Delete these temp files",
    CleanWriterTest.ACT: "Remove what the test left",
}


@dataclass(frozen=True, slots=True)
class RuleDiff:
    """The rule that changes, as it was and as it will stand, and those that stay as they are, as S3 returned them.

    `what` is "added", "changed" or "removed".
    """

    what: str
    id: str
    before: Mapping[str, Any] | None
    xml: str
    kept: Sequence[Mapping[str, Any]]
    more: int
    read_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPage(PlanPage):
    """The page of a plan for a store or a bucket."""

    connection: Connection
    change: ChangeRequest
    rules: RuleDiff | None

    most_calls: ClassVar[int | None] = 40

    @property
    def button(self) -> str:
        """The plan's title, or its verb where the title names a whole prefix."""
        return _BUTTONS.get(self.change.ACT) or self.title


def planning_jobs(jobs: "QuerySet[Job]") -> "QuerySet[Job]":
    """Return those of some jobs that plan a change of a store or a bucket."""
    return jobs.select_related("connection").filter(kind=PLAN_KIND, connection__isnull=False)


def settings_page(job: Job) -> SettingsPage:
    """The page of a planning job, each of which is of a connection."""
    if job.connection is None:
        raise LookupError("Planning jobs are read with a connection.")
    connection = job.connection
    result: PlannedResult = job.result
    change = read_change_request(job.params["change"])
    plan, name = result.get("plan"), change.subject
    return SettingsPage(
        job=job,
        plan=plan,
        refusal=result.get("refusal"),
        command=command_line(change, connection, plan),
        name=name,
        place=f"{name} in {connection.name}, {connection.region}",
        back=_back(connection, change),
        called=job.title,
        connection=connection,
        change=change,
        rules=_rule_diff(connection, change, plan),
    )


def command_line(change: ChangeRequest, connection: Connection, plan: PlanDocument | None) -> str:
    """The command that does the same; a plan with a danger needs the name there too."""
    words = ["levee", "store" if isinstance(change, OfStore) else "bucket", change.subject, *_words(change)]
    words += ["--connection", connection.name]
    if isinstance(change, CleanWriterTest):
        words = ["levee", *_words(change)]
    if plan and plan["danger"]:
        words += ["--confirm", change.subject]
    return shlex.join([*words, "--apply"])


def _words(change: ChangeRequest) -> list[str]:
    match change:
        case CreateStore():
            return _creation_words(change)
        case ChangeCapacity():
            return ["capacity", *_capacity_words(change.capacity)]
        case ChangeProtection():
            return ["protect", "--on" if change.on else "--off"]
        case ChangeRecovery():
            return ["recovery", "--on" if change.on else "--off"]
        case SetTempRule():
            return ["tmp-rule", "--prefix", change.prefix, "--days", str(change.days)]
        case RemoveTempRule():
            return ["tmp-rule", "--remove", "--rule", change.rule]
        case SetMultipartRule():
            return ["multipart-rule", "--days", str(change.days)]
        case Sweep():
            return ["sweep", "--before", change.before, *(["--prefix", change.prefix] if change.prefix else [])]
        case EnableTtl() | MigrateTtl() | DisableTtl():
            return [change.ACT]
        case CleanWriterTest():
            return ["writer-test", "--clean", change.token]


def _creation_words(change: CreateStore) -> list[str]:
    words = ["create", "--kind", change.kind, *_capacity_words(change.capacity)]
    words += [] if change.deletion_protection else ["--no-protection"]
    words += [] if change.recovery else ["--no-recovery"]
    words += [] if change.ttl else ["--no-ttl"]
    words += ["--encryption", change.encryption] if change.encryption else []
    return words + [part for key, value in change.tags for part in ("--tag", f"{key}={value}")]


def _capacity_words(capacity: Capacity) -> list[str]:
    if capacity.on_demand:
        return ["--on-demand"]
    return ["--read", str(capacity.read), "--write", str(capacity.write)]


def _back(connection: Connection, change: ChangeRequest) -> str:
    """Where the store or bucket is shown; the list for one that is not known yet."""
    rows, page = (CommitStore.objects, "store") if isinstance(change, OfStore) else (Bucket.objects, "bucket")
    found = rows.filter(connection=connection, name=change.subject).values_list("pk", flat=True).first()
    return reverse(page, args=[found]) if found else reverse(f"{page}s")


def _rule_diff(connection: Connection, change: ChangeRequest, plan: PlanDocument | None) -> RuleDiff | None:
    if plan is None or not isinstance(change, SetTempRule | RemoveTempRule | SetMultipartRule):
        return None
    bucket = Bucket.objects.filter(connection=connection, name=change.bucket).first()
    rules = (bucket.facts if bucket else {}).get("lifecycle_rules") or []
    xml = plan["calls"][0]["request"]
    changed_id = change.rule if isinstance(change, RemoveTempRule) else _element(xml).findtext("ID", "")
    before = next((rule for rule in rules if rule.get("ID") == changed_id), None)
    kept = [rule for rule in rules if rule.get("ID") != changed_id]
    return RuleDiff(
        what="removed" if not xml else "changed" if before else "added",
        id=changed_id,
        before=before,
        xml=ElementTree.tostring(_element(xml), encoding="unicode") if xml else "",
        kept=kept[:MOST_RULES_SHOWN],
        more=max(len(kept) - MOST_RULES_SHOWN, 0),
        read_at=bucket.observed_at if bucket else None,
    )


def _element(xml: str) -> ElementTree.Element:
    """A rule with its parts on lines of their own."""
    rule = ElementTree.fromstring(xml)  # noqa: S314 - Levee's own writing, or S3's as it was read
    ElementTree.indent(rule)
    return rule
