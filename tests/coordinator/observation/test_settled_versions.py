"""Published versions that were put again, taken away or written past the log store, as passes over S3 see them."""

import time

import pytest

from coordinator.models import Commit, DeltaTable, ProvenanceRow, TableFinding
from coordinator.repairs.fresh import plan_anew
from lake.delta.uri import TableUri
from tests.builders.changes import execute_plan
from tests.builders.delta import UUID, add, commit_bytes, commit_info, crc_bytes, first_commit_bytes
from tests.builders.moto_lake import commit_body

ORDERS = "sales/orders"


def log(name: str) -> str:
    return f"{ORDERS}/_delta_log/{name}"


def file(version: int) -> str:
    return log(f"{version:020d}.json")


def open_findings() -> list[tuple[str, int | None]]:
    return sorted(
        TableFinding.objects.filter(resolved_at=None).exclude(code="single-driver").values_list("code", "version")
    )


def now_ms() -> int:
    return int(time.time() * 1_000)


def put_in_parts(written, version: int, body: bytes) -> None:
    """Another ETag for the same bytes, as a restore or a bucket that encrypts leaves it."""
    upload = {"Bucket": written.bucket, "Key": file(version)}
    upload["UploadId"] = written.s3.create_multipart_upload(**upload)["UploadId"]
    part = written.s3.upload_part(**upload, PartNumber=1, Body=body)
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    written.s3.complete_multipart_upload(**upload, MultipartUpload=parts)


def expire_entries(written) -> None:
    for item in written.dynamodb.scan(TableName=written.log_store)["Items"]:
        key = {name: item[name] for name in ("tablePath", "fileName")}
        written.dynamodb.delete_item(TableName=written.log_store, Key=key)


def distinct(written, versions: range, *, operation: str = "WRITE", log_store: bool = False) -> None:
    """Commits of which no two have the same bytes, made just now."""
    for version in versions:
        info = commit_info(operation, timestamp=now_ms())
        written.commit(ORDERS, version, commit_bytes(info, add(f"{operation}-{version}.parquet")))
        if log_store:
            written.entry(ORDERS, version)


def test_an_overwritten_version_is_found_with_both_files(written, observe):
    written.table(ORDERS, commits=4)
    observe()
    first = Commit.objects.get(version=2)
    written.commit(ORDERS, 2, commit_bytes(commit_info("MERGE")))

    observe()

    found = TableFinding.objects.get(code="overwritten", resolved_at=None)
    assert (found.version, found.severity, found.state) == (2, "critical", "unsafe")
    before, now = found.evidence["first"], found.evidence["now"]
    assert (before["size"], before["etag"]) == (first.size, first.etag)
    assert now["etag"] == Commit.objects.get(version=2).etag != first.etag
    assert before["seen_at"]
    assert now["modified_at"]
    assert DeltaTable.objects.get().state == "unsafe"


def test_an_overwritten_version_below_the_tail_is_found_when_all_is_listed(written, observe):
    distinct(written, range(1, 30))
    written.commit(ORDERS, 0)
    observe()
    written.commit(ORDERS, 5, commit_bytes(commit_info("MERGE"), add("another.parquet")))

    observe(in_full=True)

    assert ("overwritten", 5) in open_findings()


def test_the_finding_ends_when_the_first_file_is_put_back(written, observe):
    written.table(ORDERS, commits=4)
    observe()
    written.commit(ORDERS, 2, commit_bytes(commit_info("MERGE")))
    observe()
    written.commit(ORDERS, 2)

    observe(in_full=True)

    assert open_findings() == []
    assert TableFinding.objects.filter(code="overwritten").exclude(resolved_at=None).count() == 1


def test_the_same_bytes_put_again_are_no_overwriting(written, observe):
    written.table(ORDERS, commits=4)
    observe()
    written.commit(ORDERS, 2)

    observe(in_full=True)

    assert open_findings() == []


def test_the_same_bytes_with_an_etag_of_another_kind_are_no_overwriting(written, guard, observe_guarded):
    written.table(ORDERS, commits=4)
    observe_guarded()
    put_in_parts(written, 2, commit_body(2))
    observe_guarded()
    assert open_findings() == []
    kept = ProvenanceRow.objects.get(version=2)
    assert kept.copy_etag.endswith("-1")
    assert kept.etag != kept.copy_etag

    guard.calls.clear()
    observe_guarded(in_full=True)

    assert open_findings() == []
    assert not any(call.operation == "GetObject" and call.target.endswith(file(2)) for call in guard.calls)


