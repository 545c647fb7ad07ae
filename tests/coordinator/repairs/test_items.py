"""Conditional changes of items: races lost, items that changed, items of wrong types."""

from dataclasses import replace

import pytest

from changes.calls import Result
from tests.builders.delta import UUID, coordinator_commit, incomplete_item, log_store_item, registration_item
from tests.coordinator.repairs.scenes import (
    FRESH,
    clear_commits,
    complete_entry,
    delete_entry,
    delete_registration,
    raise_version,
    register,
    require_no_entry,
)
from tests.coordinator.repairs.world import NOW, URI, make

OTHER_TEMP = {"S": f".tmp/{7:020d}.json.another"}
CHANGED_ENTRIES = [
    incomplete_item(7, URI, tempPath=OTHER_TEMP),
    incomplete_item(7, URI, tempPath=None),
    incomplete_item(7, URI, complete={"BOOL": False}),
    incomplete_item(7, URI, complete={"S": "False"}),
    log_store_item(7, URI, tempPath=OTHER_TEMP),
    log_store_item(7, URI, complete={"BOOL": True}),
]
CHANGED_REGISTRATIONS = [
    registration_item(8, (6, 7, 8)),
    registration_item(7, (6, 7), path={"S": "s3a://lake/elsewhere"}),
    registration_item(7, (6, 7), schemaVersion={"N": "2"}),
    registration_item(7, (7,)),
    registration_item(7, commits={"L": [coordinator_commit(6), coordinator_commit(7, fsLength={"N": "2"})]}),
    registration_item(7, commits={"S": "[]"}),
    registration_item(7, (6, 7), tableVersion={"S": "7"}),
]


def test_completing_an_entry_sets_nothing_but_what_upstream_sets(world, port):
    make(complete_entry(world), port)
    expected = log_store_item(7, URI, expireTime={"N": str(NOW + 86_400)})
    assert world.items(world.log_store) == [expected]


def test_an_entry_that_a_reader_completed_first_keeps_the_readers_time(world, port):
    call = complete_entry(world)
    completed = log_store_item(7, URI, expireTime={"N": "5"})
    outcome = make(call, port.before("update_item", lambda: world.enter(completed)))
    assert (outcome.result, outcome.sentence) == (Result.ALREADY, "The entry of …7.json was completed meanwhile.")
    assert world.items(world.log_store) == [completed]


@pytest.mark.parametrize("scene", [complete_entry, delete_entry])
@pytest.mark.parametrize("changed", CHANGED_ENTRIES)
def test_an_entry_that_changed_is_left_as_it_is(world, port, scene, changed):
    call = scene(world)
    world.enter(changed)
    outcome = make(call, port)
    assert outcome.result is Result.STOPPED
    assert "is another than the plan's" in outcome.sentence
    assert world.items(world.log_store) == [changed]


def test_an_entry_of_another_lock_stops_the_repair(world, port):
    call = require_no_entry(world)
    world.enter(incomplete_item(7, URI))
    outcome = make(call, port)
    assert outcome.result is Result.STOPPED
    assert outcome.sentence == f"{world.log_store} holds an entry of …7.json as well: nothing was written."


def test_an_entry_that_has_gone_is_not_brought_back(world, port):
    call = complete_entry(world)
    world.remove(incomplete_item(7, URI))
    assert make(call, port).result is Result.STOPPED
    assert world.items(world.log_store) == []


def test_an_entry_completed_meanwhile_is_not_deleted(world, port):
    call = delete_entry(world)
    outcome = make(call, port.before("delete_item", lambda: world.enter(log_store_item(7, URI))))
    assert (outcome.result, "'true'" in outcome.sentence) == (Result.STOPPED, True)
    assert world.items(world.log_store) == [log_store_item(7, URI)]


def test_an_entry_that_changes_back_between_refusal_and_reading_is_left(world, port):
    call = complete_entry(world)
    world.remove(incomplete_item(7, URI))
    outcome = make(call, port.before("get_item", lambda: world.enter(incomplete_item(7, URI))))
    assert (outcome.result, "changed twice meanwhile" in outcome.sentence) == (Result.STOPPED, True)


def test_clearing_touches_the_list_alone(world, port):
    make(clear_commits(world), port)
    assert world.items(world.registry) == [registration_item(7)]


@pytest.mark.parametrize("changed", CHANGED_REGISTRATIONS)
def test_a_list_that_a_writer_changed_is_left_as_it_is(world, port, changed):
    call = clear_commits(world)
    outcome = make(call, port.before("update_item", lambda: world.enter(changed)))
    assert outcome.result is Result.STOPPED
    assert outcome.sentence.startswith("A writer moved on")
    assert world.items(world.registry) == [changed]


def test_a_list_that_a_writer_cleared_first_is_cleared(world, port):
    call = clear_commits(world)
    outcome = make(call, port.before("update_item", lambda: world.enter(registration_item(8))))
    assert outcome.result is Result.ALREADY
    assert world.items(world.registry) == [registration_item(8)]


@pytest.mark.parametrize("scene", [clear_commits, raise_version])
def test_a_registration_that_has_gone_is_not_brought_back(world, port, scene):
    call = scene(world)
    world.remove({"tableId": {"S": UUID}})
    assert make(call, port).result is Result.STOPPED
    assert world.items(world.registry) == []


def test_raising_sets_version_and_timestamp_alone(world, port):
    make(raise_version(world), port)
    expected = registration_item(7, tableTimestamp={"N": "1790000000007"})
    assert world.items(world.registry) == [expected]


@pytest.mark.parametrize(
    "changed",
    [
        registration_item(5),
        registration_item(7),
        registration_item(4, path={"S": "s3a://lake/elsewhere"}),
        registration_item(4, schemaVersion={"N": "2"}),
        registration_item(4, tableVersion={"S": "4"}),
    ],
)
def test_a_version_that_a_writer_changed_is_left_as_it_is(world, port, changed):
    call = raise_version(world)
    world.enter(changed)
    assert make(call, port).result is Result.STOPPED
    assert world.items(world.registry) == [changed]


@pytest.mark.parametrize("goal", [3, 4])
def test_a_version_is_never_lowered(world, port, goal):
    outcome = make(replace(raise_version(world), to_version=goal), port)
    assert outcome.result is Result.STOPPED
    assert port.asked == []


def test_a_registration_is_put_whole(world, port):
    make(register(world), port)
    assert world.items(world.registry) == [registration_item(7)]


def test_another_registration_of_the_id_stays(world, port):
    call = register(world)
    world.enter(registration_item(9))
    assert make(call, port).result is Result.STOPPED
    assert world.items(world.registry) == [registration_item(9)]


@pytest.mark.parametrize(
    "changed",
    [
        registration_item(7, **FRESH | {"hasAcceptedCommits": {"BOOL": True}}),
        registration_item(7, **FRESH | {"hasAcceptedCommits": {"S": "false"}}),
        registration_item(7, (7,), **FRESH),
        registration_item(7, **FRESH | {"path": {"S": "s3a://lake/elsewhere"}}),
        registration_item(8, **FRESH),
    ],
)
def test_a_registration_in_use_is_not_deleted(world, port, changed):
    call = delete_registration(world)
    outcome = make(call, port.before("delete_item", lambda: world.enter(changed)))
    assert outcome.result is Result.STOPPED
    assert world.items(world.registry) == [changed]
