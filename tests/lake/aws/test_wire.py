"""A hostile endpoint: what is asked again, what is given up, and what is then said."""

import socket
from dataclasses import replace

import orjson
import pytest

from lake.aws.errors import AwsError
from tests.lake.aws.stub import QUICK, Reply, quick

HASTY = replace(QUICK, read=0.5, attempts=2)
LISTED = Reply(body=b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
EMPTY = Reply(body=b'{"Items":[]}')
SLOW_DOWN = Reply(503, b"<Error><Code>SlowDown</Code><Message>Reduce your rate</Message></Error>")
OBJECT = Reply(body=b"0123456789", headers={"ETag": '"e"', "Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"})


def dynamodb_error(code, message="no"):
    return Reply(400, orjson.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message}))


def list_once(lake):
    return list(lake.s3.list("lake", "orders/"))


def query_once(lake):
    return list(lake.dynamodb.query("delta_log", "tablePath", "p"))


def failure(act):
    with pytest.raises(AwsError) as raised:
        act()
    return raised.value


@pytest.mark.parametrize(
    "trouble",
    [
        SLOW_DOWN,
        Reply(500),
        Reply(400, b"<Error><Code>RequestTimeout</Code></Error>"),
        Reply(body=LISTED.body, cut=20),
    ],
)
def test_passing_trouble_of_s3_is_asked_again(stub, stub_lake, trouble):
    stub.play(trouble, trouble, LISTED)
    assert len(list_once(stub_lake)) == 1
    assert len(stub.heard) == 3


@pytest.mark.parametrize("code", ["ProvisionedThroughputExceededException", "InternalServerError"])
def test_dynamodb_throttling_is_asked_again(stub, stub_lake, code):
    stub.play(dynamodb_error(code), EMPTY)
    assert query_once(stub_lake) == [()]
    assert stub_lake.requests.by_operation == {"dynamodb:Query": 2}


def test_retries_are_bounded(stub, stub_lake):
    stub.play(Reply(500))
    failure(lambda: list_once(stub_lake))
    assert len(stub.heard) == stub_lake.requests.total == QUICK.attempts


def test_throttling_is_waited_for_longer_and_named(stub, stub_lake):
    stub.play(SLOW_DOWN)
    error = failure(lambda: list_once(stub_lake))
    assert error.is_throttle
    assert len(stub.heard) == QUICK.throttled_attempts > QUICK.attempts


def test_no_attempt_begins_after_the_total_time(stub):
    stub.play(Reply(500))
    with quick(stub.url, retry_policy=replace(QUICK, total=0.0)) as lake:
        failure(lambda: list_once(lake))
    assert len(stub.heard) == 1


def test_tls_that_cannot_be_agreed_on_is_not_tried_again(stub):
    with quick(stub.url.replace("http:", "https:")) as lake:
        error = failure(lambda: list_once(lake))
        assert lake.requests.total == 1
    assert "TLS could not be agreed on" in str(error)


