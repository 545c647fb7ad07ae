"""What passes keep of each version: first seen, added to, never replaced, and let go with the log."""

from django.utils import timezone

from coordinator.models import Commit, DeltaTable, ProvenanceRow, TableFinding
from tests.builders.delta import (
    UUID,
    checkpoint_bytes,
    commit_bytes,
    commit_info,
)
from tests.coordinator.observation.accepted_and_lost import ORDERS, file, in_a_day, log, state, temp


def seen(version: int) -> ProvenanceRow:
    return ProvenanceRow.objects.get(version=version)


def stored(written, version: int) -> dict[str, object]:
    return written.s3.head_object(Bucket=written.bucket, Key=file(version))


def test_every_version_is_kept_with_its_file_and_its_acceptance(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    observe()

    published, waiting = seen(2), seen(3)
    assert (published.size, f'"{published.etag}"') == (stored(written, 2)["ContentLength"], stored(written, 2)["ETag"])
    assert (published.digest, published.commit_timestamp) == (published.etag, 1_767_225_600_000)
    identity = (published.store, published.region, published.lock_domain)
    assert identity == (written.log_store, "us-east-1", written.uri(ORDERS))
    assert (waiting.seen_at, waiting.size, waiting.file_name) == (None, None, f".tmp/{3:020d}.json.{UUID}")
    assert waiting.accepted_size == len(commit_bytes(commit_info()))
    assert waiting.accepted_etag
    assert ProvenanceRow.objects.count() == 4


def test_what_was_seen_first_stays_through_later_passes(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    observe()
    before = list(ProvenanceRow.objects.order_by("version").values())
    written.drop_entries(ORDERS, 0, 1, 2)
    written.commit(ORDERS, 1, commit_bytes(commit_info("MERGE")))

    observe(in_full=True)
    observe(in_full=True)

    assert list(ProvenanceRow.objects.order_by("version").values()) == before


def test_publication_is_added_to_an_acceptance_seen_before(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    written.pending(ORDERS, 3)
    observe()
    accepted_at = seen(3).accepted_at
    written.commit(ORDERS, 3)
    written.entry(ORDERS, 3)

    observe()

    assert seen(3).size == stored(written, 3)["ContentLength"]
    assert (seen(3).accepted_at, seen(3).seen_at > accepted_at) == (accepted_at, True)
    assert seen(3).expire_time == 1_767_225_600


def test_a_version_that_appears_between_two_looks_is_known_to_be_that_young(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    observe()
    observe()
    looked_at = DeltaTable.objects.get().observed_at
    written.commit(ORDERS, 3)

    observe()

    assert (seen(2).absent_at, seen(3).absent_at) == (None, looked_at)


def test_a_look_that_finds_nothing_new_is_dated_by_its_beginning(written, guard, observe_guarded):
    written.table(ORDERS, commits=3)
    observe_guarded()
    listed_at = []

    def note(call):
        if call.operation == "ListObjectsV2" and "_delta_log" in call.target:
            listed_at.append(timezone.now())

    guard.before = note
    observe_guarded()
    guard.before = lambda call: None
    written.commit(ORDERS, 3)
    observe_guarded()

    assert seen(3).absent_at <= listed_at[0]


def test_clean_up_keeps_what_an_item_still_names(written, observe):
    written.table(ORDERS, commits=6, log_store=True)
    observe()
    written.drop_entries(ORDERS, 0, 1, 3)
    written.put(log(f"{5:020d}.checkpoint.parquet"), checkpoint_bytes())
    for version in range(5):
        written.delete(file(version))

    observe(in_full=True)

    assert sorted(ProvenanceRow.objects.values_list("version", flat=True)) == [2, 4, 5]


def test_versions_that_vanish_without_a_checkpoint_are_remembered_and_their_commits_are_not(written, observe):
    written.table(ORDERS, commits=6)
    observe()
    for version in (0, 1, 4, 5):
        written.delete(file(version))

    observe(in_full=True)

    assert ProvenanceRow.objects.count() == 6
    assert sorted(Commit.objects.values_list("version", flat=True)) == [2, 3]


def test_a_table_of_which_it_is_not_known_whether_it_is_the_same_keeps_what_was_seen(written, observe):
    written.table(ORDERS, commits=3)
    observe()
    before = list(ProvenanceRow.objects.order_by("version").values())
    for version in range(3):
        written.commit(ORDERS, version, commit_bytes(commit_info("MERGE")))

    observe()

    assert list(ProvenanceRow.objects.order_by("version").values()) == before
    assert any(problem["place"] == "metaData.id" for problem in DeltaTable.objects.get().problems)


def test_what_was_seen_goes_with_its_table(written, observe, connection):
    written.table(ORDERS, commits=3, log_store=True)
    observe()

    connection.delete()

    assert not ProvenanceRow.objects.exists()


def told(code: str) -> list[TableFinding]:
    return list(TableFinding.objects.filter(code=code, resolved_at=None))


def test_an_acceptance_by_a_second_lock_is_kept_after_both_items_and_files_have_gone(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    other = f".tmp/{2:020d}.json.other"
    written.put(log(other), commit_bytes(commit_info("DELETE")))
    written.entry(ORDERS, 2, scheme="s3", expireTime=in_a_day(), tempPath={"S": other})
    written.entry(ORDERS, 2, expireTime=in_a_day())
    observe()
    before = told("accepted-twice")
    written.drop_entries(ORDERS, 0, 1, 2)
    key = {"tablePath": {"S": f"s3://{written.bucket}/{ORDERS}"}, "fileName": {"S": f"{2:020d}.json"}}
    written.dynamodb.delete_item(TableName=written.log_store, Key=key)
    written.delete(log(other))

    observe()
    observe(in_full=True)

    (found,) = told("accepted-twice")
    assert [one.pk for one in before] == [found.pk]
    assert {one["lock_domain"] for one in found.evidence["accepted"]} == {
        f"s3a://{written.bucket}/{ORDERS}",
        f"s3://{written.bucket}/{ORDERS}",
    }
    assert {one["file"]: one["is_published"] for one in found.evidence["accepted"]}[other] is False
    assert state() == "unsafe"


def test_a_published_file_that_was_shown_to_be_wrong_is_known_to_be_after_item_and_temp_file_have_gone(
    written, observe
):
    written.table(ORDERS, commits=3, log_store=True)
    written.put_in_parts(temp(2), commit_bytes(commit_info("MERGE")))
    written.put_in_parts(file(2), commit_bytes(commit_info("WRITE")))
    written.entry(ORDERS, 2, expireTime=in_a_day())
    observe()
    assert told("bytes-differ")
    written.drop_entries(ORDERS, 0, 1, 2)
    observe()
    written.delete(temp(2))

    observe(in_full=True)

    assert f'"{seen(2).differs_etag}"' == stored(written, 2)["ETag"]
    assert [one.version for one in told("bytes-differ")] == [2]
    assert state() == "unsafe"
