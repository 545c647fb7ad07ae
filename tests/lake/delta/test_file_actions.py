import io
from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.file_actions import (
    CommitTime,
    FileAction,
    LogUnreadable,
    ReaderVersion,
    Sidecar,
    TableId,
    checkpoint_files,
    commit_files,
    located,
    vector_id,
    vector_path,
)
from tests.builders.delta import UUID, add, checkpoint_bytes, commit_bytes, commit_info, metadata, protocol, remove

BUCKET = "lake"


def keys(path, root="a/t"):
    return located(path, root, BUCKET).keys


def test_a_commit_gives_its_time_and_its_adds_and_removes_with_theirs():
    gone = {"remove": {"path": "b", "deletionTimestamp": 7}}
    info = commit_info(in_commit_timestamp=9, timestamp=5)
    assert list(commit_files(3, commit_bytes(info, add("a", 11), gone, remove("c")))) == [
        CommitTime(9, is_in_commit=True),
        FileAction(3, True, "a", None, None, 11),
        FileAction(3, False, "b", 7, None),
        FileAction(3, False, "c", remove("c")["remove"].get("deletionTimestamp"), None),
    ]


def test_a_checkpoint_gives_the_same_from_parquet():
    gone = {"remove": {"path": "b", "deletionTimestamp": 7}}
    data = checkpoint_bytes(protocol(), metadata(), add("a", 11), gone)
    assert list(checkpoint_files(3, io.BytesIO(data))) == [
        ReaderVersion(1),
        TableId(UUID),
        FileAction(3, True, "a", None, None, 11),
        FileAction(3, False, "b", 7, None),
    ]


def test_a_checkpoint_in_json_names_its_sidecars():
    data = commit_bytes({"checkpointMetadata": {"version": 3}}, {"sidecar": {"path": "x.parquet", "sizeInBytes": 9}})
    assert list(commit_files(3, data)) == [Sidecar("x.parquet")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b'{"add":{"path":"a"',
        b"[1]",
        b'{"add":{}}',
        b'{"add":7}',
        b'{"remove":{"path":"a","deletionVector":1}}',
    ],
)
def test_what_is_no_commit_is_unreadable(data):
    with pytest.raises(LogUnreadable):
        list(commit_files(3, data))


@pytest.mark.parametrize("cut", [0, 4, 100, -1])
def test_a_checkpoint_that_is_cut_off_is_unreadable(cut):
    with pytest.raises(LogUnreadable):
        list(checkpoint_files(3, io.BytesIO(checkpoint_bytes()[:cut])))


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(data):
    for read in (lambda: commit_files(0, data), lambda: checkpoint_files(0, io.BytesIO(data))):
        with suppress(LogUnreadable):
            list(read())


@pytest.mark.parametrize(
    "action",
    [
        protocol(3, 7, readerFeatures=["catalogManaged"]),
        protocol(3, 7, readerFeatures=["deletionVectors", "fromTheFuture"]),
        protocol(4, 7),
        {"protocol": {}},
    ],
)
def test_a_table_that_needs_a_reader_unknown_here_is_unreadable(action):
    with pytest.raises(LogUnreadable, match="needs readers"):
        list(commit_files(0, commit_bytes(action)))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("p.parquet", ("a/t/p.parquet",)),
        ("day=1/x%20y+z", ("a/t/day=1/x y+z", "a/t/day=1/x%20y+z")),
        ("t=a%253Ab/x", ("a/t/t=a%3Ab/x", "a/t/t=a%253Ab/x")),
        ("s3a://lake/b/x%20y", ("b/x y", "b/x%20y")),
        ("S3://lake/b/x", ("b/x",)),
        ("/b/x", ("b/x",)),
        ("s3a://other/b/x", ()),
        ("file:/b/x", ()),
        ("hdfs://lake/b/x", ()),
    ],
)
def test_a_path_leads_to_its_key(path, expected):
    assert keys(path) == expected


@given(st.text(min_size=1, max_size=30).filter(lambda text: {"", ".", ".."}.isdisjoint(text.split("/"))))
def test_every_encoded_key_is_found_again(text):
    try:
        encoded = quote(text)
    except UnicodeEncodeError:
        return
    assert keys(encoded, root="")[0] == text


@pytest.mark.parametrize("path", ["a//b", "./a", "a/../b", "%2E%2E/b", "%ff", "s3a://lake/"])
def test_a_path_that_may_mean_another_key_makes_the_log_unreadable(path):
    with pytest.raises(LogUnreadable):
        keys(path)


def test_deletion_vectors_lead_to_their_files_as_in_the_protocols_own_example():
    stored = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4}
    assert vector_path(stored) == "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    assert vector_path({**stored, "pathOrInlineDv": "^-aqEH.-t@S}K{vb[*k^"}).startswith("deletion_vector_d2c639aa")
    assert vector_path({"storageType": "p", "pathOrInlineDv": "s3a://lake/x.bin"}) == "s3a://lake/x.bin"
    assert vector_path({"storageType": "i", "pathOrInlineDv": "wi5b="}) == vector_path(None) == ""
    assert vector_id(stored) != vector_id({**stored, "offset": 5})
    assert vector_id(None) == ""


@pytest.mark.parametrize(
    "vector",
    [
        {},
        {"storageType": "x", "pathOrInlineDv": "a"},
        {"storageType": "u", "pathOrInlineDv": "short"},
        {"storageType": "u", "pathOrInlineDv": "ü" * 20},
        {"storageType": "u", "pathOrInlineDv": "#" * 20},
        {"storageType": "p"},
    ],
)
def test_a_deletion_vector_of_another_kind_makes_the_log_unreadable(vector):
    with pytest.raises(LogUnreadable):
        vector_path(vector)
