"""Each way in which a copy falls short, by hand: what is still claimed, and what stands in the way of the rest."""

import pytest

from lake.delta.names import checksum_name, commit_name
from lake.delta.restorable import MOST_BLOCKED, ranges_of
from tests.builders.copies import LOG, appended, commit, name, proof_of, without
from tests.builders.delta import (
    UUID,
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
    assert (proof.newest.version, proof_of(objects).ranges) == (7, ((0, 7),))


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


@pytest.mark.parametrize("action", [protocol(), metadata(), {"metaData": {"id": UUID}}])
def test_a_log_without_protocol_and_schema_gives_no_version_and_says_so(action):
    proof = proof_of({LOG + commit_name(0): commit_bytes(commit_info(), action)})
    assert (proof.ranges, proof.newest) == ((), None)
    assert "no protocol, or no metadata" in proof.problems[0].reason


def test_a_key_as_the_log_writes_it_is_no_file_that_readers_find():
    objects = appended(range(1)) | commit(1, add("a%20b.parquet"))
    assert proof_of(objects | {"t/a%20b.parquet": b"x" * 500}).ranges == ((0, 0),)


def test_another_spelling_of_a_path_removes_nothing():
    objects = appended(range(1)) | commit(1, add("x%3D1.parquet")) | commit(2, remove("x=1.parquet"))
    assert proof_of(objects | {"t/x=1.parquet": b"x" * 500}).ranges == ((0, 1),)


def test_a_file_without_a_size_cannot_be_compared():
    objects = appended(range(1)) | commit(1, {"add": {"path": "p.parquet"}}) | {"t/p.parquet": b""}
    proof = proof_of(objects)
    assert (proof.ranges, proof.blocked[0].reason) == (((0, 0),), "no-size")


def test_a_gap_is_named_by_its_missing_commit():
    copy = without(appended(range(6)), LOG + commit_name(3))
    assert [one.place for one in proof_of(copy).problems] == [commit_name(3)]
    copy = without(appended(range(3)), LOG + commit_name(0))
    assert [one.place for one in proof_of(copy).problems] == [commit_name(0)]


def test_a_sidecar_that_is_not_the_source_s_is_none():
    files = [add(name(number)) for number in range(1, 5)]
    sidecar = {"sidecar": {"path": "s.parquet"}}
    source = without(appended(range(6)), LOG + commit_name(0)) | {
        f"{LOG}{4:020d}.checkpoint.{OTHER}.json": commit_bytes(protocol(), metadata(), sidecar),
        f"{LOG}_sidecars/s.parquet": checkpoint_bytes(*files),
    }
    assert proof_of(source, source).ranges == ((4, 5),)
    assert proof_of(source | {f"{LOG}_sidecars/s.parquet": checkpoint_bytes(files[3])}, source).ranges == ()


def test_a_checkpoint_or_a_checksum_that_is_not_the_source_s_counts_for_nothing():
    source = with_checkpoint(without(appended(range(6)), LOG + commit_name(0)), 4)
    assert proof_of(source | {f"{LOG}{4:020d}.checkpoint.parquet": checkpoint_bytes()}, source).ranges == ()
    assert proof_of(source | crc(5, 9, 9), source).ranges == ((4, 5),)
    assert proof_of(source | crc(5, 9, 9), source | crc(5, 9, 9)).ranges == ((4, 4),)


@pytest.mark.parametrize(("offset", "length"), [(-1, 34), (1, None), ("1", 34), (1, -34)])
def test_a_deletion_vector_without_a_place_in_its_file_is_unreadable(offset, length):
    at = {**vector("p", "s3a://lake/t/v.bin"), "offset": offset, "sizeInBytes": length}
    objects = appended(range(2)) | commit(2, remove(name(1)), with_vector(add(name(1)), at))
    assert proof_of(objects | {"t/v.bin": b"x" * 99}).ranges == ((0, 1),)


def test_a_deletion_vector_is_found_by_its_uuid_and_its_offset_counts():
    at = vector("u", "ab^-aqEH.-t@S}K{vb[*k^", offset=100)
    objects = appended(range(2)) | commit(2, remove(name(1)), with_vector(add(name(1)), at))
    key = "t/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    assert proof_of(objects | {key: b"x" * 142}).ranges == ((0, 2),)
    assert proof_of(objects | {key: b"x" * 141}).ranges == ((0, 1),)


def test_the_newest_version_tells_when_it_was_committed():
    body = commit_bytes(commit_info(in_commit_timestamp=7, timestamp=9))
    assert proof_of(appended(range(2)) | {LOG + commit_name(1): body}).newest.committed_at == 7


def crc(version: int, files: int, size: int, table_id: str = UUID) -> dict[str, bytes]:
    body = crc_bytes(files=files, size=size, metadata=metadata(table_id)["metaData"])
    return {LOG + checksum_name(version): body}


@pytest.mark.parametrize("wrong", [(2, 1_500), (3, 1_499), (3, 1_500, OTHER)], ids=["files", "bytes", "table"])
def test_a_version_whose_checksum_says_otherwise_is_not_claimed_nor_what_follows(wrong):
    right = crc(2, 2, 1_000) | crc(7, 7, 3_500)
    proof = proof_of(with_checkpoint(appended(range(8)), 5) | right | crc(3, *wrong) | crc(7, 6, 3_500))
    assert proof.ranges == ((0, 2),)
    assert proof.problems[0].place == commit_name(3)


def test_the_newest_checksum_answers_for_all_before_it():
    objects = appended(range(6)) | crc(4, 4, 2_000)
    assert proof_of(objects | crc(2, 9, 9)).ranges == ((0, 5),)
    assert proof_of(objects | crc(4, 9, 9) | crc(2, 2, 1_000)).ranges == ((0, 3),)
    unreached = objects | {LOG + commit_name(3): b"{"} | crc(2, 9, 9)
    assert proof_of(unreached).ranges == ((0, 1),)


def test_a_checkpoint_of_which_its_checksum_says_otherwise_is_none_nor_what_follows():
    objects = with_checkpoint(without(appended(range(8)), LOG + commit_name(0)), 5)
    assert proof_of(objects | crc(7, 9, 9) | crc(5, 9, 9)).ranges == ()


def test_a_removed_file_that_the_table_does_not_have_ends_what_is_claimed():
    proof = proof_of(with_checkpoint(appended(range(6)) | commit(3, remove("never-there")), 4))
    assert proof.ranges == ((0, 2),)
    assert "never-there" in proof.problems[0].reason


@pytest.mark.parametrize(
    "own", [[add("not-in-it")], [remove(name(1))], [metadata(OTHER)]], ids=["adds", "removes", "is another's"]
)
def test_a_checkpoint_that_its_own_commit_contradicts_is_none(own):
    objects = with_checkpoint(without(appended(range(6)), LOG + commit_name(0)), 4)
    assert proof_of(objects | commit(4, *own)).ranges == ()


def test_a_checkpoint_that_names_a_file_twice_is_none():
    files = [add(name(number)) for number in (1, 2, 3, 4, 4)]
    twice = {f"{LOG}{4:020d}.checkpoint.parquet": checkpoint_bytes(protocol(), metadata(), *files)}
    assert proof_of(without(appended(range(6)), LOG + commit_name(0)) | twice).ranges == ()


def test_another_checkpoint_of_the_version_serves_where_one_is_broken():
    objects = with_checkpoint(without(appended(range(6)), LOG + commit_name(0)), 4)
    classic = f"{LOG}{4:020d}.checkpoint.parquet"
    second = {f"{LOG}{4:020d}.checkpoint.{OTHER}.parquet": objects[classic]}
    assert proof_of(objects | second | {classic: b"PAR1"}).ranges == ((4, 5),)


def test_a_table_dropped_and_made_anew_is_claimed_only_as_its_source_has_it():
    old = appended(range(6))
    new = first_commit_bytes(table_id=OTHER)
    source = {LOG + commit_name(0): new} | commit(1, add("new.parquet")) | {"t/new.parquet": b"x" * 500}
    proof = proof_of(old | source, source)
    assert (proof.ranges, proof.newest.table_id) == (((0, 1),), OTHER)


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


def test_a_file_added_again_with_another_size_counts_once_and_with_that():
    objects = appended(range(1)) | commit(1, add("p"), add("p")) | commit(2, add("p", 600)) | {"t/p": b"x" * 600}
    proof = proof_of(objects)
    assert proof.ranges == ((0, 0), (2, 2))
    assert [tuple(one) for one in proof.blocked] == [("t/p", "other-size", 1, 1)]
    assert (proof.newest.files, proof.newest.bytes) == (1, 600)


def test_what_a_commit_both_removes_and_adds_is_there_after_it():
    proof = proof_of(appended(range(2)) | commit(2, add(name(1)), remove(name(1))))
    assert (proof.ranges, proof.newest.files) == (((0, 2),), 1)


def test_a_file_with_a_deletion_vector_is_not_removed_as_one_without():
    inline = vector("i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L")
    objects = appended(range(2)) | commit(2, remove(name(1)), with_vector(add(name(1)), inline))
    assert proof_of(objects | commit(3, remove(name(1)))).ranges == ((0, 2),)
    assert proof_of(objects | commit(3, with_vector(remove(name(1)), inline))).ranges == ((0, 3),)


def test_versions_that_are_not_reached_are_not_said_to_lack_anything():
    objects = with_checkpoint(without(appended(range(6)), LOG + commit_name(0), LOG + commit_name(3)), 3)
    copy = without(objects, f"t/{name(1)}")
    assert [(one.first, one.last) for one in proof_of(copy).blocked] == [(4, 5)]
    assert proof_of(copy | commit(4, remove(name(1)))).blocked == ()


def test_of_many_files_that_are_lacking_those_of_the_newest_version_are_named():
    lost = [f"lost-{number}.parquet" for number in range(2 * MOST_BLOCKED)]
    objects = appended(range(1)) | commit(1, *map(add, lost)) | commit(2, *map(remove, lost), add("last.parquet"))
    proof = proof_of(objects)
    assert (len(proof.blocked), proof.blocked_total) == (MOST_BLOCKED, 2 * MOST_BLOCKED + 1)
    assert proof.blocked[0].key == "t/last.parquet"


def test_versions_as_ranges():
    assert ranges_of([0, 1, 2, 5, 7, 8]) == ((0, 2), (5, 5), (7, 8))
    assert ranges_of([]) == ()
