"""Reading tables' logs as the executors do, without Spark: over Arrow batches, from an S3 in memory."""

import io
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest

from lake.aws.access import Access
from lake.aws.errors import AwsError
from lake.aws.list_page import ListPage, ObjectSummary
from lake.aws.s3 import ObjectBody
from tests.builders.delta import add, checkpoint_bytes, commit_bytes, metadata, protocol
from tests.lazily import lazily

deltalake = lazily("deltalake")
pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")
live = lazily("lake.spark.backups.live")


NOW = datetime(2026, 11, 20, tzinfo=UTC)
LOG = "t/_delta_log/"


class Memory:
    """Objects by key; those of `refused` answer with that error code."""

    def __init__(self, objects, refused=None):
        self.objects = objects
        self.refused = refused or {}

    def list(self, bucket, prefix):
        self._refuse(prefix)
        found = (key for key in sorted(self.objects) if key.startswith(prefix))
        yield ListPage(tuple(ObjectSummary(key, len(self.objects[key]), NOW, "e") for key in found), ())

    def get(self, bucket, key, *, first=0, last=None):
        self._refuse(key)
        if key not in self.objects:
            raise AwsError("NoSuchKey", "it is gone", operation="s3:GetObject", target=f"s3://{bucket}/{key}")
        whole = self.objects[key]
        data = whole[first:] if last is None else whole[first : last + 1]
        return ObjectBody(data, len(whole), "e", NOW)

    def _refuse(self, key):
        if key in self.refused:
            raise AwsError(self.refused[key], "no", operation="s3:GetObject", target=f"s3://lake/{key}")


def actions(monkeypatch, s3, root="t", since=NOW - timedelta(hours=24)):
    """The rows of ACTIONS of one table, as dictionaries."""
    monkeypatch.setattr("lake.spark.backups.live.Logs.s3", s3)
    logs = live.Logs(Access("eu-central-1"), "lake", since)
    roots = pa.RecordBatch.from_pydict({"root": [root]})
    reads = live._planning(logs)(iter([roots]))
    return [row for batch in live._reading(logs)(reads) for row in batch.to_pylist()]


def files(rows):
    assert [row["problem"] for row in rows if row["problem"]] == []
    return {row["name"]: row["is_add"] for row in rows if row["name"]}


def problem(rows):
    (told,) = {row["problem"] for row in rows if row["problem"]}
    return told


def name(version, ending="json"):
    return f"{LOG}{version:020d}.{ending}"


def start(*more):
    return commit_bytes(protocol(), metadata(), *more)


def test_a_checkpoint_in_parts_stands_for_the_commits_below_it(monkeypatch):
    parts = (checkpoint_bytes(protocol(), metadata(), add("a")), checkpoint_bytes(add("b")))
    named = {name(1, f"checkpoint.{n:010d}.{2:010d}.parquet"): data for n, data in enumerate(parts, start=1)}
    s3 = Memory({name(1): commit_bytes(add("b")), **named, name(2): commit_bytes(add("c"))})
    assert files(actions(monkeypatch, s3)) == {"t/a": True, "t/b": True, "t/c": True}


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_a_checkpoint_of_the_second_kind_leads_to_its_sidecars(monkeypatch, ending):
    sidecars = {f"{LOG}_sidecars/s{n}.parquet": checkpoint_bytes(add(f"f{n}")) for n in (1, 2)}
    top = [protocol(), metadata(), *({"sidecar": {"path": f"s{n}.parquet", "sizeInBytes": 1}} for n in (1, 2))]
    s3 = Memory({name(4, f"checkpoint.3a0d65cd-4056-49b8.{ending}"): _top(ending, top), **sidecars})
    assert files(actions(monkeypatch, s3)) == {"t/f1": True, "t/f2": True}
    del s3.objects[f"{LOG}_sidecars/s2.parquet"]
    assert "s2.parquet" in problem(actions(monkeypatch, s3))


def _top(ending, top):
    if ending == "json":
        return commit_bytes(*top)
    rows = parquet.read_table(io.BytesIO(checkpoint_bytes(*top[:2]))).to_pylist()
    sink = io.BytesIO()
    schema = pa.schema(
        [
            *parquet.read_schema(io.BytesIO(checkpoint_bytes())),
            ("sidecar", pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64())])),
        ]
    )
    parquet.write_table(pa.Table.from_pylist([*rows, *top[2:]], schema), sink)
    return sink.getvalue()


