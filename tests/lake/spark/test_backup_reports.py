"""Completion reports in shares: wherever a file is cut, and whatever its lines hold, they say the same."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from lake.aws.errors import AwsError
from lake.aws.s3 import ObjectBody
from lake.spark.backups.tasks import Share
from lake.spark.errors import SparkRefused
from tests.choosing import slowly
from tests.lake.spark.backupground import HOSTILE
from tests.lazily import lazily

file_shares = lazily("lake.spark.backups.reports", "file_shares")
lines_of = lazily("lake.spark.backups.reports", "lines_of")
rows_of = lazily("lake.spark.backups.reports", "rows_of")


OURS = "acme-lake"
Told = tuple[str, bool | None, str | None, str | None, str | None]


@dataclass
class OneFile:
    """S3 with one file, as far as lines are read from it."""

    data: bytes
    asked: list[tuple[int, int | None]] = field(default_factory=list)

    def get(self, bucket: str, key: str, *, first: int = 0, last: int | None = None) -> ObjectBody:
        self.asked.append((first, last))
        if first and first >= len(self.data):
            raise AwsError("InvalidRange", "nothing is there")
        end = len(self.data) if last is None else last + 1
        return ObjectBody(self.data[first:end], len(self.data), "", datetime(2026, 11, 20, tzinfo=UTC))


def line(key: str, *rest: str, bucket: str = OURS) -> bytes:
    fields = (bucket, quote(key, safe="/"), "", *rest)
    return ",".join('"' + text.replace('"', '""') + '"' for text in fields).encode() + b"\n"


def told(lines: bytes) -> list[Told]:
    return [tuple(row.values()) for row in rows_of(lines, OURS).to_pylist()]


def in_two(data: bytes, cut: int) -> list[bytes]:
    s3: Any = OneFile(data)
    # The share's number of bytes is where the second one begins.
    return [lines_of(s3, Share("b", "k", cut, number, 2)) for number in range(2)]


PLAIN = b"".join(
    [
        line("t/a b+c", "succeeded", "200", "", "Successful"),
        line("t/ü%/'\"", "failed", "503", "SlowDown", 'Reduce "your"\nrate, later'),
        line("t/other", "succeeded", "200", "", "", bucket="other"),
        line("t/order", "FAILED", "AccessDenied", "403", "no, never"),
        line("", "succeeded", "200", "", ""),
        line("t/last", "Succeeded", "200", "", "ETag=abc"),
    ]
)
ROWS: list[Told] = [
    ("t/a b+c", True, "200", None, "Successful"),
    ("t/ü%/'\"", False, "503", "SlowDown", 'Reduce "your"'),
    ("t/order", False, "403", "AccessDenied", "no, never"),
    ("t/last", True, "200", None, "ETag=abc"),
]
RAGGED = (
    b'"acme-lake","short"\n'
    + line("t/a", "succeeded", "200", "", "")
    + b'"acme-lake","long","","failed","404","NoSuchKey","gone","more","and more"\n\n'
    + b"acme-lake,bare,,succeeded,200,,\r\n"
    + b'"acme-lake","t/%FC","","failed","500","\xff",""\n'.replace(b"%FC", b"%C3%BC")
    + b'"acme-lake","return","","failed","503","S","a\rb"\n'
    + b'"acme-lake","open","","failed","503","S","never ends'
)
RAGGED_ROWS: list[Told] = [
    ("short", None, None, None, None),
    ("t/a", True, "200", None, None),
    ("long", False, "404", "NoSuchKey", "gone"),
    ("bare", True, "200", None, None),
    ("t/ü", False, "500", "\ufffd", None),
    ("return", False, "503", "S", "a"),
    ("open", False, "503", "S", "never ends"),
]


@pytest.mark.parametrize(
    ("data", "rows"), [(PLAIN, ROWS), (RAGGED, RAGGED_ROWS), (PLAIN[:-1], ROWS)], ids=["plain", "ragged", "no end"]
)
@pytest.mark.parametrize("ahead", [slowly(1), 7, 65_536])
def test_wherever_a_report_is_cut_its_rows_are_the_same(
    data: bytes, rows: list[Told], ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lake.spark.backups.reports.LOOK_AHEAD", ahead)
    assert told(data) == rows
    for cut in range(1, len(data)):
        shares = in_two(data, cut)
        assert b"".join(shares) == data, cut
        assert [row for share in shares for row in told(share)] == rows, cut


@pytest.mark.parametrize("size", [1, 3, 10, 77, 100])
def test_many_shares_hold_each_line_once(size: int) -> None:
    s3: Any = OneFile(PLAIN)
    count = -(-len(PLAIN) // size)
    shares = [lines_of(s3, Share("b", "k", size, number, count)) for number in range(count)]
    assert b"".join(shares) == PLAIN
    # Lines below 64 KiB cost one request for each share.
    assert len(s3.asked) == count


def test_an_empty_report_holds_nothing() -> None:
    s3: Any = OneFile(b"")
    assert lines_of(s3, Share("b", "k", 0)) == b""
    assert told(b"") == []


@pytest.mark.parametrize(("first", "of"), [(0, 1), (0, 2), (1, 2)])
def test_a_file_that_was_exchanged_after_it_was_verified_is_not_read(first: int, of: int) -> None:
    s3: Any = OneFile(PLAIN)
    with pytest.raises(SparkRefused, match="was changed after its MD5 was verified"):
        lines_of(s3, Share("b", "k", len(PLAIN) // of, first, of, etag="verified"))


def test_a_verified_file_is_read_in_shares_that_name_its_etag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lake.spark.backups.tasks.SHARE_BYTES", 10)
    shares = file_shares([{"bucket": "b", "key": "1.csv", "size": 15, "etag": "e"}])
    assert shares == [Share("b", "1.csv", 7, number, 2, "e", "reported") for number in range(2)]


def test_a_plain_report_is_read_at_once_and_a_ragged_one_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(lines: bytes) -> None:
        raise AssertionError(lines)

    plain = b"".join(line(key, "succeeded", "200", "", "") for key in HOSTILE)
    monkeypatch.setattr("lake.spark.backups.reports._read_singly", never)
    assert [row[0] for row in told(plain)] == list(HOSTILE)
    with pytest.raises(AssertionError):
        told(RAGGED)


def test_a_line_of_another_kind_is_passed_over() -> None:
    """A field above 128 KiB is too much for Python's csv, which reads what Arrow does not."""
    assert told(b'"acme-lake","' + b"x" * 200_000 + b'"\n' + line("t/a", "failed", "404", "", "")) == [
        ("t/a", False, "404", None, None)
    ]


@pytest.mark.parametrize(
    ("key", "why"), [("a%", "percent"), ("a%4", "percent"), ("a%zz", "hexadecimal"), ("%FF", "UTF8")]
)
def test_what_no_key_encodes_to_is_no_row(key: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        told(f'"{OURS}","{key}","","failed","404","",""\n'.encode())
    assert told(f'"other","{key}","","failed","404","",""\n'.encode()) == []
