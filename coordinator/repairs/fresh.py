"""Planning from what the lake says now: the same for the page that shows a plan and the worker that carries it out.

What its jobs take and tell stands here too, and the plans that they have made.
"""

from dataclasses import dataclass, replace
from typing import TypedDict

from django.db.models import QuerySet
from django.utils import timezone

from changes.documents import PlanDocument, RefusalDocument, SubjectDocument
from changes.gate import Confirmation
from changes.plan import ChangePlan, Refusal
from coordinator.models import DeltaTable
from coordinator.observation.passes import survey_for_one_table, target_of
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.verdict import Finding, Verdict
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.planning import plan_repairs
from coordinator.repairs.reading import Keep, account_of, forget, read_for_repair
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobResult
from dashboard.jobs.models import Job
from lake.aws.access import Lake
from lake.delta.uri import TableUri


@dataclass(frozen=True, slots=True)
class Subject:
    """What a repair is about: its name, and the finding it belongs to."""

    repair: str
    code: str
    version: int | None

    @classmethod
    def of(cls, thing: ChangePlan | Refusal) -> "Subject":
        return cls(thing.kind, thing.code, thing.version)

    @classmethod
    def told_by(cls, document: SubjectDocument) -> "Subject":
        return cls(document["kind"], document["code"], document["version"])

    @property
    def finding(self) -> str:
        return self.code if self.version is None else f"{self.code} of version {self.version:,}"


@dataclass(frozen=True, slots=True)
class FreshPlans:
    """A table as just read, and what may and may not be done about it."""

    verdict: Verdict
    plans: tuple[ChangePlan, ...]
    refusals: tuple[Refusal, ...]
    path_scheme: str = ""

    @property
    def was_read(self) -> bool:
        """Whether all was read and nothing is being checked, so that no plan is refused for a gap in what is known."""
        return not self.verdict.withheld and all(one.code != "not-read" for one in self.verdict.findings)

    def made_of(self, subject: Subject) -> ChangePlan | Refusal | None:
        made: tuple[ChangePlan | Refusal, ...] = (*self.plans, *self.refusals)
        return next((one for one in made if subject == Subject.of(one)), None)

    def finding_of(self, thing: ChangePlan | Subject) -> Finding | None:
        findings = self.verdict.findings
        return next((one for one in findings if (one.code, one.version) == (thing.code, thing.version)), None)


def plan_anew(
    connection: Connection, lake: Lake, uri: TableUri, path_scheme: str = "", keep: Keep = forget
) -> FreshPlans:
    """Read one table strongly consistently, from the start of its log, and plan; `keep` is given the reading.

    `path_scheme` is what somebody chose for a path that nothing shows, "" for none. Raises AwsError.
    """
    now = timezone.now()
    facts = read_for_repair(lake, survey_for_one_table(connection, lake), target_of(connection, uri), now, keep)
    made = plan_repairs(with_known_paths(connection, uri, replace(facts, path_scheme=path_scheme)))
    return FreshPlans(
        facts.verdict,
        tuple(one for one in made if isinstance(one, ChangePlan)),
        tuple(one for one in made if isinstance(one, Refusal)),
        path_scheme,
    )


def with_known_paths(connection: Connection, uri: TableUri, facts: RepairFacts) -> RepairFacts:
    """Add what Levee's own records say of how the table's registration spelled its path."""
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    registered = table.registered if table else {}
    is_this = registered.get("table_id") == registration_id(facts.facts.protocol)
    return replace(
        facts,
        registered_path=str(registered.get("path", "")) if is_this else "",
        enabled_as=_given_to_spark(connection, uri, facts.coordinator),
        account=account_of(connection.role_arn),
    )


def _given_to_spark(connection: Connection, uri: TableUri, coordinator: str) -> str:
    """The location under which the last act put the table under the coordinator, however it ended; "" for none.

    An act that got beyond its checks has kept a snapshot of the table as it was before.
    """
    acts = Job.objects.filter(
        connection=connection,
        target_label__in=uri.spellings(),
        result__has_key="before",
        result__preflight__operation__in=("enable", "create"),
        result__preflight__store=coordinator,
    )
    last = acts.order_by("-created_at").first()
    return str(last.result["preflight"].get("location", "")) if last else ""


# Jobs


class PlanRepairParams(TypedDict):
    """`path_scheme` is "" for none chosen."""

    uri: str
    path_scheme: str


class PlanRepairResult(JobResult):
    read_at: str
    plans: list[PlanDocument]
    refusals: list[RefusalDocument]


class RepairParams(PlanRepairParams, Confirmation):
    name: str
    repair: str
    code: str
    version: int | None


def jobs_about(table: DeltaTable, kind: str) -> "QuerySet[Job]":
    """Every job of one kind about a table, newest first."""
    return Job.objects.filter(kind=kind, target_type="table", target_id=str(table.pk)).order_by("-created_at")


def plans_about(planned: Job, subject: Subject) -> list[PlanDocument]:
    """The plan that a job made about the subject, none where it was refused or could not be read."""
    result: PlanRepairResult = planned.result
    return [one for one in result.get("plans", []) if subject == Subject.told_by(one)]
