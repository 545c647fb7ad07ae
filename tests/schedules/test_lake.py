"""The memory lake answers as S3 of moto and DynamoDB Local do: the same requests by Levee's clients, side by side."""

import random
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lake.aws import access
from lake.aws.access import Access, Lake, open_lake
from lake.aws.errors import AwsError
from tests.dynamodb_local import dynamodb_local  # noqa: F401
from tests.lake.aws.conftest import endpoint, s3  # noqa: F401
from tests.schedules.clock import Clock
from tests.schedules.gate import Gate, opened
from tests.schedules.lake import MemoryLake, Table
from tests.schedules.place import ENDPOINT, REGION
from tests.schedules.world import World, empty_lake

LOG_STORE, COORDINATOR = "log-store", "coordinator"
TABLES = {LOG_STORE: ("tablePath", "fileName"), COORDINATOR: ("tableId",)}
SEQUENCES, LENGTH = 8, 30
KEYS_OF_OBJECTS = ["log/0.json", "log/1.json", "log/.tmp/1.json.a b", "log/_staged/1.ü.json", "log/_staged/2.json"]
Do = Callable[[Lake], Any]


@pytest.fixture
def memory() -> MemoryLake:
    """A memory lake that holds nothing."""
    empty = empty_lake()
    empty.tables |= {name: Table(keys) for name, keys in TABLES.items()}
    return empty


