"""Which path a registration that is made again gets: what shows it, what does not decide it, and how one chooses."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from changes.plan import ChangePlan, Refusal
from coordinator.models import DeltaTable
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.fresh import with_known_paths
from coordinator.repairs.planning import plan_repairs
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job, JobState
from lake.delta.facts import LockDomain, LogStoreEntry
from lake.delta.uri import TableUri
from tests.builders.delta import UUID, registration_item
from tests.builders.facts import URI, entry, registration
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import body, confirm, confirm_page, fields
from tests.coordinator.repairs.states import lost_item, repair_facts
from tests.json_types import printed, said

ROOT = "ops/telemetry"
S3 = "s3://lake/orders"
OLD = registration(1, table_id="old", accepting=False)
DELTA_RS = "_commit_5f0c3d2a-31b2-4c44-9c3e-0d8f4e1f6a55.json.tmp"


def lost(*others: Any, entries: Iterable[LogStoreEntry] = (), **known: Any) -> RepairFacts:
    """A table whose registration is lost (K8), other items of it, and what else is known of its path."""
    return replace(repair_facts(lost_item(*others, entries=entries)), **{"registered_path": "", **known})


def with_entries(*paths: str, **entry_fields: Any) -> RepairFacts:
    return lost(entries=[entry(1, path=path, **entry_fields) for path in paths])


def outcome(given: RepairFacts) -> ChangePlan | Refusal:
    return next(one for one in plan_repairs(given) if one.kind == "re-register")


SHOWN = {
    "the lost item as last read": (lost(OLD, registered_path=S3), "The lost item had it"),
    "another registration": (lost(replace(OLD, path=S3)), "Other registrations of this table had it"),
    "entries": (with_entries(S3), "Entries of this table in delta_log had it"),
    "entries under a slash": (with_entries(f"{S3}/"), "Entries of this table in delta_log had it"),
    "entries of before": (lost(lock_domains=(LockDomain("delta_log", S3),)), "Entries of this table in delta_log"),
    "Levee's own act": (lost(enabled_as=S3), "Levee's act that put the table under the coordinator had it"),
    "a choice": (lost(path_scheme="s3", registered_path=URI), "chosen by hand"),
}


@pytest.mark.parametrize(("given", "because"), SHOWN.values(), ids=SHOWN.keys())
def test_a_registration_made_again_is_spelled_as_its_witness_shows(given, because):
    plan = outcome(given)

    assert isinstance(plan, ChangePlan), plan
    assert plan.calls[-1].item["path"] == {"S": S3}
    assert any(f"Its path is {S3}." in one and because in one for one in plan.consequences)
    assert plan.asks == "path-scheme"


UNDECIDED = {
    "nothing": (lost(), "Nothing that was read shows the scheme"),
    "entries under two": (with_entries(S3, URI), f"Entries of this table in delta_log spell the path {S3} and {URI}."),
    "two registrations": (
        lost(replace(OLD, path=S3), registration(2, table_id="b", accepting=False)),
        "Other registrations of this table spell the path",
    ),
    "entries of delta-rs": (with_entries(S3, temp=DELTA_RS), "Nothing that was read shows the scheme"),
    "another table's path": (lost(registered_path="s3://lake/elsewhere"), "Nothing that was read shows the scheme"),
}


@pytest.mark.parametrize(("given", "because"), UNDECIDED.values(), ids=UNDECIDED.keys())
def test_where_nothing_decides_it_nothing_is_written_and_a_choice_is_asked_for(given, because):
    refusal = outcome(given)

    assert isinstance(refusal, Refusal), refusal
    assert because in refusal.reason
    assert refusal.reason.endswith("refuses writers under another scheme: choose one.")
    assert refusal.asks == "path-scheme"


# On the lake


@pytest.fixture
def gone(console: Console) -> Any:
    """A table of two commits whose registration has gone; what Levee knew of it is forgotten."""
    table = console.coordinated(ROOT, published=2, waiting=0)
    console.lose_registration()
    DeltaTable.objects.filter(pk=table.pk).update(registered={})
    return console.observed(ROOT)


@pytest.mark.django_db
def test_the_path_of_the_lost_item_is_remembered_and_put_back(console: Console) -> None:
    console.coordinated(ROOT, published=2, waiting=0)
    path = f"s3://{console.lake.bucket}/{ROOT}"
    console.lake.dynamodb.put_item(TableName=console.registry, Item=registration_item(1, path={"S": path}))
    console.observed(ROOT)
    console.lose_registration()
    table = console.observed(ROOT)
    plan = console.plan(table, "re-register")
    DeltaTable.objects.update(registered={"table_id": "another", "path": path})
    assert console.planned(table).result["plans"] == []
    DeltaTable.objects.update(registered={"table_id": UUID, "path": path})

    job = console.run(console.repair(table, plan))

    assert (job.state, console.registrations()[0]["path"]) == (JobState.SUCCEEDED, {"S": path})


@pytest.mark.django_db
def test_the_place_that_levee_enabled_is_known_from_its_job(console: Console, gone: Any) -> None:
    """The newest act counts that got beyond its checks."""
    store = console.registry
    for scheme, result in (("s3a", {"before": {}}), ("s3", {"before": {}}), ("s3n", {})):
        checked = {"operation": "enable", "location": f"{scheme}://{console.lake.bucket}/{ROOT}", "store": store}
        Job.objects.create(
            kind="enable-coordinated-commits", state="failed", title="Enable", queue="spark",
            connection=console.connection, target_label=gone.uri, result={"preflight": checked, **result},
        )  # fmt: skip
    facts = RepairFacts(lost_item(), repair_facts(lost_item()).verdict, coordinator=store)

    known = with_known_paths(console.connection, TableUri.parse(gone.uri), facts)

    assert known.enabled_as == f"s3://{console.lake.bucket}/{ROOT}"


@pytest.mark.django_db
def test_the_page_asks_for_the_scheme_and_repairs_with_the_one_chosen(console: Console, gone: Any) -> None:
    client = signed_in(Role.OPERATOR)
    asked = {"repair": "re-register", "code": "K8", "version": ""}
    address = confirm_page(client, console, gone, asked)
    html = body(client.get(address))
    assert 'name="path_scheme" value="s3" required disabled' in body(signed_in(Role.VIEWER).get(address))
    assert "One thing has to be chosen first." in html
    path = f"s3://{console.lake.bucket}/{ROOT}"
    assert f'value="s3" required><span><code>{path}</code>' in html

    planned = confirm_page(client, console, gone, {**asked, "path_scheme": "s3"})
    html = body(client.get(planned))
    assert f"Its path is {path}. Its scheme was chosen by hand." in html
    assert "--path-scheme s3" in html
    job = Job.objects.get(pk=confirm(client, planned)["Location"].strip("/").rpartition("/")[2])
    console.run(job)

    assert job.params["path_scheme"] == "s3"
    assert console.registrations()[0]["path"] == {"S": path}
    assert fields(body(client.get(planned)), f"/tables/{gone.pk}/repairs/")["path_scheme"] == "s3"


@pytest.mark.django_db
def test_the_command_says_how_to_choose_and_repairs_with_the_choice(console: Console, gone: Any) -> None:
    assert "--path-scheme s3a, s3 or s3n chooses it." in said("repair", gone.uri, finding="K8")
    document = printed("repair", gone.uri, finding="K8", path_scheme="s3", apply=True)

    assert [job["state"] for job in document["jobs"]] == ["succeeded"]
    assert console.registrations()[0]["path"] == {"S": f"s3://{console.lake.bucket}/{ROOT}"}
