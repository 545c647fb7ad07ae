"""Each way in which a copy falls short, by hand: what is still claimed, and what stands in the way of the rest."""

import pytest

from lake.delta.names import checksum_name, commit_name
from lake.delta.restorable import MOST_BLOCKED, ranges_of
from tests.builders.copies import LOG, appended, commit, name, proof_of, without
from tests.builders.delta import (
    add,
    checkpoint_bytes,
    commit_bytes,
    commit_info,
    crc_bytes,
    first_commit_bytes,
    metadata,
    protocol,
    remove,
)

OTHER = "00000000-0000-4000-8000-000000000000"


def with_checkpoint(objects: dict[str, bytes], version: int, **changes: bytes) -> dict[str, bytes]:
    files = [add(name(number)) for number in range(1, version + 1)]
    body = checkpoint_bytes(protocol(), metadata(), *files)
    return objects | {f"{LOG}{version:020d}.checkpoint.parquet": body}


def test_all_versions_of_a_whole_copy_are_restorable():
    proof = proof_of(appended(range(4)))
    assert (proof.ranges, proof.blocked, proof.problems) == (((0, 3),), (), ())
    assert (proof.newest.version, proof.newest.files, proof.newest.bytes) == (3, 3, 1_500)


@pytest.mark.parametrize(("size", "reason"), [(None, "missing"), (499, "other-size"), (501, "other-size")])
def test_versions_that_have_a_file_which_is_not_there_or_not_whole_are_blocked_by_it(size, reason):
    objects = appended(range(5)) | commit(3, remove(name(2)), add(name(3)))
    copy = without(objects, f"t/{name(2)}") | ({f"t/{name(2)}": b"x" * size} if size else {})

    proof = proof_of(copy)

    assert proof.ranges == ((0, 1), (3, 4))
    assert [tuple(one) for one in proof.blocked] == [(f"t/{name(2)}", reason, 2, 2)]


def test_a_gap_in_the_log_ends_what_can_be_restored_until_the_next_checkpoint():
    objects = with_checkpoint(appended(range(8)), 5)
    proof = proof_of(without(objects, LOG + commit_name(3)))
    assert proof.ranges == ((0, 2), (5, 7))
    assert [segment.base for segment in proof.segments] == [-1, 5]


@pytest.mark.parametrize("body", [b"", b'{"add":{"path":"x"', commit_bytes(add("x"))[:-9]])
def test_a_commit_that_is_cut_off_is_a_gap_and_named(body):
    proof = proof_of(appended(range(4)) | {LOG + commit_name(2): body})
    assert proof.ranges == ((0, 1),)
    assert [one.place for one in proof.problems] == [commit_name(2)]


def test_a_checkpoint_that_is_cut_off_is_none():
    objects = with_checkpoint(without(appended(range(6)), LOG + commit_name(0)), 4)
    broken = objects | {f"{LOG}{4:020d}.checkpoint.parquet": objects[f"{LOG}{4:020d}.checkpoint.parquet"][:-20]}
    assert (proof_of(objects).ranges, proof_of(broken).ranges) == (((4, 5),), ())
    assert "checkpoint" in proof_of(broken).problems[0].reason


def test_a_checkpoint_without_a_readable_commit_of_its_version_begins_with_the_next_one():
    objects = with_checkpoint(without(appended(range(6)), LOG + commit_name(0)), 3)
    assert proof_of(without(objects, LOG + commit_name(3))).ranges == ((4, 5),)
    assert proof_of(objects | {LOG + commit_name(3): b"{"}).ranges == ((4, 5),)


def test_parts_of_which_one_is_missing_are_no_checkpoint():
    parts = {
        f"{LOG}{4:020d}.checkpoint.{number:010d}.{2:010d}.parquet": checkpoint_bytes(*actions)
        for number, actions in ((1, (protocol(), metadata())), (2, [add(name(number)) for number in range(1, 5)]))
    }
    objects = without(appended(range(6)), LOG + commit_name(0)) | parts
    assert proof_of(objects).ranges == ((4, 5),)
    assert proof_of(without(objects, next(iter(parts)))).ranges == ()


def test_a_checkpoint_with_sidecars_needs_each_of_them():
    files = [add(name(number)) for number in range(1, 5)]
    top = commit_bytes(
        {"checkpointMetadata": {"version": 4}}, protocol(), metadata(), {"sidecar": {"path": "a%20b.parquet"}}
    )
    objects = without(appended(range(6)), LOG + commit_name(0)) | {
        f"{LOG}{4:020d}.checkpoint.{OTHER}.json": top,
        f"{LOG}_sidecars/a b.parquet": checkpoint_bytes(*files),
    }
    assert proof_of(objects).ranges == ((4, 5),)
    assert proof_of(without(objects, f"{LOG}_sidecars/a b.parquet")).ranges == ()


def vector(kind: str, text: str, offset: int = 1, length: int = 34) -> dict[str, object]:
    return {"storageType": kind, "pathOrInlineDv": text, "offset": offset, "sizeInBytes": length, "cardinality": 1}


def with_vector(of: dict[str, object], at: dict[str, object]) -> dict[str, object]:
    [(kind, action)] = of.items()
    return {kind: {**action, "deletionVector": at}}


