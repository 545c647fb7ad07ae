"""What is read by columns is what is read line by line."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta import many_files
from lake.delta.file_actions import FileAction, LogUnreadable, checkpoint_files, commit_files
from lake.delta.many_files import PlainAdds, actions_of_checkpoint, actions_of_commit
from tests.builders.delta import add, checkpoint_bytes, commit_bytes, commit_info, metadata, protocol, remove

VECTORS = st.sampled_from(
    [None, {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 1, "sizeInBytes": 34}]
)
PATHS = st.one_of(
    st.sampled_from(
        ["p.parquet", "day=1/p-1.parquet", "a%20b/x", "s3a://lake/t/x", "/t/x", "../x", ".x", "a//b", "x "]
    ),
    st.text(min_size=1, max_size=8),
)
ADDS = st.builds(
    lambda path, size, vector: {"add": {"path": path, "size": size, "deletionVector": vector}},
    PATHS,
    st.sampled_from([0, 1, 2**40, None, -1]),
    VECTORS,
)
OTHERS = st.sampled_from(
    [remove("p.parquet"), metadata(), protocol(3, 7, readerFeatures=["deletionVectors"]), commit_info(), {"txn": {}}]
)
ROWS = st.lists(st.one_of(ADDS, ADDS, OTHERS), min_size=1, max_size=12)


def flat(version: int, actions: Any) -> list[str]:
    """The actions in one order, plain adds one by one; or that they cannot be read."""
    found: list[Any] = []
    try:
        for one in actions:
            many = isinstance(one, PlainAdds)
            found += (
                [FileAction(version, True, path, None, None, size) for path, size in zip(*one, strict=True)]
                if many
                else [one]
            )
    except LogUnreadable:
        return ["unreadable"]
    return sorted(map(repr, found))


@given(rows=ROWS, by_columns=st.booleans())
def test_a_commit_says_the_same_however_it_is_read(rows: list[Any], by_columns: bool) -> None:
    data = "\n".join(json.dumps(row) for row in rows).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_files, "LARGE", 0 if by_columns else 2**40)
        assert flat(3, actions_of_commit(3, data)) == flat(3, commit_files(3, data))


@given(rows=st.lists(ADDS.filter(lambda row: row["add"]["deletionVector"] is None), max_size=12))
def test_a_checkpoint_says_the_same_however_it_is_read(rows: list[Any]) -> None:
    data = checkpoint_bytes(protocol(), metadata(), remove("p.parquet"), *rows)
    assert flat(3, actions_of_checkpoint(3, io.BytesIO(data))) == flat(3, checkpoint_files(3, io.BytesIO(data)))


@pytest.mark.parametrize(
    "data",
    [
        commit_bytes(add("x"), add("y"))[:-9],
        b'{"add":{"path":"x","size":1}} {"add":{"path":"y","size":1}}\n',
        b'{"add":{"path":"x","size":1}}\n[1]\n',
        b'{"add":{"path":7,"size":1}}\n',
        b'{"add":{"path":"x","size":NaN}}\n',
        b"\n",
        b"",
    ],
)
def test_what_is_no_commit_is_unreadable_by_columns_too(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_files, "LARGE", 0)
    assert flat(3, actions_of_commit(3, data)) == ["unreadable"]


@given(place=st.integers(0, 2_000), bit=st.integers(0, 7))
def test_a_damaged_checkpoint_is_read_or_unreadable_and_nothing_else(place: int, bit: int) -> None:
    data = bytearray(checkpoint_bytes())
    data[place % len(data)] ^= 1 << bit
    flat(3, actions_of_checkpoint(3, io.BytesIO(bytes(data))))
