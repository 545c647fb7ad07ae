"""The log that a restore point has a copy of: the shortest that gives the proven state, and nothing besides."""

from collections.abc import Mapping
from typing import Any

import pytest

from lake.delta.names import checksum_name, commit_name
from lake.delta.point_log import PointLog, point_log
from lake.delta.proving import Prover
from lake.delta.restorable import TableFiles, with_accepted
from tests.builders.copies import LOG, LogInMemory, appended, commit, log_listing, name, without
from tests.builders.delta import UUID, add, checkpoint_bytes, commit_bytes, crc_bytes, metadata, protocol, remove

STAGED = f"_staged_commits/{3:020d}.{UUID}.json"
VECTOR = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 4, "sizeInBytes": 40}
# The example of PROTOCOL.md, "Deletion Vector Format".
VECTOR_FILE = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"


def shortest(objects: Mapping[str, bytes], accepted: Mapping[int, str] | None = None) -> PointLog | None:
    sizes = {key: len(data) for key, data in objects.items()}
    listing = with_accepted(log_listing(objects), accepted or {})
    prover = Prover(listing, LogInMemory(objects), TableFiles("t", "lake", lambda key: key, sizes.get))
    return point_log(prover, prover.prove())


def checkpoint(version: int, *paths: str, **more: Any) -> dict[str, bytes]:
    body = checkpoint_bytes(protocol(), metadata(), *(add(path) for path in paths))
    return {f"{LOG}{version:020d}.checkpoint.parquet": body} | more


def names(*versions: int) -> set[str]:
    return {commit_name(version) for version in versions}


def test_it_begins_with_the_newest_checkpoint_and_ends_with_the_version():
    objects = appended(range(8)) | checkpoint(2, name(1), name(2)) | checkpoint(4, *map(name, range(1, 5)))
    objects |= checkpoint(7, *map(name, range(1, 8)))
    objects |= {LOG + checksum_name(7): crc_bytes(7, 3_500), LOG + checksum_name(6): crc_bytes(1)}

    point = shortest(without(objects, f"t/{name(7)}"))

    assert (point.base, point.state.version, point.state.files) == (4, 6, 6)
    assert point.objects.keys() == {f"{4:020d}.checkpoint.parquet", *names(4, 5, 6)}
    assert point.files == {f"t/{name(version)}": name(version) for version in range(1, 7)}


@pytest.mark.parametrize(
    "body",
    [
        b"no Parquet",
        checkpoint_bytes(protocol(), metadata(), add("another.parquet")),
        checkpoint_bytes(protocol(), metadata(), add(name(4))),
    ],
)
def test_a_checkpoint_that_does_not_lead_to_what_was_proven_is_passed_over(body):
    point = shortest(appended(range(6)) | {f"{LOG}{4:020d}.checkpoint.parquet": body})
    assert (point.base, point.objects.keys()) == (-1, names(*range(6)))


def test_of_a_cleaned_log_it_begins_with_what_the_proof_began_with():
    objects = without(appended(range(6)), *(LOG + commit_name(version) for version in range(3)))
    point = shortest(objects | checkpoint(3, *map(name, range(1, 4))) | {f"{LOG}{5:020d}.checkpoint.parquet": b"x"})
    assert (point.base, point.objects.keys()) == (3, {f"{3:020d}.checkpoint.parquet", *names(3, 4, 5)})


def test_an_accepted_commit_is_published_in_it():
    objects = appended(range(3)) | {
        LOG + STAGED: commit(3, add(name(3)))[LOG + commit_name(3)],
        f"t/{name(3)}": b"x" * 500,
    }
    point = shortest(objects, {3: STAGED})
    assert point.objects.keys() == names(0, 1, 2, 3)
    assert point.objects[commit_name(3)].name == STAGED


def test_only_the_sidecars_that_its_checkpoint_names_are_in_it():
    sidecars = {f"{LOG}_sidecars/{one}.parquet": checkpoint_bytes(add(name(1)), add(name(2))) for one in ("a", "b")}
    manifest = commit_bytes(protocol(), metadata(), {"sidecar": {"path": "a.parquet", "sizeInBytes": 1}})
    point = shortest(appended(range(4)) | sidecars | {f"{LOG}{2:020d}.checkpoint.{UUID}.json": manifest})
    assert point.objects.keys() == {f"{2:020d}.checkpoint.{UUID}.json", "_sidecars/a.parquet", *names(2, 3)}


def test_deletion_vectors_and_files_that_are_named_in_full_are_among_its_files():
    marked = {"add": {**add(name(1))["add"], "deletionVector": VECTOR}}
    objects = appended(range(2)) | commit(2, remove(name(1)), marked, add("s3a://lake/other/a%20b.parquet"))
    objects |= {"other/a b.parquet": b"x" * 500, f"t/{VECTOR_FILE}": b"x" * 60}
    point = shortest(objects)
    assert point.files == {f"t/{name(1)}": name(1), f"t/{VECTOR_FILE}": VECTOR_FILE, "other/a b.parquet": None}


def test_where_nothing_can_be_restored_there_is_none():
    assert shortest(without(appended(range(2)), LOG + commit_name(0))) is None
