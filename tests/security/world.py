"""One of everything that an address may name, and what a form would post there."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from backups.models import Plan
from coordinator.alerting import FINDING
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import params_of
from coordinator.models import CommitStore, DeltaTable, TtlMigration, WriterTest
from coordinator.queries.coordination import passed_selection
from coordinator.queries.repairs import bulk_kinds, bulk_selection
from coordinator.queries.table_list import TableFilter
from coordinator.settings.requests import ChangeProtection, change_request_document
from dashboard.accounts.actor import Actor
from dashboard.accounts.models import SignedIn
from dashboard.accounts.people import invitation
from dashboard.accounts.roles import Role
from dashboard.alerts.models import Recipient, Rule
from dashboard.alerts.stopping import stop_url
from dashboard.deadlines.judging import judge
from dashboard.jobs.models import Job
from tests.backups.page_records import make_copy_job, make_gaps, make_plan, make_run
from tests.backups.table_points import make_point
from tests.builders.lake import (
    NOW,
    make_bucket,
    make_commit,
    make_connection,
    make_entry,
    make_finding,
    make_pass,
    make_pending,
    make_store,
    make_table,
)
from tests.builders.people import PASSWORD, person
from tests.dashboard.alerts.test_mail import alert, message
from tests.dashboard.alerts.test_pages import RULE
from tests.dashboard.jobs.builders import job

PUBLISH = {"repair": "publish-commit", "code": "C2", "version": "42"}
DIGEST = {"digest": "0" * 32}
COPY = "s3a://lake/sales/orders/_levee_rescue/20261120T094207Z-abandon-commit-42/x.item.json"
LISTED = {
    "read_at": NOW.isoformat(),
    "copies": [
        {
            "id": COPY,
            "table": "s3a://lake/sales/orders",
            "kind": kind,
            "saved_at": "2026-11-20T09:42:07Z",
            "repair": "abandon-commit",
            "version": 42,
            "bytes": 310,
            "goes_to": "entry 42.json of s3a://lake/sales/orders, in delta_log",
            "unreadable": "" if kind else "It is no JSON.",
        }
        for kind in ("entry", None)
    ],
    "left_out": 1,
    "more": False,
    "not_listed": [],
}


def named_job(kind: str, state: str, thing: Any, label: str, params: dict[str, Any], **fields: Any) -> Job:
    return job(
        state,
        kind=kind,
        title=f"Job on {label}"[:200],
        connection=thing.connection,
        target_type="table" if isinstance(thing, DeltaTable) else "store",
        target_id=str(thing.pk),
        target_label=label,
        params=params,
        **fields,
    )


@dataclass
class World:
    """A lake with one of everything; `words` name the parts of texts that come from outside."""

    words: str = "orders"
    is_read_only: bool = False
    connection_name: str = "lake"
    store_names: tuple[str, str] = ("delta_log", "commits")

    def __post_init__(self) -> None:
        self._make_lake()
        self._make_jobs()
        self._make_backups()
        self._make_alerts()
        judge(timezone.now())
        self.user = person(Role.VIEWER, name="sam")
        for user in (self.user, *map(person, Role)):
            SignedIn.objects.create(
                session_key=f"of {user}", user=user, since=NOW, seen_at=NOW, expire_date=NOW + timedelta(days=3650)
            )

    def _make_lake(self) -> None:
        self.connection = make_connection(self.connection_name)
        log_store, coordinator = self.store_names
        self.store = make_store(log_store, connection=self.connection)
        self.coordinator = make_store(coordinator, connection=self.connection, kind=CommitStore.Kind.COMMIT_COORDINATOR)
        moving = {"from_attribute": "commitTime", "requested_by_name": "sam", "started_at": NOW, "phase_at": NOW}
        TtlMigration.objects.create(store=self.store, next_at=NOW, **moving)
        self.writer_test = WriterTest.objects.create(
            connection=self.connection,
            store_name=self.store.name,
            kind=self.store.kind,
            token="0" * 32,
            bucket="lake",
            prefix=f"{self.words}/_levee_writer_test/{'0' * 32}"[:1024],
            asked_by_name="sam",
            asked_at=NOW,
            sentence=f"No lock taken in {self.words}.",
        )
        self.bucket = make_bucket("lake", connection=self.connection)
        uri = f"s3a://lake/sales/{self.words}"
        self.table = make_table(uri, connection=self.connection, store=self.store, name=f"sales.{self.words}"[:1100])
        make_commit(self.table, operation=self.words[:64], engine=self.words[:128])
        make_entry(self.table, file=f".tmp/{self.words}"[:1024])
        make_pending(self.table)
        make_finding(self.table, summary=f"Commit 42 of {self.words} is pending.", repairs=["publish-commit"])
        # What enabling is offered for: a table that one writer at a time commits to.
        make_table("s3a://lake/sales/plain", connection=self.connection, mechanism="single_driver")
        make_pass(self.connection)

    def _make_jobs(self) -> None:
        table, uri = self.table, self.table.uri
        enable = params_of(CoordinationRequest(Operation.ENABLE, uri, store="commits"))
        create = params_of(
            CoordinationRequest(Operation.CREATE, "s3a://lake/new", store="commits", columns="id BIGINT")
        )
        protect = {"change": change_request_document(ChangeProtection(self.store.name, on=True))}
        self.jobs = {
            "table-repair": named_job("plan-repair", "succeeded", table, uri, {"uri": uri}),
            "table-rescue": named_job("list-rescue", "succeeded", table, uri, {"tables": [table.pk]}, result=LISTED),
            "table-rescue-copy": named_job("plan-rescue", "succeeded", table, uri, {"uri": uri, "copy": COPY}),
            "table-coordination-checks": named_job("check-coordination", "succeeded", table, uri, enable),
            "table-coordination-rehearsal": named_job("check-coordination", "succeeded", table, uri, enable),
            "table-create-checks": named_job("check-coordination", "succeeded", table, "s3a://lake/new", create),
            "settings-plan": named_job("plan-upkeep", "succeeded", self.store, self.store.name, protect),
            "coordination-many": self._checked_many(),
            "job": named_job("observe-table", "queued", table, uri, {"uri": uri}, reason=self.words[:500]),
        }
        self.jobs["job"].events.create(at=timezone.now(), text=f"Read {self.words}.", step="read")

    def _checked_many(self) -> Job:
        """A job that checked enabling on the plain table, which passed."""
        plain = DeltaTable.objects.get(prefix="sales/plain", connection=self.connection)
        outcome = {"target_type": "table", "target_id": str(plain.pk), "label": plain.uri, "state": "passed"}
        params = {"tables": [plain.pk], "store": "commits", "operation": "enable", "stop_at_first_failure": False}
        result = {"read_at": timezone.now().isoformat(), "outcomes": [outcome | {"sentence": ""}]}
        return named_job("check-many-coordination", "succeeded", plain, "1 table", params, result=result)

    def _make_backups(self) -> None:
        connections = {"connection": self.connection, "vault_connection": self.connection}
        self.plan = make_plan("nightly", **connections)
        waiting = make_run(make_plan("weekly", **connections), "waiting_for_approval")
        running = make_run(make_plan("yearly", **connections), "running")
        make_copy_job(running)
        gaps = make_gaps(make_plan("monthly", **connections))
        self.run = waiting
        self.point = make_point(self.plan, table=self.table.uri)
        params = {"point": str(self.point.pk), "version": None, "moment": None}
        target = {"target_type": "restore-point", "target_id": str(self.point.pk), "target_label": self.table.uri}
        planned = job("succeeded", kind="plan-restore", connection=self.connection, params=params, **target)
        self.jobs["backup-restore-plan"] = planned
        self._make_copy(target)
        params = {"plan": self.plan.pk, "moment": None, "to": None, "tables": ""}
        target = {"target_type": "plan", "target_id": str(self.plan.pk), "target_label": "nightly"}
        planned = job("succeeded", kind="plan-restores", connection=self.connection, params=params, **target)
        self.jobs["backup-plan-restored"] = planned
        self.runs = {
            "backup-run": gaps,
            "backup-run-failures": gaps,
            "backup-run-retry": gaps,
            "backup-run-cancel": running,
            "backup-run-priority": running,
            "backup-run-approve": waiting,
            "backup-run-reject": waiting,
        }

    def _make_copy(self, target: dict[str, str]) -> None:
        """A version that was restored to a path of its own."""
        copy = {"point": str(self.point.pk), "version": 41, "to": "s3a://lake/restored/orders"}
        restored = {"document": "s3a://vault/point.json", "version": 41, "to": copy["to"], "archived": 0}
        result = {**restored, "plan": {**DIGEST, "can_lose": False}}
        params, own = {**copy, "moment": None}, {"connection": self.connection, **target}
        planned = job("succeeded", kind="plan-restore", params=params, result=result, **own)
        key = f"plan:{planned.pk}:{DIGEST['digest']}"
        job("succeeded", kind="restore-table", params=params, idempotency_key=key, finished_at=timezone.now(), **own)
        self.jobs["backup-remove"] = planned

    def _make_alerts(self) -> None:
        self.rule = Rule.objects.create(kind=FINDING.name, name="Sales", threshold=5, prefix="s3a://lake/sales/")
        self.recipient = Recipient.objects.create(name="ops", kind="address", address="ops@acme.example")
        self.alert = alert(connection=self.connection, rule=self.rule, headline=f"{self.words} lost a file."[:400])
        self.acknowledged = alert(connection=self.connection, cause="known", state="acknowledged", rule=self.rule)
        self.message = message(self.alert, state="failed", recipient=self.recipient, subject=self.words[:300])

    def path(self, name: str) -> str:
        """A path of this address at which something is to be seen."""
        return reverse(name, kwargs=self._parts(name)) if name not in {"welcome", "alert-stop"} else self._link(name)

    def data(self, name: str) -> dict[str, Any]:
        """What the page's own form would post."""
        if name in {"repair-many", "coordination-many"}:
            return self._seen(name)
        if name == "connection-read-only":
            return {"read_only": "" if self.connection.read_only else "yes"}
        if name == "backup-plan-edit":
            return {**_plan_fields(self.plan), "schedule": "0 4 * * *", "objective_hours": 60}
        if name == "backup-plan-add":
            return {
                **_plan_fields(self.plan),
                "name": "hourly",
                "destination": "s3a://acme-vault/hourly/",
                "objective_hours": 60,
            }
        if name == "table-create":
            return {"uri": "s3a://lake/other", "columns": "id BIGINT", "store": str(self.coordinator.pk)}
        if name == "alerts-acknowledge":
            return {**FORMS["alert"], "alert": self.alert.pk}
        if name == "jobs-seen":
            return {"job": str(job("failed", connection=self.connection).pk)}
        return FORMS.get(name, {})

    def _parts(self, name: str) -> dict[str, Any]:
        parts: dict[str, Any] = {
            "table_id": self.table.pk,
            "store_id": self.store.pk,
            "bucket_id": self.bucket.pk,
            "connection_id": self.connection.pk,
            "token": self.writer_test.token,
            "version": 41,
            "repair": "publish-commit",
            "operation": "enable",
            "job_id": self.jobs.get(name.removesuffix("-again"), self.jobs["job"]).pk,
            "alert_id": self.acknowledged.pk if name == "alert-reopen" else self.alert.pk,
            "kind": FINDING.name,
            "plan_name": self.plan.name,
            "point_id": self.point.pk,
            "run_id": self.runs.get(name, self.run).pk,
            "pk": self._pk(name),
        }
        return {part: parts[part] for part in parts_of(name)}

    def _pk(self, name: str) -> int:
        if name.startswith("alert-message"):
            return self.message.pk
        if name.startswith("alert-rule"):
            return self.rule.pk
        return self.recipient.pk if name.startswith("alert-recipient") else self.user.pk

    def _link(self, name: str) -> str:
        if name == "alert-stop":
            return stop_url("ops@acme.example").removeprefix(settings.PUBLIC_URL)
        return invitation(Actor.command(), self.user)

    def _seen(self, name: str) -> dict[str, Any]:
        if name == "repair-many":
            return {"seen": bulk_selection(bulk_kinds()["publish-commit"], TableFilter())[0].seen, "once": "1"}
        checked = self.jobs["coordination-many"]
        given = {"checked": checked.pk, "seen": passed_selection(checked).seen, "confirm": "1 table"}
        return {**given, "once": "1", "stated": "yes", "reason": "CHG-7"}