@pytest.fixture
def played(memory: MemoryLake, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    """Levee's clients of the memory lake."""
    with monkeypatch.context() as patch:
        patch.setattr(access, "Transport", opened(Gate(World(clock, memory), clock)))
        found = open_lake(access_to(ENDPOINT))
    with found:
        yield found


def told(lake: Lake, do: Do) -> Any:
    """What a request brings, or its error; without what no two services have alike."""
    try:
        return do(lake)
    except AwsError as error:
        return error.code


# S3


def object_requests(dice: random.Random, bucket: str) -> Do:
    """One request on a few keys, chosen by the dice."""
    key, data = dice.choice(KEYS_OF_OBJECTS), dice.choice([b"", b"one", b"another"])
    span = dice.choice([{}, {"first": 0, "last": 1}, {"first": 1}, {"first": -2}, {"first": 99}])
    # Moto takes a start and a delimiter for each other's page ends; Levee asks for whole pages of a folder.
    after, most = dice.choice([("", 1_000), ("log/0.json", 1_000), ("", 2)])
    delimiter = dice.choice(["", "/"]) if most > 2 else ""

    def listed(lake: Lake) -> Any:
        pages = lake.s3.list(bucket, "log/", start_after=after, delimiter=delimiter, max_keys=most)
        return [([(one.key, one.size, one.etag) for one in page.objects], page.prefixes) for page in pages]

    def got(lake: Lake) -> Any:
        body = lake.s3.get(bucket, key, **span)
        return body.data, body.size, body.etag

    def headed(lake: Lake) -> Any:
        found = lake.s3.head(bucket, key)
        return found and (found.size, found.etag)

    def deleted(lake: Lake) -> Any:
        found = lake.s3.head(bucket, key)
        etag = found.etag if found and dice_roll > 0.3 else "0" * 32
        return lake.s3.delete(bucket, key, etag=etag).etag

    dice_roll = dice.random()
    return dice.choice([listed, got, headed, deleted, lambda lake: lake.s3.put(bucket, key, data).etag])


def test_its_objects_are_those_of_moto(memory: MemoryLake, played: Lake, endpoint, s3):  # noqa: F811
    with open_lake(access_to(endpoint)) as moto:
        for number in range(SEQUENCES):
            dice, bucket = random.Random(number), f"lake-{uuid.uuid4().hex[:12]}"
            memory.buckets[bucket] = {}
            s3.create_bucket(Bucket=bucket)
            for step in range(LENGTH):
                do = object_requests(dice, bucket)
                assert told(played, do) == told(moto, do), f"sequence {number}, step {step}"


# DynamoDB

ENTRY = {"tablePath": {"S": "s3a://lake/orders"}, "fileName": {"S": "1.json"}}
PENDING = "#complete = :false AND #tempPath = :tempPath"
VALUES = {":false": {"S": "false"}, ":tempPath": {"S": "t"}}


def entry(version: int, temp: str, complete: str) -> dict[str, Any]:
    return {**ENTRY, "fileName": {"S": f"{version}.json"}, "tempPath": {"S": temp}, "complete": {"S": complete}}


def registration(version: int, listed: list[int]) -> dict[str, Any]:
    commits = [{"M": {"version": {"N": str(one)}, "fsName": {"S": f"{one}.json"}}} for one in listed]
    item = {"tableId": {"S": "a"}, "path": {"S": "p"}, "tableVersion": {"N": str(version)}, "commits": {"L": commits}}
    return {**item, "acceptingCommits": {"BOOL": True}}


def entry_requests(dice: random.Random) -> Do:
    """One request on the entries of one table, chosen by the dice; now and then a value is given in vain."""
    version, temp = dice.randrange(3), dice.choice("tu")
    key = {**ENTRY, "fileName": {"S": f"{version}.json"}}
    item = entry(version, temp, dice.choice(["true", "false"]))
    values = {**VALUES, ":tempPath": {"S": temp}}
    limit = dice.choice([None, 1, 2])
    absent = "attribute_not_exists(tablePath)"
    spare = dice.random() < 0.1

    def put(lake: Lake) -> Any:
        return lake.dynamodb.put_item(LOG_STORE, item, condition=absent, values=VALUES if spare else None).item

    def complete(lake: Lake) -> Any:
        update = "SET #complete = :true, #expireTime = :at"
        given = {**values, ":true": {"S": "true"}, ":at": {"N": "7"}}
        return lake.dynamodb.update_item(LOG_STORE, key, update=update, condition=PENDING, values=given).item

    def delete(lake: Lake) -> Any:
        return lake.dynamodb.delete_item(LOG_STORE, key, condition=PENDING, values=values).item

    def query(lake: Lake) -> Any:
        asked = {"range_name": "fileName", "at_least": f"{version}.json"} if version else {}
        pages = lake.dynamodb.query(LOG_STORE, "tablePath", ENTRY["tablePath"]["S"], limit=limit, **asked)
        return [found for page in pages for found in page]

    def scan(lake: Lake) -> Any:
        return sorted((found for page in lake.dynamodb.scan(LOG_STORE) for found in page), key=repr)

    return dice.choice([put, put, complete, delete, query, scan, lambda lake: lake.dynamodb.get_item(LOG_STORE, key)])


def registration_requests(dice: random.Random) -> Do:
    """One request on one registration, chosen by the dice."""
    version, listed = dice.randrange(2), dice.choice([[], [1], [1, 2]])
    item, key = registration(version, listed), {"tableId": {"S": "a"}}
    values = {":v": {"N": f"{version}.0" if dice.random() < 0.2 else str(version)}, ":p": {"S": "p"}}
    condition = "#tableVersion = :v AND #path = :p"

    def put(lake: Lake) -> Any:
        condition = "attribute_not_exists(#tableId) OR #tableId <> :i"
        return lake.dynamodb.put_item(COORDINATOR, item, condition=condition, values={":i": {"S": "b"}}).item

    def clear(lake: Lake) -> Any:
        given = {**values, ":read": item["commits"], ":empty": {"L": []}}
        return lake.dynamodb.update_item(
            COORDINATOR,
            key,
            update="SET #commits = :empty",
            condition=f"{condition} AND #commits = :read",
            values=given,
        ).item

    def append(lake: Lake) -> Any:
        given = {**values, ":next": {"N": str(version + 1)}, ":new": registration(0, [version + 1])["commits"]}
        update = "SET #tableVersion = :next, #commits = list_append(#commits, :new)"
        return lake.dynamodb.update_item(COORDINATOR, key, update=update, condition=condition, values=given).item

    def delete(lake: Lake) -> Any:
        given = {**values, ":none": {"N": "0"}}
        return lake.dynamodb.delete_item(
            COORDINATOR, key, condition=f"{condition} AND size(#commits) = :none", values=given
        ).item

    return dice.choice([put, clear, append, delete, lambda lake: lake.dynamodb.get_item(COORDINATOR, key)])


def make_table(real: Lake, name: str, keys: tuple[str, ...]) -> None:
    schema = [{"AttributeName": key, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)]
    attributes = [{"AttributeName": key, "AttributeType": "S"} for key in keys]
    wanted = {"TableName": name, "KeySchema": schema, "AttributeDefinitions": attributes}
    real.dynamodb.ask("CreateTable", {**wanted, "BillingMode": "PAY_PER_REQUEST"})


def test_its_items_are_those_of_dynamodb_local(played: Lake, dynamodb_local):  # noqa: F811
    with open_lake(access_to(dynamodb_local, "eu-north-1")) as local:
        for name, keys in TABLES.items():
            make_table(local, name, keys)
        for number in range(SEQUENCES):
            dice = random.Random(number)
            for step in range(LENGTH):
                do = entry_requests(dice) if dice.random() < 0.5 else registration_requests(dice)
                assert told(played, do) == told(local, do), f"sequence {number}, step {step}"


def test_a_read_that_does_not_ask_for_consistency_is_stale(played: Lake):
    item = registration(1, [])
    played.dynamodb.put_item(COORDINATOR, item, condition="attribute_not_exists(tableId)")
    asked = {"TableName": COORDINATOR, "Key": {"tableId": item["tableId"]}}
    assert played.dynamodb.ask("GetItem", asked) == {}
    assert played.dynamodb.get_item(COORDINATOR, asked["Key"]) == item


def access_to(url: str, region: str = REGION) -> Access:
    return Access(region, endpoint_url=url, static_credentials=("sandbox", "sandbox"))
