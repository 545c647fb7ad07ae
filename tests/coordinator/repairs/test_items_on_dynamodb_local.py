"""Changes of items on Amazon's own DynamoDB Local, beside writers that speak as upstream's do.

moto reads legacy parameters otherwise than DynamoDB does; what rests on them is proven here.
"""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import boto3
import pytest

from backups.restores.clearing import ClearStores
from changes.calls import Result, Sending
from coordinator.repairs.item_calls import ClearCommits, DeleteRegistration
from dashboard.connections.accepted import StoreItem
from lake.aws.access import Access, open_lake
from tests.builders.delta import UUID, coordinator_commit, incomplete_item, log_store_item, registration_item
from tests.coordinator.repairs.scenes import (
    FRESH,
    ITEM_SCENES,
    clear_commits,
    complete_entry,
    delete_registration,
    name,
    register,
)
from tests.coordinator.repairs.world import NOW, URI, Meddled, World, make
from tests.dynamodb_local import dynamodb_local  # noqa: F401
from tests.lake.aws.conftest import KEYS
from tests.waiting import scaled

RACERS = 16


@pytest.fixture
def world(dynamodb_local, s3) -> World:  # noqa: F811
    """Items on DynamoDB Local; no object is asked for here."""
    return World(s3, boto3.client("dynamodb", endpoint_url=dynamodb_local, **KEYS), uuid.uuid4().hex[:12])


@pytest.fixture
def local(dynamodb_local):  # noqa: F811
    access = Access("us-east-1", dynamodb_endpoint_url=dynamodb_local, static_credentials=("sandbox", "sandbox"))
    with open_lake(access) as lake:
        yield lake


def write_as_upstream(world: World, updates: dict, expected: dict) -> None:
    """UpdateItem with the legacy parameters of the coordinator's client, AttributeUpdates and Expected."""
    world.dynamodb.update_item(
        TableName=world.registry,
        Key={"tableId": {"S": UUID}},
        AttributeUpdates={key: {"Action": action, "Value": value} for key, (action, value) in updates.items()},
        Expected={key: {"Value": value} for key, value in expected.items()},
    )


def commit_as_upstream(world: World, version: int) -> None:
    updates = {
        "tableVersion": ("PUT", {"N": str(version)}),
        "tableTimestamp": ("PUT", {"N": str(1_790_000_000_000 + version)}),
        "hasAcceptedCommits": ("PUT", {"BOOL": True}),
        "commits": ("ADD", {"L": [coordinator_commit(version)]}),
    }
    expected = {
        "tableVersion": {"N": str(version - 1)},
        "acceptingCommits": {"BOOL": True},
        "path": {"S": URI},
        "schemaVersion": {"N": "1"},
    }
    write_as_upstream(world, updates, expected)


def clearing_of(world: World) -> ClearCommits:
    [item] = world.items(world.registry)
    return ClearCommits(world.registry, UUID, URI, int(item["tableVersion"]["N"]), item["commits"])


@pytest.mark.parametrize("scene", ITEM_SCENES, ids=name)
def test_one_of_sixteen_racers_wins(world, local, scene):
    call = scene(world)
    start = threading.Barrier(RACERS)

    def race(_):
        start.wait(timeout=scaled(20))
        return make(call, local).result

    with ThreadPoolExecutor(RACERS) as pool:
        results = list(pool.map(race, range(RACERS)))
    assert sorted(results) == [Result.ALREADY] * (RACERS - 1) + [Result.DONE]


def test_a_list_that_upstream_wrote_is_cleared_while_it_is_as_read(world, local):
    world.enter(registration_item(5))
    commit_as_upstream(world, 6)
    commit_as_upstream(world, 7)
    assert make(clearing_of(world), local).result is Result.DONE
    [item] = world.items(world.registry)
    assert (item["commits"], item["tableVersion"], item["hasAcceptedCommits"]) == (
        {"L": []},
        {"N": "7"},
        {"BOOL": True},
    )


def test_a_commit_of_upstream_between_reading_and_clearing_stays(world, local):
    world.enter(registration_item(5))
    commit_as_upstream(world, 6)
    call = clearing_of(world)
    port = Meddled(local).before("update_item", lambda: commit_as_upstream(world, 7))
    assert make(call, port).result is Result.STOPPED
    [item] = world.items(world.registry)
    assert len(item["commits"]["L"]) == 2


def test_a_list_is_the_same_however_its_numbers_are_written(world, local):
    call = clear_commits(world)
    same = {"L": [coordinator_commit(version, fsLength={"N": "1000.0"}) for version in (6, 7)]}
    assert make(replace(call, commits=same), local).result is Result.DONE


def test_upstream_commits_after_its_list_was_cleared(world, local):
    make(clear_commits(world), local)
    commit_as_upstream(world, 8)
    [item] = world.items(world.registry)
    assert [element["M"]["version"] for element in item["commits"]["L"]] == [{"N": "8"}]


def test_upstream_commits_to_a_registration_that_was_put(world, local):
    make(register(world), local)
    commit_as_upstream(world, 8)
    [item] = world.items(world.registry)
    assert item["tableVersion"] == {"N": "8"}


def test_a_registration_that_upstream_wrote_and_never_used_is_deleted(world, local):
    world.dynamodb.put_item(
        TableName=world.registry,
        Item=registration_item(7, **FRESH),
        Expected={"tableId": {"Exists": False}},
    )
    assert make(DeleteRegistration(world.registry, UUID, URI, 7), local).result is Result.DONE
    assert world.items(world.registry) == []


def test_a_first_commit_of_upstream_keeps_its_registration(world, local):
    call = delete_registration(world)
    outcome = make(call, Meddled(local).before("delete_item", lambda: commit_as_upstream(world, 8)))
    assert (outcome.result, "hasAcceptedCommits BOOL" in outcome.sentence) == (Result.STOPPED, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"commits": None},
        {"commits": {"S": ""}},
        {"hasAcceptedCommits": {"S": "false"}},
        {"hasAcceptedCommits": None},
    ],
)
def test_a_registration_of_wrong_types_is_left_as_it_is(world, local, changes):
    call = delete_registration(world)
    item = world.enter(registration_item(7, **FRESH | changes))
    assert not make(call, local).may_go_on
    assert world.items(world.registry) == [item]


def test_upstreams_unconditional_completion_beside_ours_leaves_one_complete_entry(world, local):
    call = complete_entry(world)
    completed = incomplete_item(7, URI, complete={"S": "true"}, expireTime={"N": str(NOW)})
    outcome = make(call, Meddled(local).before("update_item", lambda: world.enter(completed)))
    assert outcome.result is Result.ALREADY
    assert world.items(world.log_store) == [completed]


def test_to_ask_whether_stores_may_be_cleared_changes_nothing_and_clearing_them_does(local, world):
    for store, item in ((world.log_store, log_store_item(8)), (world.registry, registration_item(9, [9]))):
        world.dynamodb.put_item(TableName=store, Item=item)
    entry, registration = (world.dynamodb.scan(TableName=one)["Items"][0] for one in (world.log_store, world.registry))
    stands = StoreItem(world.log_store, entry), StoreItem(world.registry, registration)
    call, sending = ClearStores(entries=stands[:1], registrations=stands[1:]), Sending(local)
    call.require_permitted(sending)
    assert (len(sending.request_ids), sending.taken) == (2, [])
    assert world.dynamodb.scan(TableName=world.log_store)["Items"] == [entry]
    assert world.dynamodb.scan(TableName=world.registry)["Items"] == [registration]
    assert call.send(sending).result is Result.DONE
    assert world.dynamodb.scan(TableName=world.log_store)["Items"] == []
