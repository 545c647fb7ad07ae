"""The data files of a version by its log in a backup, and the fingerprint by which they are told from any others."""

import io
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from lake.aws.errors import AwsError
from lake.backup.objects import BucketPrefix
from lake.delta.file_actions import LogUnreadable
from lake.delta.fingerprint import FileMark, LiveFile, fingerprint, mark, rows_of
from lake.delta.names import commit_name
from lake.delta.restorable import TableAtVersion
from lake.points.file_marks import file_marks
from lake.points.reading import KeptPoint, LogCopy, RestorableVersion
from tests.builders.delta import UUID, add, checkpoint_bytes, commit_bytes, metadata, protocol, remove
from tests.lake.delta.test_opened_log import VECTOR, VECTOR_FILE
from tests.lazily import lazily

pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")

CHECKPOINT = f"{3:020d}.checkpoint.parquet"
A = LiveFile("day=1/a%20b.parquet", 500, {"day": "1"}, None, '{"numRecords": 10}')
B = LiveFile("b.parquet", 400, {"day": None}, None, '{"numRecords": 5}')


def added(file: LiveFile) -> Any:
    action = {**add(file.path, file.size)["add"], "partitionValues": file.values, "stats": file.stats}
    return {"add": action | ({"deletionVector": file.vector} if file.vector else {})}


def read(log: dict[str, bytes], *, is_open: bool = False) -> list[FileMark]:
    point: Any = KeptPoint("", BucketPrefix("vault", "pool/"), {"table": "s3a://lake/t"}, {})  # type: ignore[typeddict-item]
    state, copies = TableAtVersion(5, "id", 1, 1, None), tuple(LogCopy(name, name, 1, "") for name in log)
    s3: Any = SimpleNamespace(get=lambda _, key: SimpleNamespace(data=log[key], etag="", size=1))
    if not all(log.values()):
        s3.get = Mock(side_effect=AwsError("NoSuchKey", "it is gone", "", "s3:GetObject", "", "a key"))
    found = RestorableVersion(point, state, copies, (), {}, {})
    with ThreadPoolExecutor(2) as pool:
        return list(file_marks(s3, found, pool, is_open=is_open))


def test_what_a_commit_removes_goes_and_what_it_adds_stays_in_whichever_order():
    with_vector = A._replace(vector=VECTOR)
    log = {
        commit_name(5): commit_bytes(remove(B.path)),
        commit_name(4): commit_bytes(added(with_vector), remove(A.path)),
        CHECKPOINT: checkpoint_bytes(protocol(), metadata(), *(plain(added(one)) for one in (A, B))),
    }
    found = read(log)
    assert fingerprint(found) == fingerprint([mark(with_vector)])
    assert rows_of(found) == 4
    without_stats = mark(B._replace(stats=None))
    assert fingerprint(read({name: log[name] for name in (CHECKPOINT, commit_name(4))})) == fingerprint(
        [without_stats, mark(with_vector)]
    )


def test_a_file_with_another_vector_is_another_file():
    both = {commit_name(0): commit_bytes(added(A)), commit_name(1): commit_bytes(added(A._replace(vector=VECTOR)))}
    assert fingerprint(read(both)) == fingerprint([mark(A), mark(A._replace(vector=VECTOR))])


def plain(action: Any) -> Any:
    """Without what the checkpoint's schema has no column for."""
    return {"add": {name: action["add"][name] for name in ("path", "size", "partitionValues")}}


def test_the_commit_of_the_checkpoints_own_version_is_not_read_over_it():
    checkpoint = checkpoint_bytes(protocol(), metadata(), plain(added(A)))
    found = read({CHECKPOINT: checkpoint, commit_name(3): commit_bytes(added(A._replace(values={"day": "2"})))})
    assert fingerprint(found) == fingerprint([mark(A._replace(stats=None))])


