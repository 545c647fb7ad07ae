"""Conditional writes at a hostile endpoint: lost answers, refusals, endpoints without conditions."""

import re
import socket
import threading
import time
from dataclasses import replace

import orjson
import pytest

from lake.aws.errors import AwsError
from tests.lake.aws.stub import QUICK, Reply, quick
from tests.lake.aws.test_signing import assert_signed
from tests.lake.aws.test_wire import SLOW_DOWN, dynamodb_error, failure
from tests.waiting import scaled

WRITTEN = Reply(headers={"ETag": '"e"', "x-amz-request-id": "R7"})
PRECONDITION = Reply(412, b"<Error><Code>PreconditionFailed</Code><Message>m</Message></Error>")
CONFLICT = Reply(409, b"<Error><Code>ConditionalRequestConflict</Code><Message>m</Message></Error>")
DENIED = Reply(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
NOT_IMPLEMENTED = Reply(
    501, b"<Error><Code>NotImplemented</Code><Message>A header is not implemented</Message></Error>"
)
UNKNOWN_HEADER = Reply(
    400, b"<Error><Code>InvalidArgument</Code><Message>Unsupported header 'if-none-match' received</Message></Error>"
)


def put(lake):
    return lake.s3.put("lake", "k", b"data")


def delete(lake):
    return lake.s3.delete("lake", "k", etag="e")


def update(lake):
    return lake.dynamodb.update_item(
        "t", {"a": {"S": "b"}}, update="SET #c = :c", condition="#c = :d", values={":c": {"S": "1"}}
    )


def put_item(lake):
    return lake.dynamodb.put_item("t", {"a": {"S": "b"}}, condition="attribute_not_exists(a)")


def delete_item(lake):
    return lake.dynamodb.delete_item("t", {"a": {"S": "b"}}, condition="attribute_exists(a)", values={})


def test_a_put_is_sent_on_its_condition_signed_and_whole(stub, stub_lake):
    stub.play(WRITTEN)
    written = put(stub_lake)
    assert (written.etag, written.request_id) == ("e", "R7")
    [heard] = stub.heard
    assert (heard.method, heard.headers["if-none-match"], heard.body) == ("PUT", "*", b"data")
    assert heard.headers["content-md5"] == "jXd/OF09/siBXSD3SWAm3A=="
    assert_signed(heard, "s3")


def test_a_delete_is_sent_on_its_condition_and_signed(stub, stub_lake):
    stub.play(Reply(204, headers={"x-amz-request-id": "R8"}))
    assert delete(stub_lake).request_id == "R8"
    assert (stub.heard[0].method, stub.heard[0].headers["if-match"]) == ("DELETE", '"e"')
    assert_signed(stub.heard[0], "s3")


@pytest.mark.parametrize("act", [update, put_item, delete_item])
def test_an_item_write_brings_its_request_id_and_is_signed(stub, stub_lake, act):
    stub.play(Reply(body=b"{}", headers={"x-amzn-RequestId": "R9"}))
    assert act(stub_lake).request_id == "R9"
    assert_signed(stub.heard[0], "dynamodb")


def test_empty_maps_are_left_out_of_an_item_write(stub, stub_lake):
    stub.play(Reply(body=b"{}"))
    put_item(stub_lake)
    assert not {"ExpressionAttributeNames", "ExpressionAttributeValues"} & set(orjson.loads(stub.heard[0].body))


@pytest.mark.parametrize("lost", [Reply(500), SLOW_DOWN, Reply(body=b"0123456789", cut=0), Reply(silent=True)])
def test_a_put_whose_answer_was_lost_is_refused_by_its_own_success(stub, stub_lake, lost):
    stub.play(lost, PRECONDITION)
    assert failure(lambda: put(stub_lake)).is_condition_failed
    assert [heard.body for heard in stub.heard] == [b"data", b"data"]


def test_an_update_whose_answer_was_lost_is_refused_by_its_own_success(stub, stub_lake):
    stub.play(Reply(500), dynamodb_error("ConditionalCheckFailedException", "The conditional request failed"))
    assert failure(lambda: update(stub_lake)).is_condition_failed
    assert len(stub.heard) == 2


def test_a_put_that_met_another_is_sent_again(stub, stub_lake):
    stub.play(CONFLICT, WRITTEN)
    assert put(stub_lake).etag == "e"


def test_a_put_that_meets_others_for_ever_is_a_failed_condition(stub, stub_lake):
    stub.play(CONFLICT)
    assert failure(lambda: put(stub_lake)).is_condition_failed
    assert len(stub.heard) == QUICK.attempts


@pytest.mark.parametrize("act", [put, delete])
def test_a_failed_condition_is_not_sent_again(stub, stub_lake, act):
    stub.play(PRECONDITION)
    failure(lambda: act(stub_lake))
    assert len(stub.heard) == 1


@pytest.mark.parametrize(
    ("act", "denial", "permission"),
    [
        (put, DENIED, "s3:PutObject"),
        (delete, DENIED, "s3:DeleteObject"),
        (update, dynamodb_error("AccessDeniedException"), "dynamodb:UpdateItem"),
        (put_item, dynamodb_error("AccessDeniedException"), "dynamodb:PutItem"),
        (delete_item, dynamodb_error("AccessDeniedException"), "dynamodb:DeleteItem"),
    ],
)
def test_a_denied_write_names_its_permission(stub, stub_lake, act, denial, permission):
    stub.play(denial)
    error = failure(lambda: act(stub_lake))
    assert (error.is_access_denied, error.is_condition_failed, error.permission) == (True, False, permission)


@pytest.mark.parametrize("refusal", [NOT_IMPLEMENTED, UNKNOWN_HEADER, Reply(501)])
def test_an_endpoint_without_conditions_is_named_and_nothing_is_written(stub, stub_lake, refusal):
    stub.play(refusal)
    error = failure(lambda: put(stub_lake))
    assert error.code == "ConditionsUnsupported"
    assert "does not support conditional writes (If-None-Match)" in str(error)
    assert len(stub.heard) == 1


def test_deleting_what_the_endpoint_says_is_absent_is_no_error(stub, stub_lake):
    stub.play(Reply(404, b"<Error><Code>NoSuchKey</Code></Error>"))
    delete(stub_lake)

    assert [request.method for request in stub.heard] == ["DELETE"]


def test_an_absent_bucket_is_an_error_of_a_delete(stub, stub_lake):
    stub.play(Reply(404, b"<Error><Code>NoSuchBucket</Code></Error>"))
    assert failure(lambda: delete(stub_lake)).is_missing


@pytest.mark.parametrize(
    "act",
    [
        lambda lake: lake.s3.delete("lake", "k", etag=""),
        lambda lake: lake.s3.delete("lake", "", etag="e"),
        lambda lake: lake.s3.delete("", "k", etag="e"),
        lambda lake: lake.s3.put("lake", "", b""),
    ],
)
def test_a_write_that_would_reach_further_is_never_sent(stub, stub_lake, act):
    with pytest.raises(AwsError) as raised:
        act(stub_lake)
    assert raised.value.code == "InvalidName"
    assert stub.heard == []


def read_slowly(listener: socket.socket) -> None:
    """Take a request in at some 10 MiB/s, answer it, and end."""
    connection, _ = listener.accept()
    with connection:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1)
        left = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        while left:
            time.sleep(0.01)
            left -= len(connection.recv(min(left, 100_000)))
        connection.sendall(WRITTEN.encode())


@pytest.mark.slow
def test_a_large_object_may_take_longer_than_any_one_timeout():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        thread = threading.Thread(target=read_slowly, args=(listener,), daemon=True)
        thread.start()
        slow = replace(QUICK, connect=0.4, read=5.0, attempts=1)
        with quick(f"http://127.0.0.1:{listener.getsockname()[1]}", retry_policy=slow) as lake:
            assert lake.s3.put("lake", "k", bytes(15_000_000)).etag == "e"
        thread.join(timeout=scaled(5))


def test_a_bucket_elsewhere_gets_the_whole_body(stub, stub_lake):
    stub.play(Reply(301, headers={"x-amz-bucket-region": "eu-west-1"}), WRITTEN)
    put(stub_lake)
    assert [heard.body for heard in stub.heard] == [b"data", b"data"]
