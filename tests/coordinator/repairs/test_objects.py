"""Copies that overwrite nothing: races, changed facts, bytes compared."""

import json
from dataclasses import replace

import pytest

from changes.calls import Result
from coordinator.repairs.object_calls import MOST_BYTES
from coordinator.repairs.rescue import CopiedFrom, kept_document
from tests.builders.delta import incomplete_item
from tests.coordinator.repairs.scenes import (
    RESCUE,
    publish,
    require_absent,
    require_empty,
    require_equal,
    save_item,
    save_object,
)
from tests.coordinator.repairs.world import COMMIT, LOG, URI, WRITES, commit_key, make, refusal, temp_key

OTHER = COMMIT.replace(b"WRITE", b"MERGE")


def wrote(port) -> list[str]:
    return [method for method, *_ in port.asked if method in WRITES]


def test_a_published_commit_has_the_bytes_of_its_source(world, port):
    outcome = make(publish(world), port)
    assert world.read(commit_key(7)) == COMMIT
    assert "…7.json was published from .tmp/…7.json." in outcome.sentence


def test_a_reader_that_published_first_loses_nothing(world, port):
    call = publish(world)
    outcome = make(call, port.before("put_if_absent", lambda: world.put(commit_key(7))))
    assert outcome.result is Result.ALREADY
    assert outcome.sentence == "…7.json was published meanwhile; the bytes are equal."


@pytest.mark.parametrize("moment", ["head", "put_if_absent"])
def test_other_bytes_under_the_name_stop_the_repair_and_stay(world, port, moment):
    call = publish(world)
    outcome = make(call, port.before(moment, lambda: world.put(commit_key(7), OTHER)))
    assert outcome.result is Result.STOPPED
    assert f"from byte {COMMIT.index(b'WRITE')} on" in outcome.sentence
    assert world.read(commit_key(7)) == OTHER


@pytest.mark.parametrize("moment", ["head", "get"])
def test_a_source_that_vanishes_stops_the_repair(world, port, moment):
    call = publish(world)
    outcome = make(call, port.before(moment, lambda: world.delete(temp_key(7))))
    assert outcome.result is Result.STOPPED
    assert "nothing was written" in outcome.sentence
    assert wrote(port) == []


@pytest.mark.parametrize("moment", ["head", "get"])
@pytest.mark.parametrize("data", [OTHER, COMMIT + b"{}", b""])
def test_a_source_that_changes_stops_the_repair(world, port, moment, data):
    call = publish(world)
    outcome = make(call, port.before(moment, lambda: world.put(temp_key(7), data)))
    assert outcome.result is Result.STOPPED
    assert wrote(port) == []


def test_another_source_proves_nothing_even_where_it_equals_what_is_published(world, port):
    call = publish(world)
    world.put(temp_key(7), OTHER)
    world.put(commit_key(7), OTHER)
    outcome = make(call, port)
    assert (outcome.result, "not the object that the plan was made from" in outcome.sentence) == (Result.STOPPED, True)


def test_a_writer_that_moved_its_temp_file_has_published_it(world, port):
    call = publish(world)
    world.put(commit_key(7))
    world.delete(temp_key(7))
    outcome = make(call, port)
    assert (outcome.result, "the MD5 is equal" in outcome.sentence) == (Result.ALREADY, True)


@pytest.mark.parametrize("etag", ["0" * 32, "9b2cf535f27731c974343645a3985328-2", ""])
def test_without_its_source_a_file_of_another_etag_proves_nothing(world, port, etag):
    call = replace(publish(world), etag=etag)
    world.put(commit_key(7))
    world.delete(temp_key(7))
    outcome = make(call, port)
    assert (outcome.result, "cannot be compared" in outcome.sentence) == (Result.STOPPED, True)


def test_an_etag_that_is_no_md5_proves_nothing(world, port):
    world.put_in_parts(commit_key(7), COMMIT)
    call = replace(publish(world), etag=world.etag(commit_key(7)))
    world.delete(temp_key(7))
    assert call.etag.endswith("-1")
    assert make(call, port).result is Result.STOPPED


@pytest.mark.parametrize(
    ("act", "word"),
    [
        (lambda world: world.put(commit_key(7), OTHER), "was written and then replaced"),
        (lambda world: world.delete(commit_key(7)), "something deletes it"),
    ],
    ids=["replaced", "deleted"],
)
def test_a_commit_that_is_no_more_as_it_was_written_is_not_called_done(world, port, act, word):
    call = publish(world)
    outcome = make(call, port.after("put_if_absent", lambda: act(world)))
    assert (outcome.result, word in outcome.sentence) == (Result.STOPPED, True)


