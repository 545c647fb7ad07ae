import hashlib
import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.backup.completion_report import (
    ResultFile,
    read_report_manifest,
    report_folder,
    verify_result_file,
    write_report_manifest,
    write_results,
)
from lake.backup.objects import FileUnreadable, TaskResult
from tests.builders.batch import read_results

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
RESULTS = st.builds(
    TaskResult,
    bucket=st.just("lake"),
    key=TEXT.filter(bool),
    succeeded=st.booleans(),
    status=st.integers(100, 599),
    code=st.sampled_from(["", "NoSuchKey", "AccessDenied"]),
    message=TEXT,
)


def lines(data: bytes) -> io.StringIO:
    return io.StringIO(data.decode(), newline="")


@given(st.lists(RESULTS))
def test_results_come_back_from_a_report(results: list[TaskResult]) -> None:
    assert list(read_results(lines(write_results(results)))) == results


def test_a_row_has_the_http_status_before_the_error_code() -> None:
    failed = TaskResult("lake", "a b", False, 404, "NoSuchKey", "Gone")
    assert write_results([failed]) == b'"lake","a%20b","","failed","404","NoSuchKey","Gone"\n'


def test_a_manifest_as_s3_writes_it_is_read() -> None:
    written = b"""{"Format":"Report_CSV_20180820","ReportCreationDate":"2019-04-05T17:48:39.725Z",
        "Results":[{"TaskExecutionStatus":"failed","Bucket":"evidence","MD5Checksum":"83b1","Key":"job-1/results/6.csv"}],
        "ReportSchema":"Bucket, Key, VersionId, TaskStatus, ErrorCode, HTTPStatusCode, ResultMessage"}"""
    files = (ResultFile(False, "evidence", "job-1/results/6.csv", "83b1"),)
    assert read_report_manifest(written, b"") == files
    assert read_report_manifest(write_report_manifest(files, datetime(2026, 11, 20, tzinfo=UTC)), b"") == files


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"Format": "Report_CSV_2030"}',
        b'{"Format": "Report_CSV_20180820", "Results": [{}]}',
    ],
)
def test_a_manifest_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(FileUnreadable):
        read_report_manifest(data, b"")


EMPTY = b'{"Format":"Report_CSV_20180820","ReportCreationDate":"2026-11-20T00:00:00Z","Results":[]}'


@pytest.mark.parametrize(
    "checksum",
    [b"84b8199adb2ed2db68aab247be3b0ece", b"84B8199ADB2ED2DB68AAB247BE3B0ECE\n", b"hLgZmtsu0ttoqrJHvjsOzg==", b""],
)
def test_a_manifest_is_read_beside_its_md5_however_that_is_written(checksum: bytes) -> None:
    assert read_report_manifest(EMPTY, checksum) == ()


@pytest.mark.parametrize("checksum", [b"00000000000000000000000000000000", b"no digest", b"\xff"])
def test_a_manifest_beside_another_md5_is_refused(checksum: bytes) -> None:
    with pytest.raises(FileUnreadable, match=r"manifest\.json\.md5 says"):
        read_report_manifest(EMPTY, checksum)


def test_a_file_of_other_bytes_is_refused() -> None:
    file = ResultFile(True, "evidence", "1.csv", hashlib.md5(b"rows", usedforsecurity=False).hexdigest())
    verify_result_file(file, [b"ro", b"ws"])
    with pytest.raises(FileUnreadable, match=r"evidence/1\.csv"):
        verify_result_file(file, [b"row"])


def test_a_report_lies_below_its_prefix_and_job() -> None:
    assert report_folder("runs/7", "abc") == "runs/7/job-abc/"
    assert report_folder("", "abc") == "job-abc/"
