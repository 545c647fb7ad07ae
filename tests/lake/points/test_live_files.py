"""The data files of a version by its log in a backup, and the fingerprint by which they are told from any others."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from lake.backup.objects import BucketPrefix
from lake.delta.fingerprint import Fingerprint, LiveFile, fingerprint, mark
from lake.delta.names import commit_name
from lake.delta.restorable import TableAtVersion
from lake.points.live_files import files_of
from lake.points.reading import KeptPoint, LogCopy, NotRestorable, RestorableVersion
from tests.builders.delta import add, checkpoint_bytes, commit_bytes, metadata, protocol, remove

CHECKPOINT = f"{3:020d}.checkpoint.parquet"
# The example of PROTOCOL.md, "Deletion Vector Format".
VECTOR: dict[str, Any] = {
    "storageType": "u",
    "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
    "offset": 4,
    "sizeInBytes": 40,
    "cardinality": 6,
}
VECTOR_FILE = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
A = LiveFile("day=1/a%20b.parquet", 500, {"day": "1"}, None, 10)
B = LiveFile("b.parquet", 400, {"day": None}, None, 5)


def added(file: LiveFile) -> Any:
    action = add(file.path, file.size)["add"]
    stats = json.dumps({"numRecords": file.rows})
    vector = {"deletionVector": file.vector} if file.vector else {}
    return {"add": {**action, "partitionValues": file.values, "stats": stats, **vector}}


def read(log: dict[str, bytes], *, is_open: bool = False) -> Fingerprint:
    point: Any = KeptPoint("", BucketPrefix("vault", "pool/"), {"table": "s3a://lake/t"}, {})  # type: ignore[typeddict-item]
    state, copies = TableAtVersion(5, "id", 1, 1, None), tuple(LogCopy(name, name, 1, "") for name in log)
    s3: Any = SimpleNamespace(get=lambda bucket, key: SimpleNamespace(data=log[key]))
    return files_of(s3, RestorableVersion(point, state, copies, (), {}, {}), is_open=is_open)


def test_what_a_commit_removes_goes_and_what_it_adds_stays_in_whichever_order():
    with_vector = A._replace(vector=VECTOR)
    log = {
        commit_name(5): commit_bytes(remove(B.path)),
        commit_name(4): commit_bytes(added(with_vector), remove(A.path)),
        CHECKPOINT: checkpoint_bytes(protocol(), metadata(), added(A), added(B)),
    }
    found = read(log)
    assert found == fingerprint([mark(with_vector)])
    assert (found["partitions"], found["vectors"], found["rows"]) == (1, 1, 4)
    shorter = {name: log[name] for name in (CHECKPOINT, commit_name(4))}
    assert read(shorter) == fingerprint([mark(B._replace(rows=None)), mark(with_vector)])


def test_rows_are_not_known_where_one_file_does_not_say():
    log = {commit_name(0): commit_bytes(added(A), added(B._replace(rows=None)))}
    assert read(log)["rows"] is None
    assert read({commit_name(0): commit_bytes(added(A), added(B))})["rows"] == 15
    broken = added(B)["add"] | {"stats": "{"}
    assert read({commit_name(0): commit_bytes(added(A), {"add": broken})})["rows"] is None


def test_a_version_that_is_open_has_its_files_in_the_backup_by_their_whole_names():
    placed = VECTOR | {"storageType": "p", "pathOrInlineDv": f"s3a://vault/pool/t/{VECTOR_FILE}"}
    opened = A._replace(path="s3a://vault/pool/t/day=1/a%20b.parquet", vector=placed)
    log = {commit_name(0): commit_bytes(added(A._replace(vector=VECTOR)))}
    assert read(log, is_open=True) == fingerprint([mark(opened)])
    assert read(log)["digest"] != read(log, is_open=True)["digest"]


@pytest.mark.parametrize(
    "other",
    [
        A._replace(path="day=1/a b2.parquet"),
        A._replace(size=501),
        A._replace(values={"day": "2"}),
        A._replace(values={"day": ""}),
        A._replace(values={}),
        A._replace(vector=VECTOR),
    ],
)
def test_a_file_that_differs_in_anything_has_another_digest(other):
    assert fingerprint([mark(B), mark(A)]) == fingerprint([mark(A), mark(B)])
    assert fingerprint([mark(B), mark(other)])["digest"] != fingerprint([mark(B), mark(A)])["digest"]


@pytest.mark.parametrize("change", [{"offset": 5}, {"sizeInBytes": 41}, {"cardinality": 7}, {"storageType": "i"}])
def test_a_vector_that_differs_in_anything_has_another_digest(change):
    one, other = (A._replace(vector=vector) for vector in (VECTOR, VECTOR | change))
    assert fingerprint([mark(one)])["digest"] != fingerprint([mark(other)])["digest"]


def test_an_empty_partition_value_is_null():
    assert fingerprint([mark(B._replace(values={"day": ""}))]) == fingerprint([mark(B)])


def test_an_action_that_is_none_of_delta_refuses_the_restore():
    for action in ({"add": {"size": 5}}, {"add": {**added(A)["add"], "deletionVector": {"storageType": "x"}}}):
        with pytest.raises(NotRestorable, match="none of Delta"):
            read({commit_name(0): commit_bytes(action)})
