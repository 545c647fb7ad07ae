"""Pages of settings: what a plan shows, what confirming does, what they refuse."""

import re
from typing import Any

import pytest
from django.test import Client

from coordinator.models import CommitStore
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.models import Job
from tests.builders.lake import make_store
from tests.builders.people import signed_in
from tests.coordinator.repairs.pages import body, confirm, plan_page
from tests.coordinator.settings.settings_console import SettingsConsole

pytestmark = pytest.mark.django_db
PROVISIONED = {"act": "change-capacity", "billing": "provisioned", "read": "25", "write": "30"}
TEMP_RULE = {"act": "set-temp-rule", "prefix": "sales/orders", "days": "3"}


def carried_out(console: SettingsConsole, answer: Any) -> Job:
    """The job that a confirmation led to, run."""
    assert answer.status_code == 303, body(answer)
    job = console.run(Job.objects.latest("created_at"))
    assert job.state == "succeeded", job.error_text
    return job


def change_address(thing: Any) -> str:
    return f"/stores/{thing.pk}/change/" if isinstance(thing, CommitStore) else f"/buckets/{thing.pk}/change/"


# Plans and confirming


def test_a_change_of_capacity_is_planned_shown_and_made(client: Client, console: SettingsConsole) -> None:
    store = console.store()

    address = plan_page(client, console, change_address(store), PROVISIONED)
    html = body(client.get(address))

    assert "dynamodb:UpdateTable" in html
    for tool in ("AWS CLI", "Terraform"):
        assert f"<summary>{tool}</summary>" in html
    assert f"levee store {store.name} capacity --read 25 --write 30" in html
    carried_out(console, confirm(client, address, reason="More writers"))
    assert console.described()["ProvisionedThroughput"]["WriteCapacityUnits"] == 30
    assert "Confirmed before" in body(client.get(address))


def test_a_new_store_is_shown_beside_deltas_own_and_made(client: Client, console: SettingsConsole) -> None:
    html = body(client.get("/stores/new/"))
    assert "Provisioned with 5 read and 5 write units a second" in html
    name = f"fresh-{console.lake.bucket}"
    asked = {"kind": "log_store", "name": name, "billing": "on_demand", "protection": "yes", "ttl": "yes"}

    address = plan_page(client, console, "/stores/new/", asked | {"tags": "team=lake\nstage = prod"})

    assert "stage=prod" in body(client.get(address))
    carried_out(console, confirm(client, address))
    assert console.store(name).kind == "log_store"
    assert console.ttl(name)["AttributeName"] == "expireTime"


def test_a_rule_is_added_changed_and_removed_and_the_page_says_that_no_other_is_touched(
    console: SettingsConsole,
) -> None:
    client = signed_in(Role.ADMIN)
    console.lake.table("sales/orders", 3, log_store=True)
    other = {"ID": "other", "Status": "Enabled", "Filter": {"Prefix": "exports/"}, "Expiration": {"Days": 30}}
    console.give_rules(other)
    console.observe()
    bucket = console.bucket_row()

    address = plan_page(client, console, change_address(bucket), TEMP_RULE)
    html = body(client.get(address))
    for said in ("Added</span>", "<code>other</code>", "As it is"):
        assert said in html
    carried_out(console, confirm(client, address, confirm=bucket.name))
    chosen = {"prefix": " ", "table": "sales/orders", "days": "9"}  # by the list of tables
    longer = plan_page(client, console, change_address(bucket), TEMP_RULE | chosen)
    assert "Changed</span>" in body(client.get(longer))
    carried_out(console, confirm(client, longer, confirm=bucket.name))
    own = next(rule["ID"] for rule in console.rules() if rule["ID"] != "other")
    gone = plan_page(client, console, change_address(bucket), {"act": "remove-temp-rule", "rule": own})
    assert "Removed</span>" in body(client.get(gone))
    carried_out(console, confirm(client, gone))

    assert [rule["ID"] for rule in console.rules()] == ["other"]