def test_what_cannot_be_compared_is_undecided_and_not_alarming(written, observe):
    distinct(written, range(1, 30))
    written.commit(ORDERS, 0)
    written.put(log(f"{29:020d}.crc"), crc_bytes())
    put_in_parts(written, 5, commit_bytes(commit_info("MERGE")))
    observe()
    written.commit(ORDERS, 5, commit_bytes(commit_info("WRITE")))

    observe(in_full=True)

    assert open_findings() == [("undecided", 5)]


def test_versions_written_anew_after_a_rewind_are_overwritten(written, observe):
    distinct(written, range(1, 8))
    written.commit(ORDERS, 0)
    observe()
    for version in range(5, 8):
        written.delete(file(version))
    observe()
    assert open_findings() == [("vanished", 7)]
    distinct(written, range(5, 8), operation="MERGE")

    observe()

    assert open_findings() == [("overwritten", 5), ("overwritten", 6), ("overwritten", 7)]


def test_a_newest_version_that_is_lost_after_its_entry_has_expired_is_found(written, observe):
    written.table(ORDERS, commits=4, log_store=True)
    observe()
    expire_entries(written)
    observe()
    written.delete(file(3))

    observe()

    assert open_findings() == [("vanished", 3)]
    table = DeltaTable.objects.get()
    assert (table.published_version, table.state) == (2, "unsafe")
    assert "Version 3 was published and is gone" in table.summary


@pytest.mark.parametrize("temp_file", ["kept", "lost"])
def test_a_commit_that_was_never_seen_published_is_found_after_its_entry_has_expired(written, observe, temp_file):
    written.table(ORDERS, commits=4, log_store=True)
    written.pending(ORDERS, 4)
    observe()
    written.entry(ORDERS, 4)
    if temp_file == "lost":
        written.delete(log(f".tmp/{4:020d}.json.{UUID}"))
    observe()
    expire_entries(written)

    observe()
    observe()

    assert open_findings() == [("vanished", 4)]
    assert DeltaTable.objects.get().state == "unsafe"


def test_a_commit_that_was_lost_unpublished_is_not_forgotten_when_its_lock_gives_the_version_again(written, observe):
    written.table(ORDERS, commits=4, log_store=True)
    written.pending(ORDERS, 4)
    observe()
    expire_entries(written)
    other = f".tmp/{4:020d}.json.{'b' * 8}"
    body = commit_bytes(commit_info("DELETE"))
    written.put(log(other), body)
    written.commit(ORDERS, 4, body)
    written.entry(ORDERS, 4, tempPath={"S": other})

    observe()
    expire_entries(written)
    observe()

    assert open_findings() == [("accepted-twice", 4)]


def test_a_log_that_was_rewound_and_grown_between_two_looks_is_the_same_table(written, observe):
    distinct(written, range(1, 8))
    written.commit(ORDERS, 0)
    observe()
    for version in range(5, 8):
        written.delete(file(version))
    distinct(written, range(5, 12), operation="MERGE")

    observe()

    assert open_findings() == [("overwritten", 5), ("overwritten", 6), ("overwritten", 7)]


def test_a_table_dropped_and_made_again_in_its_place_was_not_overwritten(written, observe):
    distinct(written, range(1, 8))
    written.commit(ORDERS, 0)
    observe()
    for version in range(8):
        written.delete(file(version))
    written.commit(ORDERS, 0, first_commit_bytes(table_id="another"))
    distinct(written, range(1, 12), operation="MERGE")

    observe()
    observe(in_full=True)

    assert open_findings() == []
    assert DeltaTable.objects.get().state == "healthy"


def lost_and_repaired(written, connection, lake) -> None:
    """C6, and Levee's own repair of it."""
    uri = TableUri.parse(written.uri(ORDERS))
    body = written.s3.get_object(Bucket=written.bucket, Key=file(3))["Body"].read()
    item = written.dynamodb.scan(TableName=written.log_store)["Items"][3]
    written.put(log(item["tempPath"]["S"]), body)
    written.delete(file(3))
    (plan,) = plan_anew(connection, lake, uri).plans
    assert plan.kind == "republish-file"
    assert execute_plan(plan, lake).is_complete
    assert written.s3.get_object(Bucket=written.bucket, Key=file(3))["Body"].read() == body
    written.delete(log(item["tempPath"]["S"]))


