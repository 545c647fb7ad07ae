"""What an operator does with coordination, in one line each: by actions, and by pages as a browser uses them."""

from typing import Any

from django.test import Client

from coordinator.coordination import actions
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.confirmed import checks_of
from coordinator.models import DeltaTable
from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.models import Job
from tests.builders.delta import UUID, coordinator_commit
from tests.builders.people import actor
from tests.coordinator.coordination.fake_spark import FakeSpark
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import plan_page

ROOT = "sales/orders"


def last_audit(outcome: str) -> AuditEntry:
    return AuditEntry.objects.filter(outcome=outcome).latest("id")


def unpublish(desk: "Desk", version: int) -> None:
    """Leave the newest commit as a coordinator has it that nobody has backfilled for: staged and listed."""
    log = f"{ROOT}/_delta_log"
    data = desk.console.bytes_of(f"{log}/{version:020d}.json")
    desk.console.lake.delete(f"{log}/{version:020d}.json")
    desk.console.lake.put(f"{log}/_staged_commits/{version:020d}.{UUID}.json", data)
    [item] = desk.console.lake.dynamodb.scan(TableName=desk.store)["Items"]
    listed = coordinator_commit(version, fsLength={"N": str(len(data))})
    desk.console.lake.dynamodb.put_item(TableName=desk.store, Item=item | {"commits": {"L": [listed]}})


class Desk:
    """One lake on moto, one console, one Spark that writes by hand."""

    def __init__(self, console: Console, spark: FakeSpark) -> None:
        self.console = console
        self.spark = spark
        self.store = spark.coordinator

    def plain(self, root: str = ROOT) -> DeltaTable:
        """A table of versions 0 to 2 that nothing guards, as observed."""
        self.console.lake.table(root, 3)
        return self.console.observed(root)

    def coordinated(self, root: str = ROOT) -> DeltaTable:
        """A table that was enabled at version 3."""
        table = self.plain(root)
        job = self.run(self.act(self.checked(self.change(Operation.ENABLE, table))))
        assert job.state == "succeeded", job.error_text
        return self.console.table(root)

    def change(self, operation: Operation, table: DeltaTable, **changes: Any) -> CoordinationRequest:
        store = self.store if operation is Operation.ENABLE else ""
        return CoordinationRequest(operation, table.uri, **({"store": store} | changes))

    def checked(self, change: CoordinationRequest, by: Actor | None = None) -> Job:
        return self.run(actions.check(by or actor(Role.OPERATOR), self.console.connection, change))

    def act(self, checked: Job, by: Actor | None = None, **confirmed: Any) -> Job:
        """Confirm as the form has it; keywords change what is confirmed."""
        found = checks_of(checked)
        assert found is not None, checked.error_text
        name = ".".join(found["uri"].rsplit("/", 2)[1:])
        given = {"digest": found["digest"], "confirm": name, "stated": True} | confirmed
        return actions.act(by or actor(Role.OPERATOR), checked, given.pop("digest"), **given)

    def run(self, job: Job) -> Job:
        return self.console.run(job)

    def checks_page(self, client: Client, table: DeltaTable, operation: str, **asked: Any) -> str:
        """Post the first form, let the worker check, and return the address of the page."""
        given = {"store": self.store} if operation == "enable" else {}
        return plan_page(client, self.console, f"/tables/{table.pk}/coordination/{operation}/", given | asked)
