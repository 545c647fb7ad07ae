"""Which path a registration that is made again gets: what shows it, what does not decide it, and how one chooses."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from changes.plan import ChangePlan, Refusal
from coordinator.models import DeltaTable
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.fresh import with_known_paths
from coordinator.repairs.planning import plan_repairs
from coordinator.repairs.spelling import Spelling, spelling_of
from coordinator.repairs.table_under_repair import TableUnderRepair
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job, JobState
from lake.delta.facts import LockDomain
from lake.delta.uri import TableUri
from tests.builders.delta import UUID, registration_item
from tests.builders.facts import URI, coordinated_facts, entry, listing, registration
from tests.builders.people import signed_in
from tests.coordinator.repairs.console import Console
from tests.coordinator.repairs.pages import body, confirm, confirm_page, fields
from tests.coordinator.repairs.states import lost_item, repair_facts

ROOT = "ops/telemetry"
OTHERS = ("s3://lake/customers", "s3://lake/returns")
S3 = "s3://lake/orders"
DELTA_RS = "_commit_5f0c3d2a-31b2-4c44-9c3e-0d8f4e1f6a55.json.tmp"


def lost(**known: Any) -> RepairFacts:
    """A table whose registration is lost (K8), and what else is known of its path."""
    return replace(repair_facts(lost_item()), **{"registered_path": "", **known})


def with_items(*items: Any, **known: Any) -> RepairFacts:
    facts = coordinated_facts(listing(), *items)
    assert facts.protocol
    given = repair_facts(replace(facts, protocol=replace(facts.protocol, version=3)))
    return replace(given, **{"registered_path": "", **known})


def with_entries(*paths: str, **entry_fields: Any) -> RepairFacts:
    facts = coordinated_facts(listing(), entries=[entry(1, path=path, **entry_fields) for path in paths])
    assert facts.protocol
    return replace(repair_facts(replace(facts, protocol=replace(facts.protocol, version=3))), registered_path="")


def spelled(given: RepairFacts) -> Spelling:
    return spelling_of(TableUnderRepair(given))


def outcome(given: RepairFacts) -> ChangePlan | Refusal:
    return next(one for one in plan_repairs(given) if one.kind == "re-register")


SHOWN = {
    "the lost item as last read": (lost(registered_path=S3, sibling_paths=(URI,)), "when Levee last read it"),
    "another registration": (with_items(registration(1, table_id="old", path=S3, accepting=False)), "Another"),
    "entries": (with_entries(S3), "Entries of this table in delta_log have it."),
    "entries of before": (lost(lock_domains=(LockDomain("delta_log", S3),)), "Entries of this table in delta_log"),
    "Levee's own act": (lost(enabled_as=S3), "Levee gave it to Spark"),
    "the coordinator's other tables": (lost(sibling_paths=OTHERS), "2 other registrations in commits have its scheme"),
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
    "siblings of two schemes": (lost(sibling_paths=(*OTHERS, URI)), "Nothing that was read shows the scheme"),
    "siblings that are no paths": (lost(sibling_paths=("elsewhere", "")), "Nothing that was read shows the scheme"),
    "entries under two": (with_entries(S3, URI), f"Entries of this table in delta_log spell the path {S3} and {URI}."),
    "two registrations": (
        with_items(
            registration(1, table_id="a", path=S3, accepting=False),
            registration(2, table_id="b", accepting=False),
            sibling_paths=OTHERS,
        ),
        "Other registrations of this table spell the path",
    ),
    "entries of delta-rs": (with_entries(S3, temp=DELTA_RS), "Nothing that was read shows the scheme"),
    "another table's path": (lost(enabled_as="s3://lake/elsewhere"), "Nothing that was read shows the scheme"),
}


@pytest.mark.parametrize(("given", "because"), UNDECIDED.values(), ids=UNDECIDED.keys())
def test_where_nothing_decides_it_nothing_is_written_and_a_choice_is_asked_for(given, because):
    refusal = outcome(given)

    assert isinstance(refusal, Refusal), refusal
    assert because in refusal.reason
    assert refusal.reason.endswith("refuses writers under another scheme: choose one.")
    assert refusal.asks == "path-scheme"


def test_a_stronger_witness_is_not_outvoted():
    assert spelled(with_items(registration(1, table_id="a", accepting=False), sibling_paths=OTHERS)).path == URI


def test_a_slash_at_the_end_of_an_entrys_path_is_none_of_a_registration():
    assert spelled(with_entries(f"{S3}/")).path == S3


def test_another_path_is_another_plan():
    plans = [outcome(lost(path_scheme=scheme)) for scheme in ("s3", "s3a")]

    assert len({plan.digest for plan in plans if isinstance(plan, ChangePlan)}) == 2


def test_another_reason_to_refuse_comes_before_the_choice():
    refusal = outcome(replace(lost(), coordinator=""))

    assert isinstance(refusal, Refusal)
    assert refusal.asks == ""


# On the lake


@pytest.fixture
def gone(console: Console) -> Any:
    """A table of two commits whose registration has gone; what Levee knew of it is forgotten."""
    table = console.coordinated(ROOT, published=2, waiting=0)
    console.lake.dynamodb.delete_item(TableName=f"commits-{console.lake.bucket}", Key={"tableId": {"S": UUID}})
    DeltaTable.objects.filter(pk=table.pk).update(registered={})
    return console.observed(ROOT)


def item(console: Console) -> dict[str, Any]:
    store = f"commits-{console.lake.bucket}"
    return dict(console.lake.dynamodb.get_item(TableName=store, Key={"tableId": {"S": UUID}}).get("Item", {}))


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_the_path_of_the_lost_item_is_remembered_and_put_back(console: Console, scheme: str) -> None:
    table = console.coordinated(ROOT, published=2, waiting=0)
    store, path = f"commits-{console.lake.bucket}", f"{scheme}://{console.lake.bucket}/{ROOT}"
    console.lake.dynamodb.put_item(TableName=store, Item=registration_item(1, path={"S": path}))
    console.observed(ROOT)
    console.lake.dynamodb.delete_item(TableName=store, Key={"tableId": {"S": UUID}})
    table = console.observed(ROOT)

    plan = next(one for one in console.planned(table).result["plans"] if one["kind"] == "re-register")
    job = console.run(console.repair(table, plan))

    assert job.state == JobState.SUCCEEDED, job.error_text
    assert item(console)["path"] == {"S": path}


@pytest.mark.django_db
def test_a_path_remembered_of_another_registration_is_not_this_ones(console: Console, gone: Any) -> None:
    gone.registered = {"table_id": "another", "path": f"s3://{console.lake.bucket}/{ROOT}"}
    gone.save()

    assert [one["kind"] for one in console.planned(gone).result["plans"]] == []


@pytest.mark.django_db
def test_the_place_that_levee_enabled_is_known_from_its_job(console: Console, gone: Any) -> None:
    path = f"s3://{console.lake.bucket}/{ROOT}"
    store = f"commits-{console.lake.bucket}"
    for location, result in (("s3a", {"before": {}}), ("s3", {"before": {}}), ("s3n", {})):
        checked = {"operation": "enable", "location": f"{location}://{console.lake.bucket}/{ROOT}", "store": store}
        Job.objects.create(
            kind="enable-coordinated-commits", state="failed", title="Enable", queue="spark",
            connection=console.connection, target_label=gone.uri, result={"preflight": checked, **result},
        )  # fmt: skip
    facts = RepairFacts(lost_item(), repair_facts(lost_item()).verdict, coordinator=f"commits-{console.lake.bucket}")

    known = with_known_paths(console.connection, TableUri.parse(gone.uri), facts)

    assert known.enabled_as == path


@pytest.mark.slow
@pytest.mark.django_db
def test_the_page_asks_for_the_scheme_and_repairs_with_the_one_chosen(console: Console, gone: Any) -> None:
    client = signed_in(Role.OPERATOR)
    asked = {"repair": "re-register", "code": "K8", "version": ""}
    html = body(client.get(confirm_page(client, console, gone, asked)))
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
    assert item(console)["path"] == {"S": path}
    assert fields(body(client.get(planned)), f"/tables/{gone.pk}/repairs/")["path_scheme"] == "s3"


@pytest.mark.django_db
def test_a_scheme_that_is_none_is_as_good_as_not_chosen(console: Console, gone: Any) -> None:
    signed_in(Role.OPERATOR).post(
        f"/tables/{gone.pk}/repairs/", {"repair": "re-register", "code": "K8", "path_scheme": "hdfs"}
    )

    assert Job.objects.filter(kind="plan-repair").latest("created_at").params["path_scheme"] == ""


@pytest.mark.django_db
def test_a_viewer_cannot_choose(console: Console, gone: Any) -> None:
    console.planned(gone)
    job = Job.objects.filter(kind="plan-repair").latest("created_at")

    address = f"/tables/{gone.pk}/repairs/{job.pk}/?repair=re-register&code=K8"
    html = body(signed_in(Role.VIEWER).get(address))

    assert 'name="path_scheme" value="s3" required disabled' in html


def repair(uri: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("repair", uri, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.django_db
def test_the_command_says_how_to_choose_and_repairs_with_the_choice(console: Console, gone: Any) -> None:
    said = repair(gone.uri, finding="K8")
    assert "--path-scheme s3a, s3 or s3n chooses it." in said
    assert json.loads(repair(gone.uri, finding="K8", json=True, apply=True))["jobs"] == []

    document = json.loads(repair(gone.uri, finding="K8", path_scheme="s3", json=True, apply=True))

    assert [job["state"] for job in document["jobs"]] == ["succeeded"]
    assert item(console)["path"] == {"S": f"s3://{console.lake.bucket}/{ROOT}"}


@pytest.mark.django_db
def test_the_command_takes_no_other_scheme(gone: Any) -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("repair", gone.uri, "--path-scheme", "hdfs")