def test_a_checkpoint_in_json_with_sidecars_is_whole_and_its_tombstones_remove_nothing():
    log = {
        f"{3:020d}.checkpoint.{UUID}.json": commit_bytes(protocol(), metadata(), remove(A.path)),
        f"_sidecars/{UUID}.parquet": checkpoint_bytes(plain(added(A))),
        "_sidecars/other.parquet": checkpoint_bytes(plain(added(B)), remove(A.path)),
        commit_name(4): commit_bytes(remove(B.path)),
    }
    assert fingerprint(read(log)) == fingerprint([mark(A._replace(stats=None))])


@pytest.mark.parametrize(
    "stats", [None, "", "null", "[]", "7", "{", "{}", '{"numRecords": "5"}', '{"numRecords": 5.0}']
)
def test_rows_are_not_known_where_one_file_does_not_say(stats):
    assert rows_of(read({commit_name(0): commit_bytes(added(A), added(B))})) == 15
    assert rows_of(read({commit_name(0): commit_bytes(added(A), added(B._replace(stats=stats)))})) is None


def test_rows_are_those_of_parsed_statistics_where_there_are_no_others():
    sink = io.BytesIO()
    parsed = plain(added(A))["add"] | {"partitionValues": [("day", "1")], "stats_parsed": {"numRecords": 7}}
    parquet.write_table(pa.Table.from_pylist([{"add": parsed}]), sink)
    assert rows_of(read({CHECKPOINT: sink.getvalue()})) == 7


def test_a_version_that_is_open_has_its_files_in_the_backup_by_their_whole_names():
    placed = VECTOR | {"storageType": "p", "pathOrInlineDv": f"s3a://vault/pool/t/{VECTOR_FILE}"}
    opened = A._replace(path="s3a://vault/pool/t/day=1/a%20b.parquet", vector=placed)
    log = {commit_name(0): commit_bytes(added(A._replace(vector=VECTOR)))}
    assert fingerprint(read(log, is_open=True)) == fingerprint([mark(opened)])
    assert fingerprint(read(log)) != fingerprint([mark(opened)])


@pytest.mark.parametrize(
    "other",
    [
        A._replace(path="day=1/a b2.parquet"),
        A._replace(size=501),
        A._replace(values={"day": "2"}),
        A._replace(values={"day": ""}),
        A._replace(values={}),
        A._replace(vector=VECTOR),
        A._replace(stats='{"numRecords": 11}'),
        *(A._replace(vector=VECTOR | one) for one in ({"offset": 5}, {"sizeInBytes": 41}, {"storageType": "i"})),
    ],
)
def test_a_file_that_differs_in_anything_has_another_digest(other):
    assert fingerprint([mark(B), mark(A)]) == fingerprint([mark(A), mark(B)])
    one = A._replace(vector=VECTOR) if other.vector and other.vector != VECTOR else A
    assert fingerprint([mark(B), mark(other)])["digest"] != fingerprint([mark(B), mark(one)])["digest"]


def test_a_digest_is_over_what_is_compared_and_nothing_else():
    line = b'["day=1/a b.parquet",500,["%s",4,40,6],"{\\"numRecords\\": 10}"][["day","1"]]' % VECTOR_FILE.encode()
    assert mark(A._replace(vector=VECTOR)).digest == sha256(line).digest()
    told = fingerprint([mark(A._replace(vector=VECTOR)), mark(B), mark(B._replace(path="c.parquet", values={}))])
    assert (told["partitions"], told["vectors"]) == (2, 1)


def test_an_action_that_is_none_of_delta_refuses_the_restore():
    with pytest.raises(LogUnreadable, match="it is gone"):
        read({commit_name(0): b""})
    with pytest.raises(LogUnreadable, match="none of Delta"):
        read({commit_name(0): commit_bytes({"add": {"size": 5}})})
    with pytest.raises(LogUnreadable, match="unknown kind"):
        read({commit_name(0): commit_bytes(added(A._replace(vector={"storageType": "x", "cardinality": 1})))})
