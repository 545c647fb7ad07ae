"""One range of planned objects is copied, what is right already is left alone, and each has a row in the report."""

from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from lake.aws.access import Access
from lake.aws.errors import AwsError
from lake.backup.objects import BucketPrefix
from lake.spark.backups.places import s3_of
from lake.spark.backups.tasks import Share
from lake.spark.errors import SparkRefused
from sandbox.client import REGION, Client
from tests.lake.spark.backupground import HOSTILE, numbers
from tests.lazily import lazily

pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")
copies = lazily("lake.spark.backups.copying")
reports = lazily("lake.spark.backups.reports")

ALREADY = "AlreadyThere"


@pytest.fixture
def orders(client: Client) -> "copies.Orders":
    """A bucket that is source, destination below to/, and the reports' place."""
    bucket = f"backup-copying-{next(numbers)}"
    client.create_bucket(bucket)
    access = Access(REGION, endpoint_url=client.origin)
    return copies.Orders(
        access,
        Share(bucket, "planned.parquet", 0),
        bucket,
        BucketPrefix(bucket, "to/"),
        BucketPrefix(bucket, "report/"),
    )


def plan(client: Client, orders: "copies.Orders", keys: list[str], *, put: bool = True) -> None:
    """Plan these objects; each is there, and holds its key."""
    rows = []
    for key in keys:
        if put:
            client.put(orders.source, key, key.encode())
        found = s3_of(orders.access).head(orders.source, key)
        rows.append({"key": key, "size": len(key.encode()), "etag": found.etag if found else "e"})
    body = BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows[::-1]), body, row_group_size=3)
    client.put(orders.source, orders.planned.key, body.getvalue())


def copy(orders: "copies.Orders", keys: "copies.KeyRange | None" = None) -> tuple[int, int]:
    counted = [row for batch in copies.copying(orders)(keys or copies.KeyRange()) for row in batch.to_pylist()]
    return sum(row["done"] for row in counted), sum(row["failed"] for row in counted)


def reported(orders: "copies.Orders") -> list[dict[str, Any]]:
    """The rows of all reports, as reconciling reads them."""
    home = replace(orders.results, prefix="")
    results = [
        share for share in reports.report_shares(orders.access, [home]) if share.key.startswith("job-1/results/")
    ]
    read = [reports.report_batches(orders.access, share, orders.source) for share in results]
    return [row for batches in read for batch in batches for row in batch.to_pylist()]


@pytest.fixture
def job(orders: "copies.Orders") -> "copies.Orders":
    return replace(orders, results=BucketPrefix(orders.source, "job-1/results/"))


def test_hostile_keys_are_copied_and_reported_as_they_are(client: Client, job: "copies.Orders") -> None:
    plan(client, job, list(HOSTILE))
    assert copy(job) == (len(HOSTILE), 0)
    for key in HOSTILE:
        assert client.get(job.source, f"to/{key}") == key.encode()
    rows = reported(job)
    assert [row["key"] for row in rows] == sorted(HOSTILE, key=str.encode)
    assert {(row["succeeded"], row["http_status"], row["code"]) for row in rows} == {(True, "200", None)}
    assert all(row["message"].startswith("ETag=") for row in rows)


def test_a_range_copies_its_own_keys_only(client: Client, job: "copies.Orders") -> None:
    plan(client, job, ["a", "b", "c", "d"])
    assert copy(job, copies.KeyRange("b", "d")) == (2, 0)
    assert [row["key"] for row in reported(job)] == ["b", "c"]
    assert [found.key for page in s3_of(job.access).list(job.source, "to/") for found in page.objects] == [
        "to/b",
        "to/c",
    ]


def test_what_is_right_is_left_alone_and_what_is_not_is_copied(client: Client, job: "copies.Orders") -> None:
    plan(client, job, ["gone", "other", "same"])
    client.put(job.source, "to/same", b"same")
    client.put(job.source, "to/other", b"OTHER")
    client.delete(job.source, "gone")
    assert copy(job) == (2, 1)
    told = {row["key"]: (row["succeeded"], row["http_status"], row["code"]) for row in reported(job)}
    assert told == {"gone": (False, "404", "NoSuchKey"), "other": (True, "200", None), "same": (True, "200", None)}
    assert {row["key"]: row["message"] for row in reported(job)}["same"] == ALREADY
    assert client.get(job.source, "to/other") == b"other"


def test_a_task_that_is_tried_again_reports_beside_its_first_report(client: Client, job: "copies.Orders") -> None:
    plan(client, job, ["a", "b"])
    assert copy(job) == copy(job) == (2, 0)
    told = [(row["key"], row["message"] == ALREADY) for row in reported(job)]
    assert sorted(told) == [("a", False), ("a", True), ("b", False), ("b", True)]


def test_copies_are_pinned_and_a_message_of_quotes_commas_and_line_breaks_is_one_field(
    client: Client, job: "copies.Orders", monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned: dict[str, str] = {}

    def refuse(_: object, asked: Any) -> str:
        pinned[asked.source_key] = asked.etag
        raise AwsError("AccessDenied", 'no "kms",\n or so', "r", "s3:CopyObject", "", "s3://x")

    monkeypatch.setattr("lake.spark.backups.copying.copy_object", refuse)
    plan(client, job, ["a", 'b"\n,'])
    assert copy(job) == (0, 2)
    assert {(row["code"], row["http_status"], row["message"]) for row in reported(job)} == {
        ("AccessDenied", "403", 'no "kms", or so')
    }
    assert pinned == {key: s3_of(job.access).head(job.source, key).etag for key in ("a", 'b"\n,')}


def test_a_planned_file_that_is_gone_is_refused_by_name(job: "copies.Orders") -> None:
    with pytest.raises(SparkRefused, match=r"planned.parquet is not there"):
        copy(job)


def test_a_listing_tells_of_objects_however_many_pages_they_take(
    client: Client, job: "copies.Orders", monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(client, job, [f"k{number:02}" for number in range(30)])
    copy(job)
    rows = [{"key": f"k{number:02}", "size": 3, "etag": "e"} for number in range(30)]
    for row in rows[::2]:
        row["etag"] = s3_of(job.access).head(job.source, str(row["key"])).etag
    assert copies.right_ones(s3_of(job.access), job.destination, rows) == {row["key"] for row in rows[::2]}


def test_where_the_destination_cannot_be_listed_all_are_copied(client: Client, job: "copies.Orders") -> None:
    plan(client, job, ["a"])
    gone = replace(job, destination=BucketPrefix("no-such-bucket-of-this-test", ""))
    assert copies.right_ones(s3_of(job.access), gone.destination, [{"key": "a", "size": 1, "etag": "e"}]) == set()
    assert copy(gone) == (0, 1)
    assert [row["code"] for row in reported(job)] == ["NoSuchBucket"]
