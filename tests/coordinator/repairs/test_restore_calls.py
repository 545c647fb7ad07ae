"""Putting back what was saved aside: nothing is overwritten, and only what was read back is called done."""

import pytest

from changes.calls import Result
from tests.builders.delta import UUID, registration_item
from tests.coordinator.repairs.scenes import restore_entry, restore_object, restore_registration
from tests.coordinator.repairs.world import COMMIT, make, temp_key

OTHER = COMMIT.replace(b"WRITE", b"MERGE")


def test_a_restored_object_has_the_bytes_of_its_copy_and_the_copy_stays(world, port):
    call = restore_object(world)

    assert make(call, port).result is Result.DONE
    assert (world.read(temp_key(7)), world.read(call.source)) == (COMMIT, COMMIT)


@pytest.mark.parametrize("moment", ["get", "put_if_absent"])
def test_other_bytes_under_the_key_stop_it_and_stay(world, port, moment):
    call = restore_object(world)
    outcome = make(call, port.before(moment, lambda: world.put(temp_key(7), OTHER)))

    assert (outcome.result, "it was left as it is" in outcome.sentence) == (Result.STOPPED, True)
    assert world.read(temp_key(7)) == OTHER


@pytest.mark.parametrize("replaced", [OTHER, b""])
def test_a_copy_that_was_replaced_since_the_plan_is_not_put_back(world, port, replaced):
    call = restore_object(world)
    world.put(call.source, replaced)

    assert make(call, port).result is Result.STOPPED
    keys = world.keys()
    assert temp_key(7) not in keys


def test_a_copy_that_has_gone_stops_it(world, port):
    call = restore_object(world)
    world.delete(call.source)
    outcome = make(call, port)

    assert (outcome.result, "has gone: nothing was written" in outcome.sentence) == (Result.STOPPED, True)


def test_an_object_that_is_replaced_right_after_the_write_is_not_called_done(world, port):
    call = restore_object(world)
    outcome = make(call, port.after("put_if_absent", lambda: world.put(temp_key(7), OTHER)))

    assert (outcome.result, outcome.wrote) == (Result.STOPPED, True)


@pytest.mark.parametrize("scene", [restore_entry, restore_registration])
def test_a_restored_item_has_every_attribute_of_its_copy(world, port, scene):
    call = scene(world)

    assert make(call, port).result is Result.DONE
    assert world.items(call.table) == [call.item]


def test_an_entry_that_a_writer_put_first_stays(world, port):
    call = restore_entry(world)
    rival = {**call.item, "tempPath": {"S": f".tmp/{7:020d}.json.rival"}}
    outcome = make(call, port.before("put_item", lambda: world.enter(rival)))

    assert (outcome.result, "says something else" in outcome.sentence) == (Result.STOPPED, True)
    assert world.items(world.log_store) == [rival]


def test_a_registration_that_was_made_again_meanwhile_stays(world, port):
    call = restore_registration(world)
    newer = registration_item(9)
    outcome = make(call, port.before("put_item", lambda: world.enter(newer)))

    assert outcome.result is Result.STOPPED
    assert world.items(world.coordinator) == [newer]


def test_an_item_that_a_writer_moves_on_right_after_the_write_is_not_called_done(world, port):
    call = restore_registration(world)
    outcome = make(call, port.after("put_item", lambda: world.enter(registration_item(9))))

    assert (outcome.result, outcome.wrote) == (Result.STOPPED, True)
    assert "has been changed since" in outcome.sentence


def test_an_item_is_read_back_strongly_consistently_by_its_whole_key(world, port):
    make(restore_registration(world), port)

    [(_, (table, key), _)] = [asked for asked in port.asked if asked[0] == "get_item"]
    assert (table, key) == (world.coordinator, {"tableId": {"S": UUID}})
