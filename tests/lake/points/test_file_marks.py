"""The data files of a version by its log in a backup, and the fingerprint by which they are told from any others."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from lake.aws.errors import AwsError
from lake.backup.objects import BucketPrefix
from lake.delta.file_actions import LogUnreadable
from lake.delta.fingerprint import Fingerprint, LiveFile, fingerprint, mark
from lake.delta.names import commit_name
from lake.delta.restorable import TableAtVersion
from lake.points.file_marks import file_marks
from lake.points.reading import FileCopy, KeptPoint, LogCopy, RestorableVersion
from tests.builders.delta import UUID, add, checkpoint_bytes, commit_bytes, metadata, protocol, remove
from tests.lake.delta.test_opened_log import VECTOR, VECTOR_FILE
from tests.lazily import lazily

pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")

CHECKPOINT = f"{3:020d}.checkpoint.parquet"
A = LiveFile("day=1/a%20b.parquet", 500, {"day": "1"}, None)
B = LiveFile("b.parquet", 400, {"day": None}, None)
ROWS = {A.path: 10, B.path: 5}


def added(file: LiveFile, **more: Any) -> Any:
    stats = {"stats": json.dumps({"numRecords": ROWS.get(file.path)})}
    action = {**add(file.path, file.size)["add"], "partitionValues": file.values} | stats | more
    return {"add": action | ({"deletionVector": file.vector} if file.vector else {})}


def of(*files: LiveFile) -> Fingerprint:
    return fingerprint(map(mark, files))[0]


def read(log: dict[str, bytes], *, is_open: bool = False, files: tuple[FileCopy, ...] = ()) -> Any:
    point: Any = KeptPoint("", BucketPrefix("vault", "pool/"), {"table": "s3a://lake/t"}, {})  # type: ignore[typeddict-item]
    state, copies = TableAtVersion(5, "id", 1, 1, None), tuple(LogCopy(name, name, 1, "") for name in log)
    s3: Any = SimpleNamespace(get=lambda _, key: SimpleNamespace(data=log[key], etag="", size=1))
    if not all(log.values()):
        s3.get = Mock(side_effect=AwsError("NoSuchKey", "it is gone", "", "s3:GetObject", "", "a key"))
    found = RestorableVersion(point, state, copies, files, {}, {})
    with ThreadPoolExecutor(2) as pool:
        return fingerprint(file_marks(s3, found, pool, is_open=is_open))


def plain(file: LiveFile, **more: Any) -> Any:
    """Without what the checkpoint's schema has no column for."""
    action = added(file)["add"]
    return {"add": {name: action[name] for name in ("path", "size", "partitionValues")} | more}


def test_what_a_commit_removes_goes_and_what_it_adds_stays_in_whichever_order():
    with_vector = A._replace(vector=VECTOR)
    log = {
        commit_name(5): commit_bytes(remove(B.path)),
        commit_name(4): commit_bytes(added(with_vector), remove(A.path)),
        CHECKPOINT: checkpoint_bytes(protocol(), metadata(), plain(A), plain(B)),
    }
    assert read(log) == (of(with_vector), 4)
    assert read({name: log[name] for name in (CHECKPOINT, commit_name(4))}) == (of(B, with_vector), None)


def test_a_file_with_another_vector_is_another_file():
    both = {commit_name(0): commit_bytes(added(A)), commit_name(1): commit_bytes(added(A._replace(vector=VECTOR)))}
    assert read(both) == (of(A, A._replace(vector=VECTOR)), 14)


def test_the_commit_of_the_checkpoints_own_version_is_not_read_over_it():
    checkpoint = checkpoint_bytes(protocol(), metadata(), plain(A))
    found, _ = read({CHECKPOINT: checkpoint, commit_name(3): commit_bytes(added(A._replace(values={"day": "2"})))})
    assert found == of(A)


