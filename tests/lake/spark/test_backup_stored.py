"""Files that tasks read in shares: every row once, whatever the shares, and a sentence for what is not whole."""

import gzip
import io
from collections.abc import Callable
from typing import Any

import pytest

from lake.aws.access import Access
from lake.aws.errors import AwsError
from lake.spark.backups.tasks import SHARE_BYTES, Share, balanced, shares_of
from lake.spark.errors import SparkRefused
from tests.lazily import lazily

orc = lazily("pyarrow.orc")
pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")
csv_batches = lazily("lake.spark.backups.stored", "csv_batches")
orc_batches = lazily("lake.spark.backups.stored", "orc_batches")
parquet_batches = lazily("lake.spark.backups.stored", "parquet_batches")


ACCESS = Access("us-east-1")


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Let every object be these bytes."""

    def hold(data: bytes) -> None:
        monkeypatch.setattr("lake.spark.backups.stored.open_object", lambda access, bucket, key: io.BytesIO(data))

    return hold


def table() -> "pa.Table":
    return pa.table({"key": [f"k{number}" for number in range(1000)], "size": list(range(1000))})


def parquet_bytes() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table(), sink, row_group_size=130)
    return sink.getvalue()


def orc_bytes() -> bytes:
    sink = io.BytesIO()
    orc.write_table(table(), sink, stripe_size=1024)
    return sink.getvalue()


@pytest.mark.parametrize("shares", [1, 2, 3, 8, 50])
@pytest.mark.parametrize(
    ("read", "written"), [(parquet_batches, parquet_bytes), (orc_batches, orc_bytes)], ids=["Parquet", "ORC"]
)
def test_the_shares_of_a_file_hold_each_row_once(
    holding: Callable[[bytes], None], shares: int, read: Any, written: Callable[[], bytes]
) -> None:
    holding(written())
    batches = [
        batch
        for number in range(shares)
        for batch in read(ACCESS, Share("b", "k", 1, number, shares), ["size", "key", "none such"])
    ]
    found = pa.Table.from_batches(batches)
    assert set(found.column_names) == {"key", "size"}
    assert found.select(["key", "size"]).equals(table())


def test_compressed_csv_of_several_members_is_read_whole_and_all_of_it_is_text(
    holding: Callable[[bytes], None],
) -> None:
    holding(gzip.compress(b'"b","1"\n') + gzip.compress(b'"a ""x"", y",""\n\n'))
    rows = [row for batch in csv_batches(ACCESS, Share("b", "k.csv.gz", 1), ["n", "s"]) for row in batch.to_pylist()]
    assert rows == [{"n": "b", "s": "1"}, {"n": 'a "x", y', "s": ""}]


@pytest.mark.parametrize(
    ("read", "damaged"),
    [
        (lambda share: parquet_batches(ACCESS, share), lambda: parquet_bytes()[:-100]),
        (lambda share: parquet_batches(ACCESS, share), lambda: b""),
        (lambda share: orc_batches(ACCESS, share), lambda: orc_bytes()[:-100]),
        (lambda share: csv_batches(ACCESS, share, ["n", "s"]), lambda: gzip.compress(b'"b","1"\n' * 5000)[:-20]),
        (lambda share: csv_batches(ACCESS, share, ["n", "s"]), lambda: gzip.compress(b'"b","1","2"\n')),
        (lambda share: csv_batches(ACCESS, share, ["n", "s"]), lambda: b"no gzip"),
    ],
    ids=["Parquet cut off", "Parquet empty", "ORC cut off", "CSV cut off", "CSV of another width", "CSV not packed"],
)
def test_what_is_not_whole_is_named(holding: Callable[[bytes], None], read: Any, damaged: Callable[[], bytes]) -> None:
    holding(damaged())
    with pytest.raises(SparkRefused, match=r"^s3://b/k\.gz cannot be read, as it is cut off, damaged or of another"):
        list(read(Share("b", "k.gz", 1)))


@pytest.mark.parametrize(("code", "raised"), [("NoSuchKey", SparkRefused), ("AccessDenied", AwsError)])
def test_what_is_missing_is_named_and_other_refusals_of_s3_pass(
    monkeypatch: pytest.MonkeyPatch, code: str, raised: type[Exception]
) -> None:
    def refuse(access: Access, bucket: str, key: str) -> Any:
        raise AwsError(code, "said so")

    monkeypatch.setattr("lake.spark.backups.stored.open_object", refuse)
    with pytest.raises(raised, match=r"s3://b/k is not there: restore it|said so"):
        list(parquet_batches(ACCESS, Share("b", "k", 1)))


def test_a_file_has_as_many_shares_as_its_size_asks_for() -> None:
    assert [len(shares_of("b", "k", size)) for size in (0, 1, SHARE_BYTES, SHARE_BYTES + 1)] == [1, 1, 1, 2]


def test_tasks_get_the_largest_shares_first_and_none_goes_without() -> None:
    shares = [Share("b", str(size), size) for size in (1, 9, 5, 4, 1)]
    held = balanced(shares, 2)
    assert sorted(sum(share.bytes for share in one) for one in held) == [10, 10]
    assert sorted(share.key for one in held for share in one) == sorted(share.key for share in shares)
    assert len(balanced(shares, 9)) == len(shares)
    assert balanced([], 3) == []
