import io
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.checkpoint import (
    READ_AHEAD_BYTES,
    WHOLE_BYTES,
    CheckpointEnds,
    PieceMissingError,
    RangedFile,
    read_checkpoint_ends,
    read_checkpoint_state,
)
from lake.delta.state import ProtocolAction
from tests.builders.delta import (
    UUID,
    add,
    checkpoint_bytes,
    commit_bytes,
    metadata,
    protocol,
)
from tests.lazily import lazily

pa = lazily("pyarrow")
pq = lazily("pyarrow.parquet")

NAME = f"{10:020d}.checkpoint.parquet"


class Object:
    """Bytes that remember which ranges of them were asked for."""

    def __init__(self, data, claimed_size=None):
        self.data = data
        self.size = len(data) if claimed_size is None else claimed_size
        self.ranges = []

    def read_range(self, first, last):
        self.ranges.append((first, last))
        return self.data[first : last + 1]

    def state(self, name=NAME):
        return read_checkpoint_state(self.read_range, self.size, name)

    @property
    def bytes_read(self):
        return sum(last - first + 1 for first, last in self.ranges)


def state(data, name=NAME):
    return Object(data).state(name)


def reason(data, name=NAME):
    [problem] = state(data, name).problems
    return problem.reason


def adds(count):
    """So many `add` actions with names that do not compress."""
    random = Random(7)
    return [add(f"part-{random.getrandbits(128):032x}.parquet") for _ in range(count)]


@pytest.fixture(scope="module")
def large():
    """A checkpoint of some megabytes in several row groups, the state somewhere in the middle."""
    actions = adds(60_000)
    middle = [protocol(3, 7, readerFeatures=["deletionVectors"]), metadata(properties={"delta.appendOnly": "true"})]
    return checkpoint_bytes(*actions[:30_000], *middle, *actions[30_000:], row_group_size=20_000)


def test_protocol_and_metadata_are_read():
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors", "appendOnly"]}
    found = state(checkpoint_bytes(protocol(3, 7, **features), metadata(properties={"a": "b"}, name="orders"), add()))
    assert found.version == 10
    assert found.protocol == ProtocolAction(3, 7, ("deletionVectors",), ("deletionVectors", "appendOnly"))
    assert (found.metadata.table_id, found.metadata.name) == (UUID, "orders")
    assert found.metadata.properties == {"a": "b"}
    assert found.problems == ()


def test_a_checkpoint_of_up_to_a_mebibyte_is_read_in_one_request():
    medium = Object(checkpoint_bytes(*adds(5_000), protocol(), metadata()))
    assert READ_AHEAD_BYTES < medium.size < WHOLE_BYTES
    medium.state()
    assert medium.ranges == [(0, medium.size - 1)]


@pytest.mark.slow
def test_of_a_large_checkpoint_only_the_footer_and_two_columns_are_read(large):
    checkpoint = Object(large)
    assert checkpoint.size > 2 * WHOLE_BYTES
    found = checkpoint.state()
    assert (found.protocol.reader_version, found.metadata.properties) == (3, {"delta.appendOnly": "true"})
    assert len(checkpoint.ranges) <= 3
    assert checkpoint.bytes_read < checkpoint.size / 10


def test_a_part_of_a_checkpoint_may_hold_no_state():
    found = state(checkpoint_bytes(add()), f"{10:020d}.checkpoint.{2:010d}.{2:010d}.parquet")
    assert (found.version, found.protocol, found.metadata, found.problems) == (10, None, None, ())


def test_a_parquet_file_without_the_columns_says_nothing():
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": [1]}), sink)
    assert state(sink.getvalue()).protocol is None


def test_columns_of_another_type_are_a_problem():
    sink = io.BytesIO()
    pq.write_table(pa.table({"protocol": [1], "metaData": ["x"]}), sink)
    found = state(sink.getvalue())
    assert [problem.reason for problem in found.problems] == [
        "protocol is not an object.",
        "metaData is not an object.",
    ]


def test_a_v2_checkpoint_in_json_is_read():
    data = commit_bytes({"checkpointMetadata": {"version": 10}}, protocol(3, 7), metadata())
    found = state(data, f"{10:020d}.checkpoint.{UUID}.json")
    assert (found.version, found.protocol, found.metadata.table_id) == (10, ProtocolAction(3, 7), UUID)
    assert found.problems == ()


def test_an_empty_checkpoint_is_a_problem():
    assert reason(b"") == "The checkpoint is empty."


@pytest.mark.parametrize("kept", [1, 11, 100, -1, -8])
def test_a_checkpoint_that_is_cut_off_is_a_problem(kept):
    assert "does not end as parquet does" in reason(checkpoint_bytes()[:kept])


