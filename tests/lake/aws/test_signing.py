"""Signatures as a server checks them: reckoned anew from what arrived (AWS General Reference, Signature Version 4)."""

import hashlib
import hmac
import re

import pytest

from tests.lake.aws.stub import Heard, Reply
from tests.lake.aws.test_s3 import HOSTILE_KEYS

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=key/(?P<scope>[^,]+), SignedHeaders=(?P<names>[^,]+), Signature=(?P<signature>\w+)"
)
REFUSED = Reply(404, b"<Error><Code>NoSuchKey</Code></Error>")


def expected_signature(heard: Heard, scope: str, names: str) -> str:
    path, _, query = heard.target.partition("?")
    headers = "".join(f"{name}:{heard.headers[name]}\n" for name in names.split(";"))
    digest = hashlib.sha256(heard.body).hexdigest()
    canonical = "\n".join([heard.method, path, "&".join(sorted(query.split("&"))), headers, names, digest])
    text = "\n".join(
        ["AWS4-HMAC-SHA256", heard.headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()]
    )
    key = b"AWS4secret"
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def assert_signed(heard: Heard, service: str) -> None:
    said = AUTHORIZATION.fullmatch(heard.headers["authorization"])
    assert said
    assert said["scope"].endswith(f"/us-east-1/{service}/aws4_request")
    assert {"host", "x-amz-date"} <= set(said["names"].split(";"))
    assert said["signature"] == expected_signature(heard, said["scope"], said["names"])


@pytest.mark.parametrize("key", [*HOSTILE_KEYS, "line\nbreak", "/leading", "."])
def test_a_hostile_key_is_signed_as_it_is_sent(stub, stub_lake, key):
    stub.play(REFUSED)
    assert stub_lake.s3.head("lake", key) is None
    assert_signed(stub.heard[0], "s3")