def parts_of(name: str) -> list[str]:
    from tests.dashboard.test_addresses import routes

    return [part for known, route in routes() if known == name for part in re.findall(r"<(?:\w+:)?(\w+)>", route)]


def _plan_fields(plan: Plan) -> dict[str, Any]:
    from backups.forms import form_of

    return {key: value for key, value in form_of(plan).initial.items() if value not in (None, False)}


FORMS: dict[str, dict[str, Any]] = {
    "login": {"username": "nobody", "password": "wrong"},
    "prove": {"password": PASSWORD},
    "me": {"theme": "dark"},
    "password": {"old_password": PASSWORD, "new_password1": "quite another one", "new_password2": "quite another one"},
    "welcome": {"new_password1": "quite another one", "new_password2": "quite another one"},
    "new-person": {"name": "kim", "role": "viewer"},
    "person": {"role": "operator", "is_active": "on"},
    "scope": {"connection": "lake"},
    "tables": {"format": "csv"},
    "audit": {"format": "csv"},
    "alert": {"reason": "Known.", "hours": "4"},
    "alert-new-rule": RULE | {"name": "Narrow", "prefix": "s3a://lake/sales/"},
    "alert-rule": RULE,
    "alert-recipients": {"name": "more", "kind": "address", "address": "more@acme.example", "digest": "never"},
    "own-mails": {"mails": "on"},
    "observe": {"connection": "lake"},
    "table-repairs": PUBLISH,
    "table-repair": PUBLISH | DIGEST,
    "table-rescue-plan": {"copy": COPY},
    "table-rescue-copy": DIGEST,
    "table-create-checks": DIGEST,
    "table-coordination": {"store": "commits"},
    "table-coordination-checks": DIGEST | {"stated": "yes"},
    "settings-plan": DIGEST,
    "doctor": {"text": "spark.a 1"},
    "table-doctor": {"text": "spark.a 1"},
    "store-doctor": {"text": "spark.a 1"},
    "store-create": {"connection": "lake", "name": "another", "kind": "log_store", "billing": "on_demand"},
    "store-writer-test-make": {"at": "s3a://lake/"},
    "store-change": {"act": "change-protection", "protection": "yes"},
    "bucket-change": {"act": "set-temp-rule", "prefix": "sales/orders", "days": "3"},
    "backup-restore": {"which": "own"},
    "backup-restore-plan": DIGEST,
    "backup-plan-restore": {"which": "newest", "where": "open"},
    "backup-plan-restored": DIGEST,
    "backup-run-priority": {"priority": "7"},
    "backup-run-approve": {"estimate": "86.57"},
    "backup-plan-inventory": {"format": "Parquet", "frequency": "Daily"},
}