def test_a_footer_longer_than_the_file_is_a_problem():
    data = checkpoint_bytes()
    assert "claims 4294967295 bytes" in reason(data[:-8] + b"\xff\xff\xff\xff" + data[-4:])


def test_an_object_that_shrank_since_it_was_listed_is_a_problem():
    shrunk = Object(checkpoint_bytes(), claimed_size=100_000)
    [problem] = shrunk.state().problems
    assert "the object has changed" in problem.reason


@pytest.mark.slow
def test_no_more_is_fetched_than_a_state_can_need(large, monkeypatch):
    monkeypatch.setattr("lake.delta.checkpoint.MOST_FETCHED_BYTES", 100_000)
    checkpoint = Object(large)
    assert "more than a checkpoint's state can need" in checkpoint.state().problems[0].reason
    assert checkpoint.bytes_read <= 100_000


def test_a_json_checkpoint_beyond_the_limit_is_not_fetched():
    checkpoint = Object(b"", claimed_size=10**10)
    assert "at most" in checkpoint.state(f"{10:020d}.checkpoint.{UUID}.json").problems[0].reason
    assert checkpoint.ranges == []


def test_an_error_of_the_store_is_not_taken_for_a_damaged_file():
    def denied(first, last):
        raise PermissionError("AccessDenied")

    with pytest.raises(PermissionError):
        read_checkpoint_state(denied, 5_000, NAME)


@given(st.binary(max_size=200), st.sampled_from([NAME, f"{10:020d}.checkpoint.{UUID}.json", "anything"]))
def test_any_bytes_are_read(data, name):
    state(data, name)
    state(b"PAR1" + data + len(data).to_bytes(4, "little") + b"PAR1", name)


whole = cache(checkpoint_bytes)
POSITIONS = st.deferred(lambda: st.integers(0, len(whole()) - 1))


@given(st.lists(st.tuples(POSITIONS, st.integers(0, 255)), min_size=1, max_size=6))
def test_a_checkpoint_with_damaged_bytes_is_read_or_named(damage):
    data = bytearray(whole())
    for position, value in damage:
        data[position] = value
    found = state(bytes(data))
    assert found.version == 10


def ranged_file(size, read_ahead=1, most_bytes=1_000):
    source = Object(bytes(index % 251 for index in range(size)))
    return source, RangedFile(source.read_range, size, read_ahead, most_bytes)


def test_neighbouring_reads_share_a_request():
    source, file = ranged_file(100, read_ahead=50)
    file.seek(10)
    assert [file.read(3), file.read(2), file.tell()] == [b"\x0a\x0b\x0c", b"\x0d\x0e", 15]
    assert source.ranges == [(10, 59)]


def test_a_ranged_file_ends_where_the_object_ends():
    _, file = ranged_file(10, read_ahead=50)
    assert (file.seek(-4, io.SEEK_END), file.read(100), file.read()) == (6, b"\x06\x07\x08\x09", b"")


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 10), (6, 5), (2**63, 2**64)])
def test_a_range_outside_the_file_is_never_asked_for(first, last):
    source, file = ranged_file(10)
    with pytest.raises(PieceMissingError, match="outside"):
        file.fetch(first, last)
    assert source.ranges == []


def test_a_ranged_file_keeps_to_its_limit():
    _, file = ranged_file(100, most_bytes=60)
    file.fetch(0, 49)
    with pytest.raises(PieceMissingError, match="asks for 20 bytes at 50"):
        file.fetch(50, 69)


def ends(data: bytes, name: str = NAME) -> CheckpointEnds:
    return read_checkpoint_ends(lambda first, last: data[first : last + 1], len(data), name)


def test_the_end_of_a_checkpoint_tells_that_it_is_one() -> None:
    assert ends(checkpoint_bytes()) == CheckpointEnds()
    assert ends(b"").trouble == "The checkpoint is empty."
    assert "does not end as parquet does" in ends(checkpoint_bytes()[:-5]).trouble
    assert "cannot be read" in ends(b"PAR1" + bytes(40) + (30).to_bytes(4, "little") + b"PAR1").trouble


def test_one_request_reads_the_end_of_a_large_checkpoint() -> None:
    data, asked = checkpoint_bytes(*(add(f"{n}.parquet") for n in range(60_000))), []

    def read_range(first: int, last: int) -> bytes:
        asked.append((first, last))
        return data[first : last + 1]

    assert read_checkpoint_ends(read_range, len(data), NAME).trouble == ""
    assert len(data) > 200_000
    assert len(asked) == 1


def test_sidecars_are_named_as_they_lie() -> None:
    path = "s3://lake/t/_delta_log/_sidecars/a%20b.parquet"
    found = ends(commit_bytes({"sidecar": {"path": path}}), f"{10:020d}.checkpoint.{UUID}.json")

    assert found == CheckpointEnds(sidecars=("_sidecars/a b.parquet",))