def test_a_checkpoint_in_json_with_sidecars_is_whole_and_its_tombstones_remove_nothing():
    log = {
        f"{3:020d}.checkpoint.{UUID}.json": commit_bytes(protocol(), metadata(), remove(A.path)),
        f"_sidecars/{UUID}.parquet": checkpoint_bytes(plain(A)),
        "_sidecars/other.parquet": checkpoint_bytes(plain(B), remove(A.path)),
        commit_name(4): commit_bytes(remove(B.path)),
    }
    assert read(log) == (of(A), None)


@pytest.mark.parametrize(
    "stats", [None, "", "null", "[]", "7", "{", "{}", '{"numRecords": "5"}', '{"numRecords": 5.0}']
)
def test_rows_are_not_known_where_one_file_does_not_say(stats):
    assert read({commit_name(0): commit_bytes(added(A), added(B))}) == (of(A, B), 15)
    assert read({commit_name(0): commit_bytes(added(A), added(B, stats=stats))}) == (of(A, B), None)


def test_rows_are_those_of_parsed_statistics_where_there_are_no_others():
    """Spark makes a text of these, which nothing else can foretell: it is not compared."""
    sink, parsed = io.BytesIO(), plain(A, partitionValues=[("day", "1")], stats_parsed={"numRecords": 7})
    parquet.write_table(pa.Table.from_pylist([parsed]), sink)
    assert read({CHECKPOINT: sink.getvalue()}) == (of(A), 7)


def test_a_version_that_is_open_has_its_files_in_the_backup_by_their_whole_names():
    placed = VECTOR | {"storageType": "p", "pathOrInlineDv": f"s3a://vault/pool/t/{VECTOR_FILE}"}
    opened = A._replace(path="s3a://vault/pool/t/day=1/a%20b.parquet", vector=placed)
    log = {commit_name(0): commit_bytes(added(A._replace(vector=VECTOR)))}
    proven = tuple(FileCopy("", f"pool/t/{one}", 1, "", "") for one in ("day=1/a b.parquet", VECTOR_FILE))
    assert read(log, is_open=True, files=proven)[0] == of(opened)
    assert read(log, is_open=True, files=proven[1:])[0] != of(opened), "what was not proven is not expected"
    assert read(log)[0] != of(opened)


@pytest.mark.parametrize(
    "other",
    [
        A._replace(path="day=1/a b2.parquet"),
        A._replace(size=501),
        A._replace(values={"day": "2"}),
        A._replace(values={"day": ""}),
        A._replace(values={}),
        A._replace(vector=VECTOR),
        *(A._replace(vector=VECTOR | one) for one in ({"offset": 5}, {"sizeInBytes": 41}, {"storageType": "i"})),
    ],
)
def test_a_file_that_differs_in_anything_has_another_digest(other):
    assert of(B, A) == of(A, B)
    one = A._replace(vector=VECTOR) if other.vector and other.vector != VECTOR else A
    assert of(B, other)["digest"] != of(B, one)["digest"]


def test_a_digest_is_over_what_is_compared_and_nothing_else():
    line = b'["day=1/a b.parquet",500,["%s",4,40,6]][["day","1"]]' % VECTOR_FILE.encode()
    with_vector = A._replace(vector=VECTOR)
    assert of(with_vector)["digest"] == sha256(line).hexdigest()
    told = of(with_vector, B, B._replace(path="c.parquet", values={}))
    assert (told["partitions"], told["vectors"]) == (2, 1)
    assert of(A, A) != of(B, B) != of()


def test_an_action_that_is_none_of_delta_refuses_the_restore():
    with pytest.raises(LogUnreadable, match="it is gone"):
        read({commit_name(0): b""})
    with pytest.raises(LogUnreadable, match="none of Delta"):
        read({commit_name(0): commit_bytes({"add": {"size": 5}})})
    with pytest.raises(LogUnreadable, match="unknown kind"):
        read({commit_name(0): commit_bytes(added(A._replace(vector={"storageType": "x", "cardinality": 1})))})
