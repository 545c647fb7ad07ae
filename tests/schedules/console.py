"""Levee beside the memory lake: its database, its passes, its jobs, each reaching the lake through the gate alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from coordinator import actions
from coordinator.coordination import actions as coordination
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import checks_of
from coordinator.models import Bucket, CommitStore, DeltaTable, TableFinding, Watch
from coordinator.observation.passes import observe_connection
from coordinator.own_records import RecordsOf
from coordinator.protocols.verdict import Severity, State
from coordinator.repairs.fresh import Subject, jobs_about, plan_anew
from coordinator.settings import actions as settings
from coordinator.settings.requests import Sweep
from dashboard.accounts.roles import Role
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from lake.aws.access import open_lake
from lake.delta.uri import TableUri
from tests.builders.changes import execute_plan as carry_out
from tests.builders.people import actor
from tests.schedules.place import BUCKET, COORDINATOR, ENDPOINT, PATH, REGION, ROOT

LARGE = 10**6
MOST_REPAIRS = 20
TABLE = TableUri.parse(PATH)


class Console:
    """One connection that has these stores and watches the bucket; `person` may repair everything."""

    def __init__(self, log_stores: Sequence[str]) -> None:
        now = timezone.now()
        self.connection = Connection.objects.create(name="prod", region=REGION, endpoint_url=ENDPOINT)
        Watch.objects.create(connection=self.connection, uri=f"s3a://{BUCKET}/{ROOT.partition('/')[0]}/")
        kinds = dict.fromkeys(log_stores, CommitStore.Kind.LOG_STORE)
        for name, kind in {**kinds, COORDINATOR: CommitStore.Kind.COMMIT_COORDINATOR}.items():
            CommitStore.objects.create(connection=self.connection, name=name, kind=kind, observed_at=now)
        Bucket.objects.create(connection=self.connection, name=BUCKET, observed_at=now)
        self.person = actor(Role.ADMIN)

    def make_stores_large(self) -> None:
        """As of now both were scanned and are too large to be scanned in each pass."""
        CommitStore.objects.update(scanned_at=timezone.now(), scanned_items=LARGE)

    def look(self, *, in_full: bool = False) -> None:
        """One pass over the connection."""
        with open_lake(lake_access(self.connection)) as lake:
            observe_connection(self.connection, lake, threads=1, in_full=in_full)

    @property
    def table(self) -> DeltaTable:
        return DeltaTable.objects.select_related("connection").get(bucket=BUCKET, prefix=ROOT)

    @property
    def state(self) -> State | None:
        """The table's state, None where no table is known."""
        table = DeltaTable.objects.filter(bucket=BUCKET, prefix=ROOT, gone_at=None).first()
        return State(table.state) if table else None

    @property
    def has_leftovers_only(self) -> bool:
        """Whether nothing is said but that old files lie about, of which the lake no longer proves what they were."""
        found = TableFinding.objects.filter(table=self.table, resolved_at=None).exclude(state=State.HEALTHY)
        return {(one.code, one.state) for one in found} <= {("C1", State.ATTENTION), ("K2", State.ATTENTION)}

    @property
    def said(self) -> str:
        return f"the table is {self.table.state}: {self.table.summary}"

    def alarms(self) -> list[str]:
        """What would page somebody: open critical findings, and a state that says not to write."""
        table = DeltaTable.objects.filter(bucket=BUCKET, prefix=ROOT).first()
        if table is None:
            return []
        found = TableFinding.objects.filter(table=table, resolved_at=None, severity=Severity.CRITICAL)
        said = [f"{one.code}: {one.summary}" for one in found]
        if table.state in (State.BLOCKED, State.UNSAFE):
            said.append(f"the table is {table.state}: {table.summary}")
        return said + ([f"it could not be read: {table.error_text}"] if table.error_code else [])

    def plan(self) -> list[dict[str, Any]]:
        """Read the table anew, as before a repair; returns the documents of all plans."""
        if self.state is None:
            return []
        return list(self._run(actions.plan_repairs(self.person, self.table)).result.get("plans", []))

    def repair(self, plan: dict[str, Any]) -> Job:
        """Confirm a plan, by the table's name where it asks for it, and carry it out."""
        confirm = self.table.name if plan["can_lose"] else ""
        planned = jobs_about(self.table, "plan-repair")[0]
        asked = actions.repair(self.person, planned, Subject.told_by(plan), plan["digest"], confirm=confirm)
        return self._run(asked)

    def check(self, operation: Operation) -> Job:
        """Make every check before an enable or a drop."""
        store = COORDINATOR if operation is Operation.ENABLE else ""
        return self._run(
            coordination.check(self.person, self.connection, CoordinationRequest(operation, PATH, store=store))
        )

    def act(self, checked: Job) -> Job:
        """Confirm what was checked, and do it."""
        digest = (checks_of(checked) or {})["digest"]
        return self._run(coordination.act(self.person, checked, digest, confirm=self.table.name, stated=True))

    def plan_sweep(self) -> Job:
        """Plan to delete finished temp files that are older than a day; its result's `plan` is None where none is."""
        before = timezone.now() - timedelta(hours=25)
        return self._run(settings.plan_change(self.person, self.connection, Sweep(BUCKET, before.isoformat())))

    def sweep(self, planned: Job) -> Job:
        """Carry the sweep out, confirmed by the bucket's name where it asks for it."""
        digest = planned.result["plan"]["digest"]
        return self._run(settings.apply_change(self.person, planned, digest, confirm=BUCKET))

    def repair_all(self, *, losing: bool = False) -> list[str]:
        """Carry out what loses nothing, or with `losing` what is left, plan by plan, until none is left.

        Returns what stopped, and what has no end.
        """
        stopped = []
        with open_lake(lake_access(self.connection)) as lake:
            for _ in range(MOST_REPAIRS):
                plans = [one for one in plan_anew(self.connection, lake, TABLE).plans if losing or not one.can_lose]
                if not plans:
                    return stopped
                end = carry_out(plans[0], lake, records=RecordsOf(self.connection, self.person.name)).end
                if end is not None:
                    stopped.append(f"{plans[0].title} stopped: {end.sentence}")
        return [*stopped, f"after {MOST_REPAIRS} repairs this is still planned: {plans[0].title}"]

    def _run(self, job: Job) -> Job:
        execute(job.pk, "w1")
        job.refresh_from_db()
        return job


@contextmanager
def taken_back() -> Iterator[None]:
    """Whatever is stored within is taken back at its end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