@pytest.mark.parametrize("code", ["AccessDenied", "NoSuchKey"])
def test_a_log_that_may_not_be_read_or_is_cleaned_meanwhile_is_a_problem_of_its_table(monkeypatch, code):
    s3 = Memory({name(0): start(add("a"))}, {name(0): code})
    assert "00000000000000000000.json" in problem(actions(monkeypatch, s3))
    assert problem(actions(monkeypatch, Memory({}, {LOG: "AccessDenied"})))


def test_a_table_without_a_log_is_a_problem(monkeypatch):
    assert problem(actions(monkeypatch, Memory({}))) == "The log holds no commit and no checkpoint."


def test_trouble_that_is_not_of_one_table_ends_the_work(monkeypatch):
    with pytest.raises(AwsError):
        actions(monkeypatch, Memory({name(0): start(add("a"))}, {name(0): "SlowDown"}))
    with pytest.raises(AwsError):
        actions(monkeypatch, Memory({}, {LOG: "NoSuchBucket"}))


def test_an_unpublished_commit_that_is_gone_by_now_is_none(monkeypatch):
    staged = f"{LOG}_staged_commits/{1:020d}.7426a6d4-0b3c-4f6e.json"
    s3 = Memory({name(0): start(add("a")), staged: b"x"}, {staged: "NoSuchKey"})
    assert files(actions(monkeypatch, s3)) == {"t/a": True}


def test_a_commit_too_large_for_memory_is_a_problem(monkeypatch):
    monkeypatch.setattr("lake.spark.backups.live.MOST_COMMIT_BYTES", 10)
    assert "is empty" not in problem(actions(monkeypatch, Memory({name(0): start(add("a"))})))


def test_more_commits_than_are_held_at_once_are_all_read_in_order(monkeypatch):
    monkeypatch.setattr("lake.spark.backups.live.COMMITS_AT_ONCE", 3)
    monkeypatch.setattr("lake.spark.backups.tasks.ROWS", 2)
    s3 = Memory({name(0): start(), **{name(version): commit_bytes(add(f"f{version}")) for version in range(1, 20)}})
    assert list(files(actions(monkeypatch, s3))) == [f"t/f{version}" for version in range(1, 20)]


def test_a_table_at_the_buckets_root_names_keys_without_a_folder(monkeypatch):
    s3 = Memory({"_delta_log/00000000000000000000.json": start(add("a"))})
    assert [row["keys"] for row in actions(monkeypatch, s3, root="")] == [["a"]]


PARTITIONS = ("a b", "100%", "x+y", "ü-雪", "k=v", "a/b", "q'u\"o", "%2F", "#?&", "")


def test_the_log_of_another_writer_names_the_files_that_it_wrote_itself(monkeypatch, tmp_path):
    """delta-rs encodes partitions' folders for the file system, and their paths in the log once more."""
    table = tmp_path / "t"

    def write(first, mode):
        values = pa.table({"p": list(PARTITIONS), "n": [first] * len(PARTITIONS)})
        deltalake.write_deltalake(table, values, mode=mode, partition_by=["p"])

    write(1, "append")
    write(2, "append")
    deltalake.DeltaTable(table).delete("p = 'a b'")
    deltalake.DeltaTable(table).create_checkpoint()
    write(3, "append")
    deltalake.DeltaTable(table).delete("n = 2")
    on_disk = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    rows = actions(monkeypatch, Memory(on_disk), since=NOW)
    state = {}
    for row in sorted(rows, key=lambda row: (row["version"], row["is_add"])):
        if row["name"]:
            state[row["name"]] = row
    live = {row["keys"][0] for row in state.values() if row["is_add"]}
    add_actions = deltalake.DeltaTable(table).get_add_actions(flatten=True)
    assert live == {f"t/{unquote(path)}" for path in add_actions.column("path").to_pylist()}
    assert {row["keys"][0] for row in state.values()} == {key for key in on_disk if LOG not in key}
