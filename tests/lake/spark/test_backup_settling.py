"""Reconciling from file to file on S3 without Spark: what its tasks do, one after another, and done again."""

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest

from lake.aws.access import Access
from lake.backup.objects import BucketPrefix
from lake.spark.backups import tasks
from lake.spark.backups.tasks import Share, balanced
from lake.spark.errors import SparkRefused
from sandbox.client import REGION, Client
from tests.lake.spark.backupground import HOSTILE, csv_line, numbers
from tests.lazily import lazily

pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")
report_shares = lazily("lake.spark.backups.reports", "report_shares")
settled = lazily("lake.spark.backups.settling")

EXAMPLES = 5
MOST_PARTS = 4_096
PLANNED = "planned"
REPORTED = "reported"
THERE = "there"


BEGAN = datetime(2026, 11, 20, tzinfo=UTC)
NEW = datetime(2026, 11, 20, 1, tzinfo=UTC)
Rows = list[dict[str, Any]]


@pytest.fixture
def settling(client: Client) -> "settled.Settling":
    bucket = f"backup-settling-{next(numbers)}"
    client.create_bucket(bucket)
    access = Access(REGION, endpoint_url=client.origin)
    return settled.Settling(access, "acme-lake", BucketPrefix(bucket, "outcomes/"), BEGAN, "", 5)


def write(client: Client, settling: "settled.Settling", name: str, rows: Rows, schema: "pa.Schema", **how: Any) -> None:
    body = BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema), body, **how)
    client.put(settling.kept.bucket, name, body.getvalue())


def plant(client: Client, settling: "settled.Settling", keys: list[str]) -> list[Share]:
    """Plan and report `keys`; the destination has all but each third, which the report says are gone."""
    objects = [
        {"key": key, "size": len(key), "etag": "e", "modified_at": NEW, "table": f"t{number % 2}", "lane": "copy"}
        for number, key in enumerate(keys)
    ]
    write(client, settling, "planned.parquet", objects, settled.schemas()[PLANNED], row_group_size=7)
    write(client, settling, "there.parquet", [row for n, row in enumerate(objects) if n % 3], settled.schemas()[THERE])
    for file in range(2):
        lines = [
            csv_line("acme-lake", key, "", *(("succeeded", "200", "") if n % 3 else ("failed", "404", "NoSuchKey")), "")
            for n, key in enumerate(keys)
            if n % 2 == file
        ]
        client.put(settling.kept.bucket, f"report/job-1/results/{file}.csv", "".join(lines).encode())
    shares = report_shares(settling.access, [BucketPrefix(settling.kept.bucket, "report/")])
    return shares + [
        read
        for kind in (PLANNED, THERE)
        for read in settled.reads_of(settling.access, kind, settling.kept.bucket, [f"{kind}.parquet"])
    ]


def run(settling: "settled.Settling", reads: list[Share]) -> Rows:
    """The rows that count, as Spark would have them of its tasks."""
    parts: dict[int, list[pa.RecordBatch]] = {}
    for work in balanced(reads, 3):
        for blob in settled.reading(settling)(work):
            parts.setdefault(blob["part"][0].as_py(), []).append(blob)
    settle = settled.settled_parts(settling)
    return [row for _, blobs in sorted(parts.items()) for batch in settle(iter(blobs)) for row in batch.to_pylist()]


def outcomes(client: Client, settling: "settled.Settling") -> Rows:
    keys = settled.keys_below(settling.access, settling.kept)
    return [
        row for key in keys for row in parquet.read_table(BytesIO(client.get(settling.kept.bucket, key))).to_pylist()
    ]


def told(counted: Rows) -> dict[tuple[str, str], int]:
    sums: dict[tuple[str, str], int] = {}
    for row in counted:
        cause = row["outcome"], row["code"]
        sums[cause] = sums.get(cause, 0) + row["objects"]
    return sums


@pytest.mark.parametrize("share_bytes", [10**9, 200])
def test_each_object_has_one_outcome_however_files_are_shared(
    client: Client, settling: "settled.Settling", share_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "SHARE_BYTES", share_bytes)
    keys = [*HOSTILE, *(f"t/{number}" for number in range(40))]
    reads = plant(client, settling, keys)
    assert (len(reads) > 20) == (share_bytes == 200)
    counted = run(settling, reads)
    written = outcomes(client, settling)
    assert {row["key"]: row["outcome"] for row in written} == {
        key: "copied" if number % 3 else "vanished" for number, key in enumerate(keys)
    }
    assert len(written) == len(keys)
    gone = len(keys[::3])
    assert told(counted) == {("copied", ""): len(keys) - gone, ("vanished", "NoSuchKey"): gone}
    assert sum(row["bytes"] for row in counted) == sum(map(len, keys))
    assert {row["table"] for row in counted} == {"t0", "t1"}
    examples = [key for row in counted for key in row["examples"]]
    assert set(examples) <= set(keys[::3])
    assert EXAMPLES <= len(examples) == len(set(examples))


def test_outcomes_keep_what_later_plans_read(client: Client, settling: "settled.Settling") -> None:
    run(settling, plant(client, settling, ["t/a", "t/b"]))
    key, *_ = settled.keys_below(settling.access, settling.kept)
    fields = parquet.read_schema(BytesIO(client.get(settling.kept.bucket, key)))
    assert {field.name: str(field.type) for field in fields} == {
        **dict.fromkeys(("key", "etag", "table", "lane", "outcome", "code", "destination_etag"), "string"),
        "size": "int64",
        "modified_at": "timestamp[us, tz=UTC]",
    }