@pytest.mark.parametrize(
    ("size", "ranges"), [(43, ((0, 3),)), (100, ((0, 3),)), (42, ((0, 1), (3, 3))), (None, ((0, 1), (3, 3)))]
)
def test_a_deletion_vector_has_to_be_there_up_to_its_checksum(size, ranges):
    marked = with_vector(add(name(1)), vector("p", "s3a://lake/t/deletion_vector_x.bin"))
    objects = appended(range(2)) | commit(2, remove(name(1)), marked) | commit(3, with_vector(
        remove(name(1)), vector("p", "s3a://lake/t/deletion_vector_x.bin")
    ))  # fmt: skip
    assert proof_of(objects | ({"t/deletion_vector_x.bin": b"x" * size} if size else {})).ranges == ranges


def test_the_same_file_without_its_deletion_vector_is_another_file():
    inline = vector("i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L")
    objects = appended(range(2)) | commit(2, remove(name(1)), with_vector(add(name(1)), inline))
    proof = proof_of(objects)
    assert (proof.ranges, proof.newest.files) == (((0, 2),), 1)


def test_a_file_elsewhere_blocks_and_one_of_the_source_by_its_whole_name_does_not():
    objects = appended(range(2))
    here = commit(2, add("s3a://lake/t/part-9.parquet")) | {"t/part-9.parquet": b"x" * 500}
    assert proof_of(objects | here).ranges == ((0, 2),)
    there = proof_of(objects | commit(2, add("s3a://other/t/part-9.parquet")))
    assert (there.ranges, there.blocked[0].reason) == (((0, 1),), "elsewhere")


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("day=a%20b/x.parquet", "t/day=a b/x.parquet"),
        ("t=10%253A00/x.parquet", "t/t=10%3A00/x.parquet"),
        ("%C3%BC+1.parquet", "t/ü+1.parquet"),
    ],
)
def test_a_path_of_the_log_is_found_under_its_key(path, key):
    objects = appended(range(1)) | commit(1, add(path))
    assert proof_of(objects | {key: b"x" * 500}).ranges == ((0, 1),)
    assert proof_of(objects).blocked[0].key == key


def test_a_version_that_needs_a_reader_unknown_here_ends_what_is_claimed():
    objects = appended(range(4)) | commit(2, protocol(3, 7, readerFeatures=["catalogManaged"]), add(name(2)))
    proof = proof_of(objects)
    assert proof.ranges == ((0, 1),)
    assert "catalogManaged" in proof.problems[0].reason


def test_a_log_without_metadata_gives_no_version():
    assert proof_of({LOG + commit_name(0): commit_bytes(commit_info(), protocol())}).ranges == ()


@pytest.mark.parametrize(
    "crc", [crc_bytes(files=2), crc_bytes(files=3, metadata=metadata(OTHER)["metaData"])], ids=["files", "table"]
)
def test_a_version_whose_checksum_says_otherwise_is_not_claimed_nor_what_follows(crc):
    objects = appended(range(4)) | {LOG + checksum_name(3): crc, LOG + checksum_name(2): crc_bytes(files=2)}
    proof = proof_of(objects)
    assert proof.ranges == ((0, 2),)
    assert proof.problems[0].place == commit_name(3)
    later = with_checkpoint(appended(range(8)), 5)
    assert proof_of(later | {LOG + checksum_name(7): crc, LOG + checksum_name(3): crc}).ranges == ((0, 2),)


def test_a_table_dropped_and_made_anew_is_claimed_only_as_its_source_has_it():
    old = appended(range(6))
    new = first_commit_bytes(table_id=OTHER)
    source = {LOG + commit_name(0): new} | commit(1, add("new.parquet")) | {"t/new.parquet": b"x" * 500}
    proof = proof_of(old | source, source)
    assert (proof.ranges, proof.newest.table_id, proof.newest_in_log) == (((0, 1),), OTHER, 1)


def test_a_commit_that_the_source_has_otherwise_is_not_claimed():
    source = appended(range(4))
    copy = source | commit(2, add("foreign.parquet")) | {"t/foreign.parquet": b"x" * 500}
    assert proof_of(copy, source).ranges == ((0, 1),)


def test_what_the_source_no_longer_has_is_not_claimed():
    copy = with_checkpoint(appended(range(6)), 4)
    source = without(copy, *(LOG + commit_name(version) for version in range(4)))
    assert proof_of(copy, source).ranges == ((4, 5),)


def test_a_removed_file_that_comes_back_counts_again():
    objects = appended(range(3)) | commit(3, remove(name(1))) | commit(4, add(name(1)))
    copy = without(objects, f"t/{name(1)}")
    proof = proof_of(copy)
    assert proof.ranges == ((0, 0), (3, 3))
    assert [(one.first, one.last) for one in proof.blocked] == [(4, 4), (1, 2)]


def test_of_many_files_that_are_lacking_those_of_the_newest_version_are_named():
    lost = [f"lost-{number}.parquet" for number in range(2 * MOST_BLOCKED)]
    objects = appended(range(1)) | commit(1, *map(add, lost)) | commit(2, *map(remove, lost), add("last.parquet"))
    proof = proof_of(objects)
    assert (len(proof.blocked), proof.blocked_total) == (MOST_BLOCKED, 2 * MOST_BLOCKED + 1)
    assert proof.blocked[0].key == "t/last.parquet"


def test_versions_as_ranges():
    assert ranges_of([0, 1, 2, 5, 7, 8]) == ((0, 2), (5, 5), (7, 8))
    assert ranges_of([]) == ()
