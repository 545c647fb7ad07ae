"""Published versions that were put again, taken away or written past the log store, as passes over S3 see them."""

import time

import pytest

from coordinator.models import Commit, ProvenanceRow, TableFinding
from tests.builders.delta import add, commit_bytes, commit_info
from tests.builders.moto_lake import commit_body
from tests.coordinator.observation.accepted_and_lost import ORDERS, file, in_a_day, state, temp


def open_findings() -> list[tuple[str, int | None]]:
    return sorted(
        TableFinding.objects.filter(resolved_at=None).exclude(code="single-driver").values_list("code", "version")
    )


def distinct(written, versions: range, *, operation: str = "WRITE", log_store: bool = False) -> None:
    """Commits of which no two have the same bytes, made just now."""
    for version in versions:
        info = commit_info(operation, timestamp=int(time.time() * 1_000))
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
    assert state() == "unsafe"


def test_the_same_bytes_with_an_etag_of_another_kind_are_no_overwriting(written, guard, observe_guarded):
    written.table(ORDERS, commits=4)
    observe_guarded()
    written.put_in_parts(file(2), commit_body(2))
    observe_guarded()
    assert open_findings() == []
    kept = ProvenanceRow.objects.get(version=2)
    assert kept.copy_etag.endswith("-1")
    assert kept.etag != kept.copy_etag

    guard.calls.clear()
    observe_guarded(in_full=True)

    assert open_findings() == []
    assert not any(call.operation == "GetObject" and call.target.endswith(file(2)) for call in guard.calls)


def test_a_log_that_was_rewound_and_grown_between_two_looks_is_the_same_table(written, observe):
    distinct(written, range(1, 8))
    written.commit(ORDERS, 0)
    observe()
    for version in range(5, 8):
        written.delete(file(version))
    distinct(written, range(5, 12), operation="MERGE")

    observe()

    assert open_findings() == [("overwritten", 5), ("overwritten", 6), ("overwritten", 7)]


@pytest.mark.parametrize("stamp", [1_500_000_000_000, None])
def test_a_foreign_writer_between_two_looks_is_found_whatever_its_clock_says(written, observe, stamp):
    written.table(ORDERS, commits=3, log_store=True)
    written.entry(ORDERS, 2, expireTime=in_a_day())
    observe()
    written.commit(ORDERS, 3, commit_bytes(commit_info(timestamp=stamp)))

    observe()
    observe(in_full=True)

    assert open_findings() == [("foreign-writer", 3)]


def test_a_quick_locked_writer_is_no_foreign_one(written, observe):
    written.table(ORDERS, commits=3, log_store=True)
    for round_ in range(3):
        observe()
        distinct(written, range(3 + 2 * round_, 5 + 2 * round_), log_store=True)

    observe()

    assert open_findings() == []
    assert ProvenanceRow.objects.exclude(store="").count() == 9


def test_a_commit_whose_entry_lived_shorter_is_no_foreign_one_while_its_temp_file_is_left(written, observe):
    """Writers with lives of their own: TTL has taken the newest entry, and an older one is left."""
    distinct(written, range(1, 4), log_store=True)
    written.commit(ORDERS, 0)
    written.entry(ORDERS, 0, expireTime=in_a_day())
    body = written.s3.get_object(Bucket=written.bucket, Key=file(3))["Body"].read()
    written.put_in_parts(temp(3), body)
    written.drop_entries(ORDERS, 3)

    observe()

    assert ("foreign-writer", 3) not in open_findings()
    assert state() == "healthy"
