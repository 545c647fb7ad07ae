"""The last copy of an accepted commit on S3 and DynamoDB: what is said of it, and what it takes to delete it."""

import time
from typing import Any

import pytest

from coordinator.models import DeltaTable, TableFinding
from dashboard.accounts.roles import Role
from dashboard.jobs.models import Job
from tests.builders.delta import EPOCH_MS, UUID, add, commit_bytes, commit_info, crc_bytes, metadata, protocol
from tests.builders.people import actor
from tests.coordinator.observation.accepted_and_lost import ORDERS, accept, coordinated, log
from tests.coordinator.repairs.console import Console, commit_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("young_count_as_old")]
ROOT = "ops/telemetry"
LOG = f"{ROOT}/_delta_log"
PUBLISHED = f"{LOG}/{2:020d}.json"
STAGED = f"{LOG}/_staged_commits/{2:020d}.{UUID}.json"
RIVAL = f"{LOG}/_staged_commits/{2:020d}.rival.json"


def plan_of(console: Console, table: DeltaTable) -> dict[str, Any]:
    return console.plan(table, "remove-orphans")


def open_codes(table: DeltaTable) -> set[str]:
    return set(TableFinding.objects.filter(table=table, resolved_at=None).values_list("code", flat=True))


def test_a_replaced_published_file_is_unsafe_and_no_staged_file_goes(console: Console) -> None:
    table = console.contended()
    console.lake.put_in_parts(PUBLISHED, commit_of("others!"))
    console.observed(ROOT)
    table.refresh_from_db()
    planned: Job = console.planned(table)

    assert (table.state, "bytes-differ" in open_codes(table)) == ("unsafe", True)
    assert not any(plan["kind"] == "remove-orphans" for plan in planned.result["plans"])
    assert any("may be the last copy of the accepted commit" in one["reason"] for one in planned.result["refusals"])


def test_a_losers_file_is_deleted_where_the_checksum_tells_it_from_the_winners(console: Console) -> None:
    table = console.contended()
    console.lake.put(f"{LOG}/{2:020d}.crc", crc_bytes(txnId="winner"))
    console.lake.put(f"{LOG}/_staged_commits/{2:020d}.again.json", commit_of("winner", attempt=2))

    job = console.run(console.repair(table, plan_of(console, table)))

    assert (job.state, job.error_text) == ("succeeded", "")
    assert RIVAL not in console.objects()
    assert {STAGED, f"{LOG}/_staged_commits/{2:020d}.again.json"} <= console.objects()


NEWEST = f"{LOG}/{3:020d}.json"
ACCEPTED = f"{LOG}/_staged_commits/{3:020d}.{UUID}.json"


def newest_of(transaction: str) -> bytes:
    info = commit_info(in_commit_timestamp=EPOCH_MS + 3 + (transaction == "rival"))["commitInfo"]
    return commit_bytes({"commitInfo": {**info, "txnId": transaction}})


def put_back(console: Console) -> DeltaTable:
    """A registration from a backup, at version 2; as version 3 a refused commit was published, by whatever mistake."""
    table = console.contended()
    console.lake.put(ACCEPTED, newest_of("winner"))
    for key in (NEWEST, ACCEPTED.replace(UUID, "rival")):
        console.lake.put(key, newest_of("rival"))
    [item] = console.registrations()
    older = {"tableVersion": {"N": "2"}, "tableTimestamp": {"N": str(EPOCH_MS + 2)}}
    console.lake.dynamodb.put_item(TableName=console.registry, Item={**item, **older})
    return console.observed(table.prefix)


def test_an_item_that_a_repair_makes_speak_for_the_published_file_takes_no_other_file_of_its_version(
    console: Console,
) -> None:
    table = put_back(console)
    plan = console.plan(table, "raise-coordinator-version")

    assert plan["danger"] == "an accepted commit 3: 1 staged file of it may hold it, and not …3.json"
    job = console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    assert (job.state, job.error_text) == ("succeeded", "")
    [kept] = [key for key in console.objects() if f"/_levee_rescue/{plan['rescue_folder']}/_delta_log/" in key]
    assert console.bytes_of(kept) == newest_of("winner")


def test_a_staged_file_that_the_checksum_refuses_is_no_doubt_about_the_published_one(console: Console) -> None:
    table = put_back(console)
    console.lake.put(f"{LOG}/{3:020d}.crc", crc_bytes(txnId="rival"))

    assert console.plan(table, "raise-coordinator-version")["danger"] == ""


def swept(console: Console, root: str = "sales/orders") -> DeltaTable:
    """A log store's table at version 2 with the temp file of version 1; the entry of version 2 alone is left."""
    console.lake.table(root, 3)
    console.lake.entry(root, 2, expireTime={"N": str(int(time.time()) + 86_400)})
    console.lake.put(f"{root}/_delta_log/.tmp/{1:020d}.json.{UUID}", commit_bytes(commit_info(), newline=True))
    return console.observed(root)


def test_a_published_file_replaced_after_its_entry_expired_is_not_called_healthy(console: Console) -> None:
    table = swept(console)
    foreign = commit_bytes(commit_info("WRIT3"), newline=True)
    console.lake.put_in_parts("sales/orders/_delta_log/00000000000000000001.json", foreign)
    console.observed("sales/orders")
    table.refresh_from_db()
    planned: Job = console.planned(table)

    assert table.state not in ("healthy", "pending")
    assert not any("_delta_log/.tmp/" in str(plan) for plan in planned.result["plans"])


def test_the_staged_file_of_an_accepted_downgrade_is_not_deleted_unasked(console: Console) -> None:
    written = console.lake
    downgrade = commit_bytes(commit_info("DROP FEATURE", in_commit_timestamp=EPOCH_MS + 6), metadata(), protocol())
    store, item = coordinated(written, console.connection)
    accept(written, store, item, 6, downgrade, last=True)
    console.observe()
    written.dynamodb.put_item(TableName=store, Item=item)
    console.observe()
    body = commit_bytes(commit_info("WRITE", in_commit_timestamp=EPOCH_MS + 77), add("y"))
    written.put(log(f"_staged_commits/{6:020d}.other.json"), body)
    written.commit(ORDERS, 6, body)
    again = {"tableVersion": {"N": "6"}, "tableTimestamp": {"N": str(EPOCH_MS + 77)}, "commits": {"L": []}}
    written.dynamodb.put_item(TableName=store, Item={**item, **again})
    console.observe()

    plans = console.planned(console.table(ORDERS)).result["plans"]

    assert not [plan for plan in plans if plan["kind"] == "remove-orphans" and not plan["can_lose"]]
