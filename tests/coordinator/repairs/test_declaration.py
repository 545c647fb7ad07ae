"""A repair is one declaration: whatever shows, plans, asks for and records repairs knows one added on the fly."""

from dataclasses import replace
from typing import ClassVar

import pytest

from changes.calls import Answer, Sending, done
from coordinator.protocols.verdict import Finding
from coordinator.repairs import planning
from coordinator.repairs.declaration import Draft, Many, Repair
from coordinator.repairs.kinds import REPAIRS
from coordinator.repairs.object_calls import ObjectCall
from coordinator.repairs.table_under_repair import TableUnderRepair
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.models import JobState
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import body
from tests.coordinator.repairs.test_repair_command import repair as levee_repair

pytestmark = pytest.mark.django_db


class Mark(ObjectCall):
    """Put a mark beside the log, where none is."""

    needs: ClassVar = ("s3:PutObject",)
    operation = "s3:PutObject"
    says = "Puts a mark beside the log."
    condition = "If-None-Match: *"

    def send(self, sending: Sending) -> Answer:
        sending.write(lambda: sending.lake.s3.put(self.bucket, "mark", b"x"))
        return done("The mark was put.")


def plan_mark(table: TableUnderRepair, finding: Finding) -> Draft:
    return Draft("Mark the table", (Mark(table.place.bucket),), ("Nobody minds.",))


@pytest.fixture
def marking(monkeypatch: pytest.MonkeyPatch) -> None:
    repair = Repair(
        "mark-table",
        "Mark version {version}",
        "Puts a mark, and does no harm.",
        {"C2": plan_mark},
        many=Many("mark-table", "Mark all", "Puts a mark on each.", ("C2",)),
    )
    possible = planning._possible

    def naming(table: TableUnderRepair, finding: Finding) -> Finding:
        """Findings name the repairs that may mend them."""
        named = (*finding.repairs, repair.name) if finding.code == "C2" else finding.repairs
        return possible(table, replace(finding, repairs=named))

    monkeypatch.setattr(planning, "_possible", naming)
    monkeypatch.setitem(REPAIRS, repair.name, repair)


def test_it_is_offered_on_the_page_of_a_table_and_of_many(console: Console, marking: None) -> None:
    table = console.pending()
    page = body(signed_in(Role.OPERATOR).get(f"/tables/{table.pk}/"))

    assert "Mark version 3" in page
    assert "Puts a mark, and does no harm." in page
    assert "Mark all" in body(signed_in(Role.OPERATOR).get("/tables/repairs/mark-table/"))


def test_it_is_planned_carried_out_and_recorded(console: Console, marking: None) -> None:
    table = console.pending()
    plan = console.plan(table, "mark-table")
    job = console.run(console.repair(table, plan))

    assert plan["permissions"] == [f"s3:PutObject on arn:aws:s3:::{console.lake.bucket}/*"]
    assert console.bytes_of("mark") == b"x"
    assert job.error_code == "StillWrong"  # it mends nothing, and the proof afterwards says so
    entry = AuditEntry.objects.filter(job_id=job.pk, outcome="failed").get()
    assert entry.after["calls"][0]["sentence"] == "The mark was put."


def test_the_command_prints_it(console: Console, marking: None) -> None:
    table = console.pending()
    document = levee_repair(table)

    [plan] = [one for one in document["plans"] if one["kind"] == "mark-table"]
    assert plan["calls"][0]["says"] == "Puts a mark beside the log."
    assert console.planned(table).state == JobState.SUCCEEDED
