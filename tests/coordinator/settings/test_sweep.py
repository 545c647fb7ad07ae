"""The sweep deletes finished temp files and nothing else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from coordinator.models import CommitStore, DeltaTable, ProvenanceRow
from coordinator.settings import sweep, sweep_reading
from coordinator.settings.requests import Sweep
from coordinator.settings.sweep import FINISHED, SweepTable
from dashboard.jobs.models import JobState
from tests.builders.delta import UUID, add, commit_bytes, commit_info, crc_bytes
from tests.builders.moto_lake import commit_body
from tests.coordinator.settings.conftest import SWEPT as ROOT
from tests.coordinator.settings.conftest import commit_of, own_temp_key, temp_key


def test_finished_files_go_and_all_else_stays(swept, lately):
    before = swept.objects()

    job = swept.applied(lately)

    assert job.state == JobState.SUCCEEDED, job.message
    assert before - swept.objects() == {temp_key(0), temp_key(1)}
    assert job.result["after"]["deleted"] == 2


def test_the_plan_is_a_dry_run(swept, lately):
    before = swept.objects()
    plan = swept.plan_of(replace(lately, prefix=ROOT))

    told = " ".join(plan["consequences"])
    assert plan["equivalents"]["aws_cli"] == ""
    assert temp_key(0) in told
    assert swept.objects() == before
    assert "2 finished temp files" in told
    assert "1 file kept, for an incomplete entry names it." in told
    assert "1 file kept, for its name tells no version." in told


def test_a_lost_file_keeps_its_temp_file(swept, lately):
    """C6: the entry is complete, the published file is gone, and the temp file is the only copy."""
    swept.lake.delete(f"{ROOT}/_delta_log/{1:020d}.json")

    swept.applied(lately)

    assert temp_key(1) in swept.objects()
    assert temp_key(0) not in swept.objects()


def test_a_lost_first_version_keeps_its_temp_file_without_a_checkpoint(swept, lately):
    swept.lake.delete(f"{ROOT}/_delta_log/{0:020d}.json")

    swept.applied(lately)

    assert temp_key(0) in swept.objects()


def test_a_version_cleaned_out_of_the_log_keeps_its_temp_file(swept, lately):
    """Nothing is left to compare it with; its entry expired long ago."""
    swept.lake.put(f"{ROOT}/_delta_log/{2:020d}.checkpoint.parquet", b"PAR1")
    for version in (0, 1):
        swept.lake.delete(f"{ROOT}/_delta_log/{version:020d}.json")
        forget_entry(swept, version)

    told = swept.refusal_of(lately)["reason"]

    assert "2 files kept, for its version was cleaned out of the log, and nothing is left to compare it with." in told


def forget_entry(console, version: int) -> None:
    """TTL took it, and nobody had looked before."""
    ProvenanceRow.objects.all().delete()
    console.lake.drop_entries(ROOT, version)


def test_a_copy_of_the_published_file_goes_with_or_without_an_entry(swept, lately):
    for version in (1, 2):
        swept.lake.put(own_temp_key(version), commit_body(version))
    swept.lake.delete(temp_key(1))
    forget_entry(swept, 1)

    swept.applied(lately)

    assert not {own_temp_key(1), own_temp_key(2)} & swept.objects()


def test_the_last_copy_of_an_accepted_commit_stays_after_its_file_was_replaced(swept, lately):
    """The entry has expired; the published file is of somebody else."""
    swept.lake.put(own_temp_key(1), commit_body(1))
    swept.lake.delete(temp_key(1))
    swept.lake.put(f"{ROOT}/_delta_log/{1:020d}.json", b"{}")
    forget_entry(swept, 1)

    plan = swept.plan_of(lately)
    swept.applied(lately)

    assert own_temp_key(1) in swept.objects()
    assert "1 file kept, for it differs from the published file, and no entry tells which of them was accepted." in (
        " ".join(plan["consequences"])
    )


def test_the_accepted_temp_file_stays_while_its_published_file_differs(swept, lately):
    swept.lake.put(own_temp_key(1), commit_body(1))
    swept.lake.put(f"{ROOT}/_delta_log/{1:020d}.json", b"foreign")

    swept.applied(lately)

    assert own_temp_key(1) in swept.objects()


def test_a_copy_stays_beside_a_rival_that_nothing_shows_to_have_lost(swept, lately):
    """Without it the rival would look like the last copy of a commit whose file was replaced."""
    swept.lake.put(own_temp_key(1), commit_body(1))
    forget_entry(swept, 1)

    plan = swept.plan_of(lately)
    swept.applied(lately)

    assert {own_temp_key(1), temp_key(1)} <= swept.objects()
    assert "it tells which file of its version was published" in " ".join(plan["consequences"])


@pytest.mark.parametrize(
    ("winner", "aside", "goes"),
    [("accepted", "accepted", True), ("lost", "accepted", False), ("", "accepted", False), ("accepted", "", False)],
    ids=["it is the winner's", "it is the loser's", "of nobody", "the winner has no temp file: it took no lock"],
)
def test_a_checksum_tells_a_loser_whose_entry_has_expired(swept, lately, winner, aside, goes):
    for name, transaction in ((f"{1:020d}.json", "accepted"), (f".tmp/{1:020d}.json.loser", "lost")):
        swept.lake.put(f"{ROOT}/_delta_log/{name}", commit_of(transaction))
    if aside:
        swept.lake.put(own_temp_key(1), commit_of(aside))
    swept.lake.put(f"{ROOT}/_delta_log/{1:020d}.crc", crc_bytes(txnId=winner))
    forget_entry(swept, 1)

    swept.applied(lately)

    assert (temp_key(1) not in swept.objects()) is goes


def test_objects_whose_etags_say_nothing_are_compared_byte_by_byte(swept, lately, monkeypatch):
    for version, data in ((1, commit_body(1)), (2, commit_body(2).swapcase())):
        swept.lake.put_in_parts(own_temp_key(version), data)
        swept.lake.delete(temp_key(version))
        forget_entry(swept, version)

    swept.applied(lately)

    assert own_temp_key(1) not in swept.objects()
    assert own_temp_key(2) in swept.objects()


def test_what_the_bounds_leave_out_stays_and_is_told(swept, lately, monkeypatch):
    swept.lake.put_in_parts(own_temp_key(2), commit_body(2))
    monkeypatch.setattr(sweep_reading, "MOST_COMPARED", 2)

    plan = swept.plan_of(lately)
    swept.applied(lately)

    assert own_temp_key(2) in swept.objects()
    assert "its bytes were not compared with the published file" in " ".join(plan["consequences"])


def test_a_file_of_a_commit_published_since_the_log_was_listed_is_compared_with_what_is_there_now(swept, lately, lake):
    swept.lake.put(own_temp_key(2), commit_body(2))
    call = SweepTable(swept.lake.bucket, f"{ROOT}/_delta_log/", lately.before, ((swept.lake.log_store, "x"),), "")
    found = []
    for file in sweep.temp_files(call, lake):
        found.append(file)
        swept.lake.put(f"{ROOT}/_delta_log/{2:020d}.json", b"replaced meanwhile")

    assert [file.verdict == FINISHED for file in found if file.key == own_temp_key(2)] == [False]


def test_a_file_that_changes_under_its_hands_stays(swept, lately, monkeypatch):
    real, looks = sweep.temp_files, []

    def meddled(call, lake):
        looks.append(call)
        for file in real(call, lake):
            if file.key == temp_key(0) and len(looks) == 2:
                swept.lake.put(file.key, b"another")
            yield file

    planned = swept.planned(lately)
    monkeypatch.setattr(sweep, "temp_files", meddled)
    job = swept.apply(planned)

    assert temp_key(0) in swept.objects()
    assert (job.result["after"]["deleted"], job.result["after"]["changed"]) == (1, 1)


def test_files_younger_than_the_limit_stay(swept, lately):
    change = Sweep(swept.lake.bucket, (datetime.now(UTC) - timedelta(hours=1)).isoformat())

    assert swept.refusal_of(change)["why"] == "nothing-to-do"


def test_a_limit_within_the_longest_commit_is_refused(swept):
    change = Sweep(swept.lake.bucket, (datetime.now(UTC) - timedelta(hours=1)).isoformat())

    assert swept.refusal_of(change)["why"] == "too-young"


def test_without_a_log_store_nothing_is_swept(swept, lately):
    CommitStore.objects.all().delete()

    assert swept.refusal_of(lately)["why"] == "no-log-store"


def test_a_sweep_broken_off_is_finished_by_the_next(swept, lately, monkeypatch):
    real, count = sweep.temp_files, [0]

    def broken(call, lake):
        for file in real(call, lake):
            count[0] += file.verdict == FINISHED
            if count[0] == 4:
                raise RuntimeError("the worker died")
            yield file

    monkeypatch.setattr(sweep, "temp_files", broken)
    assert swept.applied(lately).state == JobState.FAILED
    monkeypatch.setattr(sweep, "temp_files", real)
    if not {temp_key(0), temp_key(1)} & swept.objects():
        return
    swept.applied(lately)

    assert not {temp_key(0), temp_key(1)} & swept.objects()


def test_a_file_that_was_seen_to_be_accepted_stays_whatever_the_checksum_says(swept, lately):
    """Somebody without the lock wrote over the published file, and the checksum that goes with it; then TTL came."""
    swept.lake.put(own_temp_key(1), commit_of("accepted"))
    swept.observe()
    for name, data in ((f"{1:020d}.json", commit_of("foreign")), (f"{1:020d}.crc", crc_bytes(txnId="foreign"))):
        swept.lake.put(f"{ROOT}/_delta_log/{name}", data)
    swept.lake.put(temp_key(1, name="copy"), commit_of("foreign"))
    swept.lake.drop_entries(ROOT, 1)

    swept.applied(lately)

    assert own_temp_key(1) in swept.objects()


@pytest.mark.parametrize("own", [commit_info(), commit_info(timestamp=None)], ids=["old", "it says no time"])
def test_a_temp_file_brought_back_is_as_old_as_it_says_itself(swept, lately, own):
    """S3 gives it the time of the restore, as if no entry of its own could have expired."""
    swept.lake.put(temp_key(1), commit_bytes(own, add("restored.parquet")))

    swept.applied(lately)

    assert temp_key(1) in swept.objects()
    assert temp_key(0) not in swept.objects()


def test_without_a_known_lock_only_copies_go(swept, lately):
    """The table's log store is declared nowhere; another one is."""
    second = swept.lake.second_log_store()
    CommitStore.objects.all().delete()
    CommitStore.objects.create(connection=swept.connection, name=second, kind="log_store")
    DeltaTable.objects.update(lock_domains=[])
    swept.lake.put(own_temp_key(2), commit_body(2))
    for name, transaction in ((f"{1:020d}.json", "accepted"), (f".tmp/{1:020d}.json.{UUID}", "accepted")):
        swept.lake.put(f"{ROOT}/_delta_log/{name}", commit_of(transaction))
    swept.lake.put(f"{ROOT}/_delta_log/{1:020d}.crc", crc_bytes(txnId="accepted"))

    swept.applied(lately)

    assert {temp_key(0), temp_key(1)} <= swept.objects()
    assert own_temp_key(2) not in swept.objects()
