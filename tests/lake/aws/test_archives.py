"""What S3 says of archived objects, and how it is asked for them (S3 API Reference: HeadObject, RestoreObject)."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime

import pytest

from lake.aws.archives import Restoration, ask_restoration, read_restoration
from lake.aws.errors import AwsError
from tests.lake.aws.stub import Reply, StubServer, quick

UNTIL = datetime(2026, 12, 7, tzinfo=UTC)
NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


@pytest.mark.parametrize(
    ("header", "is_read_as"),
    [
        (None, None),
        ('ongoing-request="true"', Restoration(False, None)),
        ('ongoing-request="false", expiry-date="Mon, 07 Dec 2026 00:00:00 GMT"', Restoration(True, UNTIL)),
        ('ongoing-request="false", expiry-date="soon"', Restoration(True, None)),
    ],
)
def test_a_header_says_what_has_become_of_a_request(stub: StubServer, header: str, is_read_as: Restoration) -> None:
    stub.play(Reply(headers={"x-amz-restore": header} if header else {}))
    with quick(stub.url) as lake:
        assert read_restoration(lake.s3, "vault", "a") == is_read_as


def test_s3_is_asked_for_some_days_by_the_standard_retrieval(stub: StubServer) -> None:
    stub.play(Reply(202, headers={"x-amz-request-id": "R1"}))
    with quick(stub.url) as lake:
        assert ask_restoration(lake.s3, "vault", "a", 7) == "R1"
    [heard] = stub.heard
    sent = ET.fromstring(heard.body)  # noqa: S314 - our own
    assert (heard.method, heard.target) == ("POST", "/vault/a?restore=")
    assert sent.findtext(f"{NAMESPACE}Days") == "7"
    assert sent.findtext(f"{NAMESPACE}GlacierJobParameters/{NAMESPACE}Tier") == "Standard"


def test_what_s3_is_at_already_is_no_failure(stub: StubServer) -> None:
    stub.play(Reply(409, b"<Error><Code>RestoreAlreadyInProgress</Code></Error>"))
    with quick(stub.url) as lake:
        assert ask_restoration(lake.s3, "vault", "a", 7) is None
    stub.play(Reply(403, b"<Error><Code>AccessDenied</Code></Error>"))
    with quick(stub.url) as lake, pytest.raises(AwsError, match="s3:RestoreObject"):
        ask_restoration(lake.s3, "vault", "a", 7)