def test_a_part_that_is_done_again_counts_what_is_written_already(client: Client, settling: "settled.Settling") -> None:
    reads = plant(client, settling, [f"t/{number}" for number in range(30)])
    first = run(settling, reads)
    before = {key: client.get(settling.kept.bucket, key) for key in settled.keys_below(settling.access, settling.kept)}
    # Meanwhile the destination has lost all.
    again = run(settling, [read for read in reads if read.kind != THERE])
    after = {key: client.get(settling.kept.bucket, key) for key in settled.keys_below(settling.access, settling.kept)}
    assert after == before
    assert told(again) == told(first)


def test_a_listing_is_as_good_as_a_file_of_it(client: Client, settling: "settled.Settling") -> None:
    keys = [*HOSTILE, "t/x"]
    reads = [read for read in plant(client, settling, keys) if read.kind != THERE]
    objects = [{"key": f"pöol/{key}", "size": len(key), "etag": "e", "modified_at": NEW} for key in keys]
    stage = settled.listing(settling, BucketPrefix("vault", "pöol/"))
    listed = [pa.RecordBatch.from_pylist([row], settled.schemas()[THERE]) for row in objects]
    parts: dict[int, list[pa.RecordBatch]] = {}
    for blob in (*stage(iter(listed)), *settled.reading(settling)(reads)):
        parts.setdefault(blob["part"][0].as_py(), []).append(blob)
    for blobs in parts.values():
        list(settled.settled_parts(settling)(iter(blobs)))
    assert {row["outcome"] for row in outcomes(client, settling)} == {"copied", "already_there"}


def settle_files(client: Client, settling: "settled.Settling", **kinds: Rows) -> dict[str, dict[str, Any]]:
    """The outcomes by key, of a file of rows for each kind."""
    reads = []
    for kind, rows in kinds.items():
        schema = settled.schemas()[kind]
        write(client, settling, f"{kind}.parquet", rows, schema.append(pa.field("outcome", pa.string())))
        reads += settled.reads_of(settling.access, kind, settling.kept.bucket, [f"{kind}.parquet"])
    run(settling, reads)
    return {row["key"]: row for row in outcomes(client, settling)}


def test_what_an_earlier_reconciliation_proved_counts(client: Client, settling: "settled.Settling") -> None:
    stored = {"size": 3, "modified_at": datetime(2026, 1, 1, tzinfo=UTC), "lane": "copy", "etag": "e"}
    # Of its own ETag a proof says nothing: written so by earlier versions, and not at all since.
    proofs = {
        "safe": ("d-2", "copied"),
        "failed": ("d-2", "failed"),
        "same as before": ("e", "copied"),
        "same": (None, "copied"),
    }
    told = settle_files(
        client,
        settling,
        planned=[{**stored, "key": key} for key in proofs],
        there=[{**stored, "key": key, "etag": "d-2"} for key in proofs],
        proved=[
            {**stored, "key": key, "destination_etag": etag, "outcome": outcome}
            for key, (etag, outcome) in proofs.items()
        ],
    )
    found = {key: (row["outcome"], row["code"]) for key, row in told.items()}
    assert found.pop("safe") == ("already_there", "")
    assert found == dict.fromkeys(("failed", "same", "same as before"), ("failed", "NotReported"))


def test_outcomes_keep_the_destinations_etag_only_where_it_is_another(
    client: Client, settling: "settled.Settling"
) -> None:
    stored = {"size": 1, "modified_at": NEW, "lane": "copy", "etag": "e"}
    told = settle_files(
        client,
        settling,
        planned=[{**stored, "key": key} for key in ("same", "other", "gone")],
        there=[{**stored, "key": "same"}, {**stored, "key": "other", "etag": "e-2"}],
    )
    found = {key: row["destination_etag"] for key, row in told.items()}
    assert found == {"same": None, "other": "e-2", "gone": None}


def test_outcomes_of_nothing_are_a_file_too(client: Client, settling: "settled.Settling") -> None:
    settled.write_none(settling)
    assert outcomes(client, settling) == []


def test_files_that_are_missing_or_not_whole_are_refused_by_name(client: Client, settling: "settled.Settling") -> None:
    reads = plant(client, settling, ["t/a"])
    bucket = settling.kept.bucket
    with pytest.raises(SparkRefused, match=f"s3://{bucket}/gone.parquet is not there"):
        settled.reads_of(settling.access, PLANNED, bucket, ["gone.parquet"])
    with pytest.raises(SparkRefused, match=f"s3://{bucket}/pool/ is not there"):
        settled.keys_below(settling.access, BucketPrefix(bucket, "pool/"))
    client.put(bucket, "planned.parquet", client.get(bucket, "planned.parquet")[:-9])
    with pytest.raises(SparkRefused, match=r"planned.parquet cannot be read"):
        run(settling, reads)
    reported = [read for read in reads if read.kind == REPORTED]
    client.put(bucket, "report/job-1/results/0.csv", b'"acme-lake","t/%zz","","failed","404","",""\n')
    with pytest.raises(SparkRefused, match=r"results/0.csv holds a key that is not URL-encoded"):
        run(settling, reported)
    client.delete(bucket, "report/job-1/results/0.csv")
    with pytest.raises(SparkRefused, match=r"results/0.csv is not there"):
        run(settling, reported)


@pytest.mark.parametrize(
    ("objects", "slots", "parts"), [(0, 4, 4), (1, 2, 2), (10**6, 4, 8), (120_000, 1, 1), (200_000, 1, 2)]
)
def test_parts_are_small_and_keep_all_slots_busy(objects: int, slots: int, parts: int) -> None:
    assert settled.parts_for(objects, slots) == parts


def test_of_very_many_objects_parts_are_larger_and_not_more() -> None:
    assert MOST_PARTS - 150 <= settled.parts_for(10**10, 300) <= MOST_PARTS + 150