def test_a_write_that_met_another_without_a_winner_says_to_run_it_again(world, port):
    outcome = make(publish(world), port.before("put_if_absent", refusal("ConditionalRequestConflict")))
    assert outcome.result is Result.STOPPED
    assert "run this again" in outcome.sentence


def test_more_than_a_gibibyte_is_not_even_read(world, port):
    outcome = make(replace(publish(world), size=MOST_BYTES + 1), port)
    assert outcome.result is Result.STOPPED
    assert "1,073,741,825 bytes" in outcome.sentence
    assert port.asked == []


def test_different_files_are_not_equal(world, port):
    call = require_equal(world)
    world.put(commit_key(7), OTHER)
    assert "differ from byte" in make(call, port).sentence


@pytest.mark.parametrize("key", [temp_key(7), commit_key(7)])
def test_an_absent_file_is_equal_to_nothing(world, port, key):
    call = require_equal(world)
    world.delete(key)
    outcome = make(call, port)
    assert (outcome.result, "is not there" in outcome.sentence) == (Result.STOPPED, True)


@pytest.mark.parametrize("version", [7, 8])
def test_a_key_that_exists_is_not_absent(world, port, version):
    call = require_absent(world)
    world.put(commit_key(version))
    outcome = make(call, port)
    assert (outcome.result, f"{version}.json exists" in outcome.sentence) == (Result.STOPPED, True)


def test_any_object_keeps_a_prefix_from_being_empty(world, port):
    call = require_empty(world)
    world.put(commit_key(0))
    outcome = make(call, port)
    assert (outcome.result, "holds …0.json" in outcome.sentence) == (Result.STOPPED, True)


def test_a_prefix_of_too_many_markers_is_not_called_empty(world, port, monkeypatch):
    monkeypatch.setattr("coordinator.repairs.object_calls.MOST_MARKERS", 2)
    call = require_empty(world)
    world.put(f"{LOG}_commits/", b"")
    assert make(call, port).result is Result.STOPPED


def test_an_item_is_saved_in_wire_form_with_the_dynamodb_table_that_it_is_from(world, port):
    make(save_item(world), port)
    document = json.loads(world.read(f"{RESCUE}item.json"))
    assert document == {"levee_rescue": 1, "dynamodb_table": world.log_store, "item": incomplete_item(7, URI)}


def test_an_item_gives_the_same_bytes_whatever_the_order_of_its_attributes():
    item = incomplete_item(7, URI)
    assert kept_document("delta_log", item) == kept_document("delta_log", dict(reversed(item.items())))


def test_a_saved_object_has_a_note_beside_it_of_which_table_it_is(world, port):
    call = replace(save_object(world), copied_from=CopiedFrom(metadata_id="this"))
    assert make(call, port).result is Result.DONE
    assert world.read(f"{RESCUE}object") == COMMIT
    assert json.loads(world.read(f"{RESCUE}table.json")) == {"levee_rescue": 1, "metadata_id": "this"}
    assert make(call, port).result is Result.ALREADY


def test_no_object_is_saved_beside_the_note_of_another_table(world, port):
    call = replace(save_object(world), copied_from=CopiedFrom(metadata_id="this"))
    world.put(f"{RESCUE}table.json", b'{"levee_rescue": 1, "metadata_id": "another"}')
    assert make(call, port).result is Result.STOPPED
    keys = world.keys()
    assert f"{RESCUE}object" not in keys


@pytest.mark.parametrize("number", range(6))
def test_an_object_is_never_saved_without_its_note(world, port, number):
    call = replace(save_object(world), copied_from=CopiedFrom(metadata_id="this"))
    make(call, port.at(number, refusal("InternalError")))
    keys = world.keys()
    assert f"{RESCUE}object" not in keys or f"{RESCUE}table.json" in keys
    assert make(call, port).may_go_on
    keys = world.keys()
    assert f"{RESCUE}table.json" in keys


def test_another_copy_under_the_rescue_name_stops_the_repair(world, port):
    call = save_object(world)
    world.put(f"{RESCUE}object", OTHER)
    outcome = make(call, port)
    assert (outcome.result, "exists with other bytes" in outcome.sentence) == (Result.STOPPED, True)
    assert world.read(f"{RESCUE}object") == OTHER


def test_what_has_gone_before_it_was_saved_stops_the_repair(world, port):
    call = save_object(world)
    world.delete(temp_key(7))
    assert make(call, port).result is Result.STOPPED


def test_what_was_saved_before_it_went_counts_as_saved(world, port):
    call = save_object(world)
    make(call, port)
    world.delete(temp_key(7))
    assert make(call, port).result is Result.ALREADY
