"""What becomes of an object, for every combination of what the plan, the report and the destination say."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.lazily import lazily

pa = lazily("pyarrow")
once = lazily("lake.spark.backups.outcomes", "once")
side_by_side = lazily("lake.spark.backups.outcomes", "side_by_side")
with_outcomes = lazily("lake.spark.backups.outcomes", "with_outcomes")
reported_schema = lazily("lake.spark.backups.reports", "reported_schema")
schemas = lazily("lake.spark.backups.settling", "schemas")

ALREADY = "AlreadyThere"
OUTCOMES = ("copied", "already_there", "changed", "vanished", "denied", "too_new", "archived", "failed")
PLANNED = "planned"
PROVED = "proved"
THERE = "there"

BEGAN = datetime(2026, 11, 20, tzinfo=UTC)
SIZE, MINE, PARTS, OTHER = 7, "aaaa", "aaaa-3", "bbbb"

FAILURES = {
    ("404", "NoSuchKey"): "vanished",
    ("404", None): "vanished",
    ("403", "AccessDenied"): "denied",
    ("403", "InvalidObjectState"): "archived",
    ("403", "ObjectNotInActiveTierError"): "archived",
    ("412", "PreconditionFailed"): "changed",
    ("503", "SlowDown"): "failed",
    (None, None): "failed",
}
REPORTS = [
    (False, *(None,) * 4),
    *((True, True, "200", None, message) for message in ("", None, f"ETag={MINE}", f"ETag={OTHER}", ALREADY)),
    *((True, False, status, code, "no") for status, code in FAILURES),
]
OLD, NEW = BEGAN - timedelta(days=1), BEGAN + timedelta(minutes=5)
ENDED, LATE = BEGAN + timedelta(minutes=9), BEGAN + timedelta(minutes=11)
DESTINATIONS = [
    (False, *(None,) * 3),
    *((True, size, etag, moment) for size in (SIZE, 8) for etag in (MINE, OTHER, PARTS) for moment in (OLD, NEW, LATE)),
]
PLANS = [
    ("k", SIZE, etag, encryption, lane, proved)
    for etag in (MINE, PARTS, None)
    for encryption in ("SSE-S3", "SSE-KMS")
    for lane in ("copy", "multipart", "already_there", "too_new", "archived")
    for proved in (None, MINE, OTHER)
]
ROWS = [(*plan, *report, *there) for plan, report, there in itertools.product(PLANS, REPORTS, DESTINATIONS)]


def joined_schema() -> "pa.Schema":
    text, moment = pa.string(), pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            *(("key", text), ("size", pa.int64()), ("etag", text)),
            *(("encryption_status", text), ("lane", text), ("proved_etag", text)),
            *(("r_found", pa.bool_()), ("r_succeeded", pa.bool_())),
            *(("r_http_status", text), ("r_code", text), ("r_message", text)),
            *(("d_found", pa.bool_()), ("d_size", pa.int64()), ("d_etag", text), ("d_modified_at", moment)),
        ]
    )


def is_safe(row: dict[str, Any], *, key: bool, until: datetime | None) -> bool:
    """The rule in its own words: the destination shows size and ETag, or what stands for the ETag."""
    if not row["d_found"] or row["d_size"] != row["size"]:
        return False
    if row["d_etag"] == row["etag"] or row["d_etag"] == row["proved_etag"]:
        return True
    if not row["r_succeeded"]:
        return False
    unlike = key or row["encryption_status"] == "SSE-KMS" or "-" in (row["etag"] or "")
    message = row["r_message"] or ""
    if message.startswith("ETag="):
        return (unlike or "-" in row["d_etag"]) and message == f"ETag={row['d_etag']}"
    is_by_it = row["d_modified_at"] != OLD and (until is None or row["d_modified_at"] != LATE)
    return unlike and message != ALREADY and is_by_it


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("until", [None, ENDED])
@pytest.mark.parametrize("key", ["", "arn:aws:kms:eu-central-1:111122223333:key/k"])
def test_every_combination_has_one_outcome_and_none_is_safe_that_the_destination_does_not_show(
    key: str, until: datetime | None, whole: bool
) -> None:
    schema = joined_schema()
    columns = [pa.array(column, field.type) for column, field in zip(zip(*ROWS, strict=True), schema, strict=True)]
    rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    told = with_outcomes(rows, began=BEGAN, encryption_key=key, copied_until=until, reports_whole=whole).to_pylist()
    assert len(told) == len(ROWS)
    for row in told:
        assert row["outcome"] in OUTCOMES
        wanted = expected(row, key=bool(key), until=until)
        if not whole:
            wanted = without_whole_reports(row, wanted)
        assert wanted == (row["outcome"], row["code"]), row


def expected(row: dict[str, Any], *, key: bool, until: datetime | None) -> tuple[str, str]:
    if row["lane"] in ("too_new", "archived"):
        return row["lane"], ""
    if is_safe(row, key=key, until=until):
        new = row["d_modified_at"] != OLD and row["lane"] != "already_there" and row["r_message"] != ALREADY
        return ("copied" if new and row["r_succeeded"] is not False else "already_there"), ""
    if row["r_succeeded"]:
        return ("failed", "NotAtDestination") if not row["d_found"] else ("changed", "OtherContent")
    if row["r_succeeded"] is None:
        return "failed", "LostFromDestination" if row["lane"] == "already_there" else "NotReported"
    outcome = FAILURES[row["r_http_status"], row["r_code"]]
    return outcome, "" if outcome == "archived" else row["r_code"] or row["r_http_status"] or "Unknown"


def without_whole_reports(row: dict[str, Any], otherwise: tuple[str, str]) -> tuple[str, str]:
    """What nobody reports of an object that was to be copied may have stood in the part that is missing."""
    is_told = row["r_found"] or row["lane"] not in ("copy", "multipart")
    if is_told or otherwise == ("already_there", ""):
        return otherwise
    return "failed", "ReportNotBelieved"


def reported(*rows: tuple[Any, ...]) -> "pa.RecordBatch":
    names = reported_schema().names
    return pa.RecordBatch.from_pylist([dict(zip(names, row, strict=True)) for row in rows], reported_schema())


def test_a_key_that_is_reported_again_counts_as_succeeded_where_it_succeeded_once() -> None:
    tried = (
        ("b", None, "503", None, None),
        ("a", False, "503", "SlowDown", "x"),
        ("b", False, "503", "SlowDown", None),
        ("a", True, "200", None, "ETag=1"),
        ("c", False, "404", None, "y"),
        ("b", False, "503", "SlowDown", "z"),
        ("a", False, "999", "Unknown", "z"),
        ("a", True, None, None, "ETag=2"),
    )
    expected = [
        ("a", True, "200", None, "ETag=1"),
        ("b", False, "503", "SlowDown", "z"),
        ("c", False, "404", None, "y"),
    ]
    for turn in range(len(tried)):
        rows = once(reported(*tried[turn:], *tried[:turn]), stored(THERE))
        assert [tuple(row.values()) for row in rows.to_pylist()] == expected


@pytest.mark.parametrize("last", ["1", "2", "3"])
def test_of_copies_made_again_that_one_counts_whose_etag_is_there(last: str) -> None:
    tried = [("a", True, "200", None, f"ETag={etag}") for etag in ("2", "1", "3")]
    tried += [("a", False, "503", "SlowDown", f"ETag={last}"), ("b", True, "200", None, "ETag=9")]
    rows = once(reported(*tried), stored(THERE, {"key": "a", "size": 1, "etag": last, "modified_at": BEGAN}))
    assert [(row["key"], row["succeeded"], row["message"]) for row in rows.to_pylist()] == [
        ("a", True, f"ETag={last}"),
        ("b", True, "ETag=9"),
    ]


def stored(kind: str, *rows: dict[str, Any]) -> "pa.RecordBatch":
    return pa.RecordBatch.from_pylist(list(rows), schemas()[kind])


OF_B, OF_Z = ("b", True, "200", None, None), ("z", True, "200", None, None)
FAILED_B = ("b", False, "404", "NoSuchKey", None)


@pytest.mark.parametrize(
    "reports", [[OF_B], [OF_B, OF_Z], [OF_B, OF_B], [FAILED_B, OF_B], [OF_B, OF_Z, FAILED_B], [FAILED_B, OF_Z, OF_B]]
)
def test_each_planned_row_stays_one_row_with_what_is_known_of_its_key(reports: list[tuple[Any, ...]]) -> None:
    objects = [{"key": key, "size": 1, "etag": "e", "lane": "copy"} for key in ("a", "b", "c", "a")]
    proofs = [
        {"key": "a", "size": 1, "etag": "e", "destination_etag": "p"},
        {"key": "b", "size": 2, "etag": "e", "destination_etag": "p"},
        {"key": "c", "size": 1, "etag": "f", "destination_etag": "p"},
    ]
    rows = side_by_side(
        stored(PLANNED, *objects),
        reported(*reports),
        stored(THERE, {"key": "c", "size": 3}, {"key": "y"}),
        stored(PROVED, *proofs),
    ).to_pylist()
    known = [(row["key"], row["r_found"], row["r_succeeded"], row["d_found"], row["d_size"]) for row in rows]
    assert known == [
        ("a", False, None, False, None),
        ("b", True, True, False, None),
        ("c", False, None, True, 3),
        ("a", False, None, False, None),
    ]
    assert [row["proved_etag"] for row in rows] == ["p", None, None, "p"]


def test_nothing_known_and_nothing_planned_are_rows_too() -> None:
    planned = stored(PLANNED, {"key": "a", "size": 1, "etag": None, "lane": "copy"})
    nothing = [stored(kind) for kind in (THERE, PROVED)]
    for rows, count in ((planned, 1), (stored(PLANNED), 0)):
        told = with_outcomes(side_by_side(rows, reported(), *nothing), began=BEGAN, encryption_key="")
        assert told.num_rows == count
        assert told["code"].to_pylist() == ["NotReported"] * count
