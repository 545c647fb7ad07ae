"""Conditional writes against a whole server: nothing overwritten, nothing deleted by mistake."""

import pytest

from lake.aws.errors import AwsError
from tests.lake.aws.test_s3 import HOSTILE_KEYS

KEY = {"tablePath": {"S": "s3a://lake/orders"}, "fileName": {"S": f"{7:020}.json"}}
PENDING = KEY | {"complete": {"S": "false"}, "tempPath": {"S": ".tmp/x"}}
IS_PENDING = {
    "condition": "#complete = :false AND #tempPath = :t",
    "values": {":false": {"S": "false"}, ":t": {"S": ".tmp/x"}},
}


def complete(lake, table):
    values = IS_PENDING["values"] | {":true": {"S": "true"}}
    return lake.dynamodb.update_item(table, KEY, update="SET #complete = :true", **IS_PENDING | {"values": values})


def refused(act):
    with pytest.raises(AwsError) as raised:
        act()
    assert raised.value.is_condition_failed
    return raised.value


@pytest.mark.parametrize("key", HOSTILE_KEYS)
def test_an_object_of_any_key_is_put_once(lake, bucket, key):
    written = lake.s3.put(bucket, key, b"first")
    refused(lambda: lake.s3.put(bucket, key, b"second"))
    assert lake.s3.get(bucket, key).data == b"first"
    assert lake.s3.head(bucket, key).etag == written.etag
    [page] = lake.s3.list(bucket, key[:2])
    assert [summary.key for summary in page.objects] == [key]


def test_an_object_of_another_etag_stays(lake, bucket):
    lake.s3.put(bucket, "k", b"1")
    refused(lambda: lake.s3.delete(bucket, "k", etag="0" * 32))
    assert lake.s3.get(bucket, "k").data == b"1"


def test_an_item_is_updated_while_its_condition_holds(lake, dynamodb, log_store):
    dynamodb.put_item(TableName=log_store, Item=PENDING)
    written = complete(lake, log_store)
    assert written.item == PENDING | {"complete": {"S": "true"}}
    assert written.request_id
    refused(lambda: complete(lake, log_store))


def test_an_update_does_not_bring_back_an_item_that_has_gone(lake, log_store):
    refused(lambda: complete(lake, log_store))
    assert lake.dynamodb.get_item(log_store, KEY) is None
