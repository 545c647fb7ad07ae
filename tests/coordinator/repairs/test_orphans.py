"""Files that belong to no commit go only while nothing names them and they are what was seen."""

import pytest

from changes.calls import Result
from coordinator.repairs.orphan_calls import DeleteOrphan
from tests.builders.delta import UUID, coordinator_commit, incomplete_item, log_store_item, registration_item
from tests.coordinator.repairs.scenes import delete_copied_file, delete_staged_file, delete_temp_file
from tests.coordinator.repairs.world import COMMIT, URI, commit_key, make, staged_key, temp_key


@pytest.mark.parametrize("item", [incomplete_item(7, URI), log_store_item(7, URI)])
def test_a_temp_file_that_its_entry_names_stays(world, port, item):
    call = delete_temp_file(world)
    world.enter(item)
    outcome = make(call, port)
    assert (outcome.result, "names .tmp/…7.json." in outcome.sentence) == (Result.STOPPED, True)
    assert world.read(temp_key(7)) == COMMIT


@pytest.mark.parametrize("temp_path", [None, {"N": "7"}, {"BOOL": True}])
def test_a_temp_file_stays_while_its_entry_cannot_be_read(world, port, temp_path):
    call = delete_temp_file(world)
    world.enter(incomplete_item(7, URI, tempPath=temp_path))
    assert make(call, port).result is Result.STOPPED
    assert world.keys() == [temp_key(7)]


def test_a_temp_file_stays_once_the_entry_has_gone_that_told_of_it(world, port):
    call = delete_temp_file(world)
    world.remove(incomplete_item(7, URI))
    outcome = make(call, port)
    assert (outcome.result, "nothing was deleted" in outcome.sentence) == (Result.STOPPED, True)
    assert world.read(temp_key(7)) == COMMIT


def test_a_temp_file_stays_once_its_entry_names_another_than_planned(world, port):
    call = delete_temp_file(world)
    world.enter(incomplete_item(7, URI, tempPath={"S": f".tmp/{7:020d}.json.third"}))
    assert make(call, port).result is Result.STOPPED
    assert world.keys() == [temp_key(7)]


def test_a_copied_file_goes_without_any_entry(world, port):
    assert make(delete_copied_file(world), port).result is Result.DONE
    assert world.keys() == [commit_key(7)]


@pytest.mark.parametrize(
    "meddle",
    [lambda world: world.put(commit_key(7), b"foreign"), lambda world: world.delete(commit_key(7))],
    ids=["replaced", "gone"],
)
def test_a_copied_file_stays_once_no_other_object_holds_its_bytes(world, port, meddle):
    call = delete_copied_file(world)
    meddle(world)
    outcome = make(call, port)
    assert outcome.result is Result.STOPPED
    assert world.read(temp_key(7)) == COMMIT
    assert "delete_object" not in [method for method, *_ in port.asked]


def test_a_copied_file_that_an_entry_names_after_all_stays(world, port):
    call = delete_copied_file(world)
    world.enter(incomplete_item(7, URI))
    assert make(call, port).result is Result.STOPPED
    assert world.read(temp_key(7)) == COMMIT


def test_a_staged_file_that_the_list_names_stays(world, port):
    call = delete_staged_file(world)
    world.enter(registration_item(8, (7, 8)))
    outcome = make(call, port)
    assert (outcome.result, "names _staged_commits/…7." in outcome.sentence) == (Result.STOPPED, True)
    assert world.keys() == [staged_key(7)]


@pytest.mark.parametrize(
    "commits",
    [
        None,
        {"S": "[]"},
        {"L": [{"S": "x"}]},
        {"L": [{"M": {}}]},
        {"L": [coordinator_commit(8), coordinator_commit(9, fsName=None)]},
    ],
)
def test_a_staged_file_stays_while_the_list_cannot_be_read(world, port, commits):
    call = delete_staged_file(world)
    world.enter(registration_item(8, commits=commits))
    assert make(call, port).result is Result.STOPPED
    assert world.keys() == [staged_key(7)]


def test_a_staged_file_stays_while_its_registration_is_missing(world, port):
    call = delete_staged_file(world)
    world.remove({"tableId": {"S": UUID}})
    assert make(call, port).result is Result.STOPPED
    assert world.keys() == [staged_key(7)]


@pytest.mark.parametrize("moment", ["head", "delete_object"])
def test_a_file_that_changed_stays(world, port, moment):
    call = delete_temp_file(world)
    outcome = make(call, port.before(moment, lambda: world.put(temp_key(7), b"other")))
    assert outcome.result is Result.STOPPED
    assert world.read(temp_key(7)) == b"other"


def test_a_file_that_is_another_than_planned_is_not_even_asked_to_go(world, port):
    call = delete_temp_file(world)
    world.put(temp_key(7), b"other")
    make(call, port)
    assert [method for method, *_ in port.asked] == ["get_item", "head"]


def test_a_file_that_goes_just_before_counts_as_deleted(world, port):
    call = delete_temp_file(world)
    assert make(call, port.before("delete_object", lambda: world.delete(temp_key(7)))).result is Result.DONE


def test_a_file_that_nothing_could_name_is_left(world, port):
    etag = world.put(temp_key(7))
    call = DeleteOrphan(world.bucket, temp_key(7), etag, len(COMMIT), world.log_store)
    assert make(call, port).result is Result.STOPPED
    assert port.asked == []