def test_amazon_is_reached_through_the_proxy_of_the_environment(stub, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", stub.url)
    stub.play(Reply(403))
    with quick("") as lake:
        assert "the proxy was of no help" in str(failure(lambda: list_once(lake)))
    assert (stub.heard[0].method, stub.heard[0].target) == ("CONNECT", "lake.s3.us-east-1.amazonaws.com:443")


@pytest.mark.parametrize(("bucket", "key"), [("", "k"), ("lake", ""), ("lake", "\ud800")])
def test_a_name_that_cannot_be_asked_for_is_one_error(stub, stub_lake, bucket, key):
    assert failure(lambda: stub_lake.s3.get(bucket, key)).code == "InvalidName"
    assert stub.heard == []


@pytest.mark.parametrize("headers", [{}, {"Last-Modified": "lately"}])
def test_an_object_without_a_time_is_one_error(stub, stub_lake, headers):
    stub.play(Reply(body=b"1", headers=headers))
    assert "does not state when" in str(failure(lambda: stub_lake.s3.get("lake", "k")))


def test_a_region_that_is_no_name_is_not_followed(stub, stub_lake):
    stub.play(Reply(400, b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>x\r\nEvil: 1</Region></Error>"))
    assert failure(lambda: list_once(stub_lake)).code == "AuthorizationHeaderMalformed"
    assert len(stub.heard) == 1


def test_a_server_that_stays_silent_is_given_up(stub):
    stub.play(Reply(silent=True))
    with quick(stub.url, retry_policy=HASTY) as lake:
        error = failure(lambda: list_once(lake))
    assert (error.code, len(stub.heard)) == ("ConnectionFailed", HASTY.attempts)
    assert stub.url in str(error)
    assert "nothing was sent for 0.5 s" in str(error)


def test_a_closed_port_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with quick(f"http://127.0.0.1:{port}") as lake:
        error = failure(lambda: list_once(lake))
    assert error.code == "ConnectionFailed"
    assert str(error).count("\n") == 0


def test_a_validation_error_is_not_asked_again(stub, stub_lake):
    stub.play(dynamodb_error("ValidationException", "The provided key element does not match the schema"))
    error = failure(lambda: query_once(stub_lake))
    assert (error.code, len(stub.heard)) == ("ValidationException", 1)
    assert "DynamoDB table delta_log failed: The provided key element does not match the schema" in str(error)


def test_a_denied_head_has_no_body_and_still_names_its_permission(stub, stub_lake):
    stub.play(Reply(403, headers={"Content-Length": "0", "x-amz-request-id": "R2"}))
    error = failure(lambda: stub_lake.s3.head("lake", "k"))
    assert (error.permission, error.request_id) == ("s3:GetObject", "R2")


def test_the_permission_that_the_answer_names_wins(stub, stub_lake):
    said = "User: arn:aws:iam::1:user/u is not authorized to perform: kms:Decrypt on the resource"
    stub.play(Reply(400, orjson.dumps({"__type": "x#AccessDeniedException", "Message": said})))
    assert failure(lambda: query_once(stub_lake)).permission == "kms:Decrypt"


def test_truncated_xml_is_one_error(stub, stub_lake):
    stub.play(Reply(body=LISTED.body[:30], headers={"x-amz-request-id": "R3"}))
    error = failure(lambda: list_once(stub_lake))
    assert (error.code, error.request_id) == ("MalformedAnswer", "R3")
    assert "s3://lake/orders/" in str(error)


@pytest.mark.parametrize("body", [b'{"Items":[{"a"', b"[]", b"{}"])
def test_truncated_json_is_one_error(stub, stub_lake, body):
    stub.play(Reply(body=body))
    assert failure(lambda: query_once(stub_lake)).code == "MalformedAnswer"


def test_a_repeated_continuation_token_ends_the_listing(stub, stub_lake):
    stub.play(
        Reply(
            body=b"<ListBucketResult><IsTruncated>true</IsTruncated>"
            b"<NextContinuationToken>t</NextContinuationToken></ListBucketResult>"
        )
    )
    assert "repeats its continuation token" in str(failure(lambda: list_once(stub_lake)))


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(301, headers={"x-amz-bucket-region": "eu-west-1"}),
        Reply(307, headers={"x-amz-bucket-region": "eu-west-1", "Location": "http://elsewhere.invalid/"}),
        Reply(
            400,
            b"<Error><Code>AuthorizationHeaderMalformed</Code><Message>m</Message><Region>eu-west-1</Region></Error>",
        ),
    ],
)
def test_a_bucket_in_another_region_is_followed_once_and_remembered(stub, stub_lake, refusal):
    stub.play(refusal, OBJECT)
    assert stub_lake.s3.get("lake", "k").size == 10
    assert stub_lake.s3.head("lake", "k").size == 10
    scopes = [heard.headers["authorization"].split("/")[2] for heard in stub.heard]
    assert scopes == ["us-east-1", "eu-west-1", "eu-west-1"]
    assert stub_lake.s3.region_of("lake") == "eu-west-1"


def test_regions_that_refer_to_each_other_are_one_error(stub, stub_lake):
    stub.play(
        Reply(301, headers={"x-amz-bucket-region": "eu-west-1"}),
        Reply(301, headers={"x-amz-bucket-region": "us-west-2"}),
    )
    error = failure(lambda: list_once(stub_lake))
    assert error.code == "WrongRegion"
    assert "eu-west-1" in str(error) or "us-east-1" in str(error)
    assert "us-west-2" in str(error)


def test_a_redirect_to_another_host_is_not_followed(stub, stub_lake):
    stub.play(Reply(307, headers={"Location": "http://elsewhere.invalid/lake"}))
    error = failure(lambda: list_once(stub_lake))
    assert error.code == "WrongRegion"
    assert "http://elsewhere.invalid/lake" in str(error)
    assert len(stub.heard) == 1


def test_keys_are_sent_percent_encoded_exactly(stub, stub_lake):
    stub.play(OBJECT)
    stub_lake.s3.get("lake", "a b/../ü+%=~\n&c")
    assert stub.heard[0].target == "/lake/a%20b/../%C3%BC%2B%25%3D~%0A%26c"
