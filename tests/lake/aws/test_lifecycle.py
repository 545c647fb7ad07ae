"""A bucket's lifecycle configuration as it goes over the wire."""

import hashlib
from base64 import b64encode

import pytest

from lake.aws.errors import AwsError
from lake.aws.lifecycle import Lifecycle, is_owned_by, parse_rule, read_lifecycle, write_lifecycle
from tests.lake.aws.stub import Reply

RULE = (
    "<Rule>\n <Status>Enabled</Status><Prefix>a&amp;b/</Prefix><ID>x</ID><Expiration><Days>3</Days></Expiration></Rule>"
)
BODY = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    f"{RULE}</LifecycleConfiguration>"
).encode()
SIZE = {"x-amz-transition-default-minimum-object-size": "varies_by_storage_class"}
NONE = Reply(404, b"<Error><Code>NoSuchLifecycleConfiguration</Code><Message>none</Message></Error>")
DENIED = Reply(403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")


def test_a_configuration_goes_back_byte_for_byte_with_its_default_size(stub, stub_lake):
    stub.play(Reply(200, BODY, SIZE), Reply(200))

    found = read_lifecycle(stub_lake, "b")
    write_lifecycle(stub_lake, "b", found, owner="111122223333")

    put = stub.heard[1]
    assert (put.method, put.target) == ("PUT", "/b?lifecycle=")
    assert RULE.encode() in put.body
    assert put.headers["content-md5"] == b64encode(hashlib.md5(put.body, usedforsecurity=False).digest()).decode()
    assert put.headers["x-amz-transition-default-minimum-object-size"] == "varies_by_storage_class"
    assert put.headers["x-amz-expected-bucket-owner"] == "111122223333"


def test_no_rules_left_deletes_the_configuration(stub, stub_lake):
    stub.play(NONE, Reply(204))

    assert read_lifecycle(stub_lake, "b") == Lifecycle()
    write_lifecycle(stub_lake, "b", Lifecycle())

    assert stub.heard[1].method == "DELETE"


def test_a_denied_write_names_the_permission(stub, stub_lake):
    stub.play(DENIED)

    with pytest.raises(AwsError, match="the permission s3:PutLifecycleConfiguration is missing"):
        write_lifecycle(stub_lake, "b", Lifecycle((parse_rule(RULE),)))


def test_what_is_no_configuration_is_malformed(stub, stub_lake):
    stub.play(Reply(200, b"<html>"))

    with pytest.raises(AwsError) as caught:
        read_lifecycle(stub_lake, "b")
    assert caught.value.code == "MalformedAnswer"


@pytest.mark.parametrize(("replies", "owned"), [([Reply()], True), ([Reply(), DENIED], False), ([DENIED], None)])
def test_the_owner_is_found_out_by_naming_it(stub, stub_lake, replies, owned):
    stub.play(*replies)

    assert is_owned_by(stub_lake, "b", "111122223333") is owned