def test_a_refusal_says_why_and_has_no_button(client: Client, console: SettingsConsole) -> None:
    console.pending()

    html = body(client.get(plan_page(client, console, change_address(console.bucket_row()), TEMP_RULE | {"days": "1"})))

    assert "This must not be done now." in html
    assert "longer than the longest commit" in html
    assert "<h2>Confirm" not in html


def test_what_is_no_number_is_said_and_plans_nothing(client: Client) -> None:
    for asked in ({"billing": "provisioned", "read": "x", "write": "5"}, {"billing": ""}, {"act": "nonsense"}):
        answer = client.post(change_address(make_store(f"s{asked.get('read', asked)}"[:20])), PROVISIONED | asked)
        assert answer.status_code == 422
        assert "Change of the store" in body(answer).partition("</h1>")[0]
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"), [("name", "a"), ("tags", "no equals sign"), ("read", "0"), ("billing", "free")]
)
def test_a_wrong_field_of_a_new_store_is_said_and_what_was_typed_stays(
    client: Client, console: SettingsConsole, field: str, value: str
) -> None:
    asked = {"kind": "log_store", "name": "fresh_log", "billing": "provisioned", "read": "5", "write": "5"}

    answer = client.post("/stores/new/", asked | {field: value})

    assert answer.status_code == 422
    assert 'role="alert"' in body(answer)
    assert not Job.objects.exists()


# Who may, and where nothing may be changed


def test_an_admin_switches_a_connection_to_read_only_and_it_is_in_the_audit_log(console: SettingsConsole) -> None:
    address = f"/connections/{console.connection.pk}/"

    assert signed_in(Role.OPERATOR).post(f"{address}read-only/", {"read_only": "yes"}).status_code == 403
    assert signed_in(Role.ADMIN).post(f"{address}read-only/", {"read_only": "yes"}).status_code == 303

    console.connection.refresh_from_db()
    assert console.connection.read_only
    assert AuditEntry.objects.filter(action="connection.read-only", outcome="done").count() == 1


@pytest.mark.slow
def test_a_connection_shows_a_policy_for_each_feature_and_one_tick_for_each_permission(
    client: Client, console: SettingsConsole
) -> None:
    address = f"/connections/{console.connection.pk}/"
    assert f"table/{console.lake.log_store}" in body(client.get(address))

    assert client.post(f"{address}check/").status_code == 303
    checked = console.run(Job.objects.filter(kind="check-permissions").latest("created_at"))

    assert checked.state == "succeeded", checked.error_text
    html = body(client.get(address))
    assert len(re.findall(r"<li class=\"(?:ok|crit|idle)\">", html)) == len(checked.result["permissions"])
    assert "<code>dynamodb:Query</code>" in html


# The move of TTL


def test_the_place_of_a_move_is_shown_live_and_it_can_be_stopped(client: Client, console: SettingsConsole) -> None:
    store = console.store(console.with_ttl("commitTime"))
    page = f"/stores/{store.pk}/ttl/"
    plan = plan_page(client, console, change_address(store), {"act": "migrate-ttl"})
    assert re.search(r"be sent</h2><p>\s*2 calls, up to an hour apart", body(client.get(plan)))
    job = carried_out(console, confirm(client, plan))

    html = body(client.get(page))

    assert f'hx-get="{page}" hx-trigger="every 10s"' in html
    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in html
    assert "Running: </span>Switch TTL off" in html
    told = body(client.get(f"/jobs/{job.pk}/"))
    assert "Under way" in told
    assert "Succeeded" not in told
    assert f'<a href="{page}">See where it is</a>' in told
    assert "TTL is being moved to expireTime." in body(client.get(f"/stores/{store.pk}/"))
    assert signed_in(Role.VIEWER).post(f"{page}stop/").status_code == 403
    assert client.post(f"{page}stop/").status_code == 303
    stopped = body(client.get(page))
    assert "<b>Cancelled</b>" in stopped
    assert "every 10s" not in stopped
    assert "TTL is being moved" not in body(client.get(f"/stores/{store.pk}/"))
