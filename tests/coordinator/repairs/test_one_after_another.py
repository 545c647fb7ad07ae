"""Repairs made one after another: what one of them leaves behind must not prove too much to the next."""

import time

import pytest

from coordinator.models import CommitStore, DeltaTable
from tests.builders.delta import UUID, add, commit_bytes, commit_info, first_commit_bytes
from tests.coordinator.repairs.console import Console

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("young_count_as_old")]
ROOT = "sales/orders"
LOG = f"{ROOT}/_delta_log/"
RIVAL = f".tmp/{2:020d}.json.rival"


def body(version: int, more: str = "") -> bytes:
    return commit_bytes(commit_info(), add(f"part-{version}{more}.parquet"))


def live(console: Console, *versions: int, store: str = "", **changes: dict[str, str]) -> None:
    """Entries that live for a day from now on."""
    for version in versions:
        expires = {"N": str(int(time.time()) + 86_400)}
        console.lake.entry(ROOT, version, store=store, expireTime=expires, **changes)


def written(console: Console, commits: int = 4) -> None:
    """A log store's table whose versions above 0 have their temp files."""
    console.lake.table(ROOT, 1)
    for version in range(1, commits):
        console.lake.put(f"{LOG}.tmp/{version:020d}.json.{UUID}", body(version))
        console.lake.commit(ROOT, version, body(version))
    live(console, *range(commits))


def accepted_twice(console: Console) -> DeltaTable:
    """Two stores have accepted two commits 2, and the second one's entry has gone: only its temp file is left."""
    written(console)
    second = console.lake.second_log_store()
    CommitStore.objects.create(connection=console.connection, name=second, kind="log_store")
    console.lake.put(LOG + RIVAL, body(2, "-rival"))
    live(console, 2, store=second, tempPath={"S": RIVAL})
    console.observe()
    console.lake.drop_entries(ROOT, 2, store=second)
    return console.observed(ROOT)


def removals(console: Console, table: DeltaTable) -> list[str]:
    """What may be deleted on nobody's word, as the calls say it."""
    plans = console.planned(table).result["plans"]
    return [call["says"] for plan in plans if not plan["danger"] for call in plan["calls"] if "elete" in call["says"]]


def test_a_republished_file_frees_no_commit_that_another_store_accepted(console: Console) -> None:
    table = accepted_twice(console)
    console.lake.delete(f"{LOG}{3:020d}.json")
    console.observed(ROOT)

    repaired = console.run(console.repair(table, console.plan(table, "republish-file")))

    assert (repaired.state, repaired.error_text) == ("succeeded", "")
    assert len(console.observed(ROOT).domains) == 2
    assert removals(console, table) == []


def test_a_newest_file_put_again_frees_no_commit_that_another_store_accepted(console: Console) -> None:
    table = accepted_twice(console)
    console.lake.put_in_parts(f"{LOG}{3:020d}.json", body(3))

    assert len(console.observed(ROOT).domains) == 2
    assert removals(console, table) == []


def test_a_table_made_again_is_not_given_the_commits_of_the_one_before_on_nobodys_word(console: Console) -> None:
    written(console)
    console.observe()
    for version in range(4):
        console.lake.delete(f"{LOG}{version:020d}.json")
    console.lake.drop_entries(ROOT, 0, 1)
    time.sleep(1.1)  # S3 tells times by the second.
    console.lake.commit(ROOT, 0, first_commit_bytes(table_id="another"))
    console.lake.commit(ROOT, 1, body(1, "-new"))
    live(console, 0, 1, tempPath={"S": f".tmp/{1:020d}.json.new"})
    console.observe()

    plan = console.plan(console.observed(ROOT), "republish-file")

    assert (plan["version"], plan["can_lose"]) == (3, True)
    assert "may be of a table that was dropped here before" in plan["danger"]
