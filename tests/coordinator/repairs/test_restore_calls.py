"""Putting back what was saved aside: nothing is overwritten, and only what was read back is called done."""

import pytest

from changes.calls import Result
from tests.coordinator.repairs.scenes import restore_object
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
