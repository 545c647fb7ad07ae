"""`levee store` and `levee bucket` with an action: the plan, nothing without --apply, and their exit codes."""

from typing import Any

import pytest

from dashboard.commands import UsageError
from dashboard.jobs.models import Job
from tests.builders.lake import make_store, store_facts
from tests.coordinator.settings.settings_console import SettingsConsole
from tests.json_types import printed, said

pytestmark = pytest.mark.django_db


def test_a_store_is_created_only_with_apply(console: SettingsConsole) -> None:
    name = f"fresh-{console.lake.bucket}"
    words = ("store", name, "create", "--read", "5", "--write", "5", "--tag", "team=lake", "--no-recovery")

    planned = printed(*words)

    assert planned["job"] is None
    assert planned["plan"]["equivalents"]["aws_cli"]
    assert name not in console.lake.dynamodb.list_tables()["TableNames"]
    assert printed(*words, "--apply")["job"]["state"] == "succeeded"
    assert console.described(name)["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert console.store(name)


def test_the_plan_reads_as_text_with_deltas_own_beside_it(console: SettingsConsole) -> None:
    told = said("store", f"fresh-{console.lake.bucket}", "create")

    assert "Deletion protection: On (Delta would have made: Off)" in told
    assert "aws dynamodb create-table" in told
    assert told.rstrip().endswith("Nothing was changed. --apply carries it out.")


def test_a_move_of_ttl_is_shown_and_stopped(console: SettingsConsole) -> None:
    name = console.with_ttl("commitTime")
    printed("store", name, "migrate-ttl", "--apply")

    assert printed("store", name)["ttl"]["migration"]["phase"] == "disabling"
    assert printed("store", name, "stop-migration") == {"phase": "disabling", "stopped": False}
    assert printed("store", name, "stop-migration", "--apply")["stopped"] is True
    assert printed("store", name)["ttl"]["migration"] is None


def test_a_danger_needs_the_name(console: SettingsConsole) -> None:
    name = console.lake.log_store
    printed("store", name, "recovery", "--on", "--apply")

    with pytest.raises(UsageError, match=f"--confirm {name}"):
        printed("store", name, "recovery", "--off", "--apply")

    assert printed("store", name, "recovery", "--off", "--apply", "--confirm", name)["job"]["state"] == "succeeded"


def test_enqueue_hands_the_change_to_the_workers(console: SettingsConsole) -> None:
    name = console.lake.log_store

    done = printed("store", name, "protect", "--on", "--apply", "--enqueue")

    assert done["job"]["state"] == "queued"
    assert Job.objects.get(pk=done["job"]["id"]).kind == "change-store"
    with pytest.raises(UsageError, match="goes with --apply"):
        printed("store", name, "protect", "--on", "--enqueue")


def test_a_rule_on_temp_files_is_set_and_removed_by_its_prefix(ready: SettingsConsole) -> None:
    words = ("bucket", ready.lake.bucket, "tmp-rule", "--prefix", "sales/orders")

    with pytest.raises(UsageError, match=f"last copy of the commit and goes as well. Add --confirm {words[1]}"):
        printed(*words, "--apply")
    assert ready.rules() == []
    assert printed(*words, "--apply", "--confirm", words[1])["job"]["state"] == "succeeded"
    assert ready.rules()[0]["Expiration"]["Days"] == 3
    assert printed("bucket", ready.lake.bucket)["lifecycle"]["rules"][0]["is_temp_rule"] is True
    assert printed(*words, "--remove", "--apply")["job"]["state"] == "succeeded"
    assert ready.rules() == []


def test_a_rule_without_its_last_slash_is_found_by_the_tables_prefix(console: SettingsConsole) -> None:
    console.lake.table("sales/orders", 3, log_store=True)
    official = {"ID": "theirs", "Status": "Enabled", "Filter": {"Prefix": "sales/orders/_delta_log/.tmp"}}
    console.give_rules({**official, "Expiration": {"Days": 3}})
    console.observe()

    document = printed("bucket", console.lake.bucket, "tmp-rule", "--prefix", "sales/orders", "--remove", "--apply")

    assert document["job"]["state"] == "succeeded"
    assert console.rules() == []


def test_uploads_and_sweeps_are_planned(ready: SettingsConsole) -> None:
    assert printed("bucket", ready.lake.bucket, "multipart-rule", "--apply")["job"]["state"] == "succeeded"
    assert ready.rules()[0]["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"] == 7
    assert printed("bucket", ready.lake.bucket, "sweep", "--days", "2")["refusal"]["why"] == "nothing-to-do"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("store", "{store}", "capacity"),
        ("store", "{store}", "capacity", "--read", "0", "--write", "5"),
        ("store", "{store}", "capacity", "--on-demand", "--read", "5"),
        ("store", "{store}", "protect"),
        ("store", "x", "create"),
        ("store", "fresh_log", "create", "--tag", "nonsense"),
        ("bucket", "{bucket}", "tmp-rule"),
        ("bucket", "{bucket}", "tmp-rule", "--remove"),
        ("bucket", "{bucket}", "tmp-rule", "--remove", "--prefix", "nowhere"),
        ("bucket", "{bucket}", "sweep", "--before", "yesterday"),
        ("bucket", "{bucket}", "sweep", "--days", "-1"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(ready: SettingsConsole, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        printed(*(word.format(store=ready.lake.log_store, bucket=ready.lake.bucket) for word in words))


@pytest.mark.slow
def test_permissions_prints_policies_and_checks_them(console: SettingsConsole) -> None:
    assert f'table/{console.lake.log_store}"' in said("permissions")

    checked = printed("permissions", "--check")

    assert {one["held"] for one in checked["permissions"]} <= {"yes", "unknown"}
    assert checked["features"][0]["lines"]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, ["Items Not known", "throttled is not known", "TTL Not known", "Deletion protection Not known"]),
        (
            store_facts(item_count=0, load={"read_throttles": 0, "write_throttles": 7}),
            ["Items None counted yet", "0 reads and 7 writes were throttled", "Capacity On-demand"],
        ),
    ],
)
def test_a_store_reads_as_its_page_does_and_what_is_not_known_is_no_number(
    facts: dict[str, Any], words: list[str]
) -> None:
    told = " ".join(said("store", make_store(facts=facts).name).split())
    assert [one for one in words if one not in told] == []
    assert "_" not in told.replace("delta_log", "")