@pytest.mark.parametrize("seen_before", [True, False])
def test_a_file_that_levee_republished_is_no_foreign_commit_once_its_entry_has_expired(
    written, observe, connection, lake, seen_before
):
    written.table(ORDERS, commits=4, log_store=True)
    observe()
    lost_and_repaired(written, connection, lake)
    expire_entries(written)
    if not seen_before:
        ProvenanceRow.objects.all().delete()

    observe(in_full=True)

    assert open_findings() == []
    assert DeltaTable.objects.get().mechanism == "log_store"


def test_a_log_that_was_restored_has_no_foreign_commits(written, observe):
    written.table(ORDERS, commits=30, log_store=True)
    observe()
    ProvenanceRow.objects.all().delete()
    expire_entries(written)
    for version in range(30):
        written.delete(file(version))
        written.commit(ORDERS, version)

    observe(in_full=True)

    assert open_findings() == []


def test_versions_that_vanish_and_come_back_are_no_foreign_commits(written, observe):
    written.table(ORDERS, commits=6, log_store=True)
    observe()
    expire_entries(written)
    for version in (4, 5):
        written.delete(file(version))
    observe(in_full=True)
    assert (DeltaTable.objects.get().published_version, open_findings()) == (3, [("vanished", 5)])
    for version in (4, 5):
        written.commit(ORDERS, version)

    observe(in_full=True)

    assert open_findings() == []


@pytest.mark.parametrize("stamp", [1_500_000_000_000, None, "now", "ahead"])
def test_a_foreign_writer_between_two_looks_is_found_whatever_its_clock_says(written, observe, stamp):
    written.table(ORDERS, commits=3, log_store=True)
    written.entry(ORDERS, 2, expireTime={"N": str(now_ms() // 1_000 + 86_400)})
    observe()
    said = {"now": now_ms(), "ahead": now_ms() + 10**9}.get(stamp, stamp)
    written.commit(ORDERS, 3, commit_bytes(commit_info(timestamp=said)))

    observe()
    observe(in_full=True)

    assert open_findings() == [("foreign-writer", 3)]


def test_a_version_that_appears_where_every_entry_has_expired_may_have_been_brought_back(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    observe()
    written.commit(ORDERS, 3, commit_bytes(commit_info(timestamp=1_500_000_000_000)))

    observe()

    assert open_findings() == [("undecided", 3)]


def test_a_foreign_writer_is_found_at_first_sight_by_its_own_time(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    written.commit(ORDERS, 3, commit_bytes(commit_info(timestamp=now_ms())))

    observe()

    assert open_findings() == [("foreign-writer", 3)]


def test_at_first_sight_a_file_without_any_time_is_undecided(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    written.commit(ORDERS, 3, commit_bytes(commit_info(timestamp=None)))

    observe()

    assert open_findings() == [("undecided", 3)]


def test_a_quick_locked_writer_is_no_foreign_one(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    for round_ in range(3):
        observe()
        distinct(written, range(3 + 2 * round_, 5 + 2 * round_), log_store=True)

    observe()

    assert open_findings() == []
    assert ProvenanceRow.objects.exclude(identity=None).count() == 9


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_commit_whose_entry_lived_shorter_is_no_foreign_one_while_its_temp_file_is_left(written, observe, in_parts):
    """Writers with lives of their own: TTL has taken the newest entry, and an older one is left."""
    distinct(written, range(1, 4), log_store=True)
    written.commit(ORDERS, 0)
    written.entry(ORDERS, 0, expireTime={"N": str(int(time.time()) + 86_400)})
    body = written.s3.get_object(Bucket=written.bucket, Key=file(3))["Body"].read()
    put = written.put_in_parts if in_parts else written.put
    put(log(f".tmp/{3:020d}.json.{UUID}"), body)
    key = {"tablePath": {"S": written.uri(ORDERS)}, "fileName": {"S": f"{3:020d}.json"}}
    written.dynamodb.delete_item(TableName=written.log_store, Key=key)

    observe()

    assert ("foreign-writer", 3) not in open_findings()
    assert DeltaTable.objects.get().state == "healthy"
