"""DynamoDB against a whole server: keys, order, pages, segments, settings."""

import threading

import orjson
import pytest

from lake.aws.errors import AwsError
from tests.lake.aws.stub import Reply
from tests.waiting import scaled


def entry(path="s3a://lake/orders", version=0, complete="true", **more):
    return {
        "tablePath": {"S": path},
        "fileName": {"S": f"{version:020}.json"},
        "complete": {"S": complete},
        **more,
    }


@pytest.fixture
def put(dynamodb, log_store):
    def put_items(*items):
        for start in range(0, len(items), 25):
            requests = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
            dynamodb.batch_write_item(RequestItems={log_store: requests})

    return put_items


def items_of(pages):
    return [item for page in pages for item in page]


def versions_of(pages):
    return [int(item["fileName"]["S"][:20]) for item in items_of(pages)]


def key_of(item):
    return {"tablePath": item["tablePath"], "fileName": item["fileName"]}


def test_an_item_is_read_in_wire_form(lake, put, log_store):
    item = entry(n={"N": "1.50"}, b={"BOOL": True}, m={"M": {"l": {"L": [{"NULL": True}]}}}, t={"S": "ü\n😀"})
    put(item)
    assert lake.dynamodb.get_item(log_store, key_of(item)) == item


def test_an_absent_table_is_missing(lake):
    with pytest.raises(AwsError) as raised:
        lake.dynamodb.get_item("no_such_table", key_of(entry()))
    assert raised.value.is_missing
    assert "no_such_table" in str(raised.value)


def test_a_query_is_of_one_hash_key_in_order_and_may_begin_at_a_range_key(lake, put, log_store):
    put(entry(version=2), entry(version=0), entry(version=1), entry(path="s3a://lake/other", version=9))
    asked = (log_store, "tablePath", "s3a://lake/orders")
    assert versions_of(lake.dynamodb.query(*asked)) == [0, 1, 2]
    assert lake.requests.by_operation == {"dynamodb:Query": 1}
    assert lake.requests.read_units > 0
    assert versions_of(lake.dynamodb.query(*asked, range_name="fileName", at_least=f"{1:020}.json")) == [1, 2]


def test_a_limit_holds_over_pages(stub, stub_lake):
    def page(heard, number):
        items = [entry(version=2 * number + n) for n in range(min(2, orjson.loads(heard.body)["Limit"]))]
        return Reply(body=orjson.dumps({"Items": items, "LastEvaluatedKey": key_of(items[-1])}))

    stub.answer(page)
    assert versions_of(stub_lake.dynamodb.query("t", "tablePath", "p", limit=5)) == [0, 1, 2, 3, 4]
    assert [orjson.loads(heard.body)["Limit"] for heard in stub.heard] == [5, 3, 1]


@pytest.mark.parametrize("segments", [1, 4, 7])
def test_a_scan_brings_every_item_once(lake, put, log_store, segments):
    put(*(entry(path=f"s3a://lake/t{n % 9}", version=n) for n in range(120)))
    assert sorted(versions_of(lake.dynamodb.scan(log_store, segments=segments))) == list(range(120))


def test_a_failing_segment_ends_the_scan(stub, stub_lake):
    def page(heard, number):
        if orjson.loads(heard.body)["Segment"] == 2:
            return Reply(400, b'{"__type":"x#ValidationException","message":"bad segment"}')
        return Reply(body=b'{"Items":[]}')

    stub.answer(page)
    with pytest.raises(AwsError, match="bad segment"):
        list(stub_lake.dynamodb.scan("t", segments=4))


def test_closing_a_scan_early_stops_its_threads(stub, stub_lake):
    def page(heard, number):
        return Reply(body=orjson.dumps({"Items": [entry()], "LastEvaluatedKey": key_of(entry(version=number))}))

    stub.answer(page)
    before = set(threading.enumerate())
    pages = stub_lake.dynamodb.scan("t", segments=4)
    next(pages)
    started = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("merge-")]
    assert [thread.daemon for thread in started] == [True] * 4, "a process that ends would wait for their requests"
    pages.close()
    for thread in started:
        thread.join(timeout=scaled(5))
    assert not any(thread.is_alive() for thread in started)


def test_a_description_states_key_schema_billing_time_to_live_and_recovery(lake, dynamodb, log_store):
    dynamodb.update_time_to_live(
        TableName=log_store, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expireTime"}
    )
    dynamodb.update_continuous_backups(
        TableName=log_store, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    store = lake.dynamodb.describe(log_store)
    assert store.key_schema == (("tablePath", "HASH", "S"), ("fileName", "RANGE", "S"))
    assert (store.name, store.status, store.billing) == (log_store, "ACTIVE", "on_demand")
    assert store.created_at.tzinfo is not None
    assert (store.ttl_status, store.ttl_attribute) == ("ENABLED", "expireTime")
    assert (store.point_in_time_recovery, store.unknown) == (True, ())


DESCRIBED = Reply(
    body=b'{"Table":{"TableName":"t","TableStatus":"ACTIVE","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]}}'
)


@pytest.mark.parametrize(
    "refusal",
    [
        b'{"__type":"com.amazonaws.dynamodb.v20120810#UnknownOperationException","message":""}',
        b'{"__type":"x#AccessDeniedException","message":"u is not authorized to perform: dynamodb:DescribeTimeToLive"}',
    ],
)
def test_settings_that_cannot_be_read_are_unknown_with_the_reason(stub, stub_lake, refusal):
    stub.play(DESCRIBED, Reply(400, refusal))
    store = stub_lake.dynamodb.describe("t")
    assert (store.ttl_status, store.point_in_time_recovery, store.deletion_protection) == (None, None, None)
    assert [fact for fact, _ in store.unknown] == ["time to live", "point-in-time recovery"]
    assert all("Exception" in reason for _, reason in store.unknown)


def test_a_garbled_description_is_one_error(stub, stub_lake):
    stub.play(Reply(body=b'{"Table":{"TableName":"t"}}'))
    with pytest.raises(AwsError, match="TableStatus"):
        stub_lake.dynamodb.describe("t")


def test_a_scan_that_goes_round_in_circles_is_one_error(stub, stub_lake):
    stub.play(Reply(body=orjson.dumps({"Items": [entry()], "LastEvaluatedKey": key_of(entry())})))
    with pytest.raises(AwsError, match="repeats the key"):
        list(stub_lake.dynamodb.scan("t", segments=1))


def test_a_key_that_is_not_unicode_is_one_error(stub_lake):
    with pytest.raises(AwsError) as raised:
        stub_lake.dynamodb.get_item("t", {"tablePath": {"S": "\ud800"}})
    assert raised.value.code == "InvalidName"
