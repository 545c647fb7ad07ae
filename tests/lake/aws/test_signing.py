"""Signatures as a server checks them: reckoned anew from what arrived (AWS General Reference, Signature Version 4)."""

import hashlib
import hmac
import re
from datetime import UTC, datetime
from urllib.parse import quote

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from hypothesis import given
from hypothesis import strategies as some

from lake.aws.signing import signed_headers
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


NOW = datetime(2026, 11, 20, 10, 3, 9, tzinfo=UTC)
ORIGINS = (
    "https://lake.s3.eu-west-1.amazonaws.com",
    "http://127.0.0.1:5000",
    "https://MinIO.example:443",
    "http://MinIO.example:09000",
    "https://s3:",
    "http://s3:443",
    "http://[::1]:80",
)
WORDS = some.text(some.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = some.sampled_from(["x-amz-copy-source", "Range", "Content-MD5", "If-None-Match", "x-amz-tagging"])


@given(
    origin=some.sampled_from(ORIGINS),
    key=WORDS,
    query=some.dictionaries(some.sampled_from(["prefix", "prefix-x", "list-type", "delimiter", "a"]), WORDS),
    headers=some.dictionaries(NAMES, some.text("ab c\t,=/%é", min_size=1, max_size=9)),
    body=some.binary(max_size=4),
    keys=some.builds(ReadOnlyCredentials, *[some.text("aZ9+/", min_size=1)] * 2, some.sampled_from([None, "token=="])),
)
def test_s3_and_dynamodb_are_signed_as_botocore_signs(origin, key, query, headers, body, keys):
    target = "/" + quote(key, safe="/-_.~")
    target += "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items()) if query else ""
    for service, path in (("s3", target), ("dynamodb", "/")):
        signer = botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth
        request = AWSRequest("PUT", origin + path, headers, body)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(botocore.auth, "get_current_datetime", lambda: NOW)
            signer(keys, service, "eu-west-1").add_auth(request)
        more = {"service": service, "region": "eu-west-1", "keys": keys, "now": NOW}
        assert signed_headers("PUT", origin, path, headers, body, **more) == dict(request.headers.items())
