"""The sweep deletes finished temp files and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest

from coordinator.models import CommitStore
from coordinator.upkeep import sweep
from coordinator.upkeep.sweep import FINISHED, judge
from coordinator.upkeep.wishes import Sweep
from dashboard.jobs.models import JobState
from tests.builders.delta import incomplete_item, log_store_item
from tests.coordinator.upkeep.conftest import SWEPT as ROOT
from tests.coordinator.upkeep.conftest import temp_key

PATH = "s3a://b/t"


@pytest.fixture
def lately(young_count_as_old) -> Sweep:
    return Sweep("", (datetime.now(UTC) + timedelta(hours=1)).isoformat())


def wish_of(console, lately, prefix: str = "") -> Sweep:
    return Sweep(console.lake.bucket, lately.before, prefix)


def keys(console) -> set[str]:
    return {key for key, _ in console.state()[0]}


def test_finished_files_go_and_all_else_stays(swept, lately):
    before = keys(swept)

    job = swept.applied(wish_of(swept, lately))

    assert job.state == JobState.SUCCEEDED, job.message
    assert before - keys(swept) == {temp_key(0), temp_key(1)}
    assert job.result["after"]["deleted"] == 2


def test_the_plan_is_a_dry_run(swept, lately):
    before = keys(swept)
    plan = swept.plan_of(wish_of(swept, lately, ROOT))

    told = " ".join(plan["consequences"])
    assert f"--key {temp_key(0)} --if-match" in plan["equivalents"]["aws_cli"]
    assert keys(swept) == before
    assert "2 finished temp files" in told
    assert "1 file kept, for an entry of its version is incomplete." in told
    assert "1 file kept, for its name tells no version." in told


def test_commands_name_every_file_or_say_how_many_more_and_how_to_get_them(swept, lately, monkeypatch):
    all_of_them = swept.plan_of(wish_of(swept, lately))["equivalents"]["aws_cli"]
    monkeypatch.setattr(sweep, "MOST_SHOWN", 1)
    some = swept.plan_of(wish_of(swept, lately))["equivalents"]["aws_cli"]

    assert all_of_them.count("delete-object") == 2
    assert "#" not in all_of_them
    assert some.count("delete-object") == 1
    assert "# 1 more file, each judged finished, has no line here: run these, then plan the sweep again" in some


def test_a_lost_file_keeps_its_temp_file(swept, lately):
    """C6: the entry is complete, the published file is gone, and the temp file is the only copy."""
    swept.lake.delete(f"{ROOT}/_delta_log/{1:020d}.json")

    swept.applied(wish_of(swept, lately))

    assert temp_key(1) in keys(swept)
    assert temp_key(0) not in keys(swept)


def test_a_lost_first_version_keeps_its_temp_file_without_a_checkpoint(swept, lately):
    swept.lake.delete(f"{ROOT}/_delta_log/{0:020d}.json")

    swept.applied(wish_of(swept, lately))

    assert temp_key(0) in keys(swept)


def test_versions_cleaned_out_behind_a_checkpoint_are_finished(swept, lately):
    swept.lake.put(f"{ROOT}/_delta_log/{2:020d}.checkpoint.parquet", b"PAR1")
    for version in (0, 1):
        swept.lake.delete(f"{ROOT}/_delta_log/{version:020d}.json")

    swept.applied(wish_of(swept, lately))

    assert not {temp_key(0), temp_key(1)} & keys(swept)


@pytest.mark.parametrize("scheme", ["s3", "s3n"])
def test_an_incomplete_entry_under_another_spelling_keeps_the_file(swept, lately, scheme):
    item = incomplete_item(1, f"{scheme}://{swept.lake.bucket}/{ROOT}")
    swept.lake.dynamodb.put_item(TableName=swept.lake.log_store, Item=item)

    swept.applied(wish_of(swept, lately))

    assert temp_key(1) in keys(swept)


def test_an_incomplete_entry_in_another_log_store_keeps_the_file(swept, lately):
    second = swept.lake.store(f"second-{swept.lake.bucket}", tablePath="HASH", fileName="RANGE")
    CommitStore.objects.create(connection=swept.connection, name=second, kind="log_store")
    swept.lake.dynamodb.put_item(TableName=second, Item=incomplete_item(1, swept.lake.uri(ROOT)))

    swept.applied(wish_of(swept, lately))

    assert temp_key(1) in keys(swept)


def test_an_incomplete_entry_under_a_path_with_a_slash_at_its_end_keeps_the_file(swept, lately):
    item = incomplete_item(1, swept.lake.uri(f"{ROOT}/"))
    swept.lake.dynamodb.put_item(TableName=swept.lake.log_store, Item=item)

    swept.applied(wish_of(swept, lately))

    assert temp_key(1) in keys(swept)


def test_a_table_whose_entries_lie_in_two_stores_is_left_out(swept, lately):
    second = swept.lake.second_log_store()
    CommitStore.objects.create(connection=swept.connection, name=second, kind="log_store")
    swept.lake.entry(ROOT, 2, store=second)
    swept.observe()

    refusal = swept.refusal_of(wish_of(swept, lately))

    assert refusal["code"] == "several-locks"
    assert "may be all that is left of an accepted commit" in refusal["reason"]


def test_the_other_tables_are_swept(swept, lately):
    second = swept.lake.second_log_store()
    CommitStore.objects.create(connection=swept.connection, name=second, kind="log_store")
    swept.lake.table("sales/returns", 2, log_store=True)
    swept.lake.entry("sales/returns", 1, store=second)
    swept.observe()

    told = swept.plan_of(wish_of(swept, lately))["consequences"]

    assert any("1 table left out: entries lie in several log stores" in one for one in told)


def test_a_version_that_two_stores_gave_away_since_keeps_its_files(swept, lately):
    second = swept.lake.second_log_store()
    CommitStore.objects.create(connection=swept.connection, name=second, kind="log_store")
    planned = swept.planned(wish_of(swept, lately))
    swept.lake.entry(ROOT, 1, store=second, tempPath={"S": f".tmp/{1:020d}.json.another"})

    swept.apply(planned)

    assert temp_key(1) in keys(swept)
    assert temp_key(0) not in keys(swept)


def test_a_file_that_changes_under_its_hands_stays(swept, lately, monkeypatch):
    real, looks = sweep.temp_files, []

    def meddled(call, lake):
        looks.append(call)
        for file in real(call, lake):
            if file.key == temp_key(0) and len(looks) == 2:
                swept.lake.put(file.key, b"another")
            yield file

    planned = swept.planned(wish_of(swept, lately))
    monkeypatch.setattr(sweep, "temp_files", meddled)
    job = swept.apply(planned)

    assert temp_key(0) in keys(swept)
    assert (job.result["after"]["deleted"], job.result["after"]["changed"]) == (1, 1)


def test_files_younger_than_the_limit_stay(swept, lately):
    wish = Sweep(swept.lake.bucket, (datetime.now(UTC) - timedelta(hours=1)).isoformat())

    assert swept.refusal_of(wish)["code"] == "nothing-to-do"


def test_a_limit_within_the_longest_commit_is_refused(swept):
    wish = Sweep(swept.lake.bucket, (datetime.now(UTC) - timedelta(hours=1)).isoformat())

    assert swept.refusal_of(wish)["code"] == "too-young"


def test_without_a_log_store_nothing_is_swept(swept, lately):
    CommitStore.objects.all().delete()

    assert swept.refusal_of(wish_of(swept, lately))["code"] == "no-log-store"


def test_a_sweep_broken_off_is_finished_by_the_next(swept, lately, monkeypatch):
    real, count = sweep.temp_files, [0]

    def broken(call, lake):
        for file in real(call, lake):
            count[0] += file.verdict == FINISHED
            if count[0] == 4:
                raise RuntimeError("the worker died")
            yield file

    monkeypatch.setattr(sweep, "temp_files", broken)
    assert swept.applied(wish_of(swept, lately)).state == JobState.FAILED
    monkeypatch.setattr(sweep, "temp_files", real)
    if not {temp_key(0), temp_key(1)} & keys(swept):
        return
    swept.applied(wish_of(swept, lately))

    assert not {temp_key(0), temp_key(1)} & keys(swept)


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("cleaned", [True, False])
@pytest.mark.parametrize(
    ("item", "needed"),
    [
        (None, False),
        (log_store_item(1, PATH), False),
        (incomplete_item(1, PATH), True),
        ({**log_store_item(1, PATH), "complete": {"BOOL": True}}, True),
        ({**log_store_item(1, PATH), "complete": {"S": "True"}}, True),
        ({"tablePath": {"S": PATH}}, True),
        (log_store_item(2, PATH), True),
    ],
)
def test_a_file_is_finished_only_if_no_entry_may_need_it_and_its_version_is_safe(item, needed, published, cleaned):
    verdict = judge(1, published, cleaned, [None, item])

    assert (verdict == FINISHED) == (not needed and (published or cleaned))
