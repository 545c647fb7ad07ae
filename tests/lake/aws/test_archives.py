"""What S3 says of archived objects, and how it is asked for them (S3 API Reference: HeadObject, RestoreObject)."""

import xml.etree.ElementTree as ET
from datetime import UTC, datetime

from lake.aws.archives import Restoration, ask_restoration, read_restoration
from tests.lake.aws.stub import Reply, StubServer, quick

SAID = {
    "": None,
    'ongoing-request="true"': Restoration(False, None),
    'ongoing-request="false", expiry-date="Mon, 07 Dec 2026 00:00:00 GMT"': Restoration(
        True, datetime(2026, 12, 7, tzinfo=UTC)
    ),
    'ongoing-request="false", expiry-date="soon"': Restoration(True, None),
}
NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"


def test_a_header_says_what_has_become_of_a_request(stub: StubServer) -> None:
    for header, is_read_as in SAID.items():
        stub.play(Reply(headers={"x-amz-restore": header} if header else {}))
        with quick(stub.url) as lake:
            assert read_restoration(lake.s3, "vault", "a") == is_read_as


def test_s3_is_asked_for_some_days_by_the_standard_retrieval_and_may_be_at_it_already(stub: StubServer) -> None:
    stub.play(Reply(202, headers={"x-amz-request-id": "R1"}))
    with quick(stub.url) as lake:
        assert ask_restoration(lake.s3, "vault", "a", 7) == "R1"
        stub.play(Reply(409, b"<Error><Code>RestoreAlreadyInProgress</Code></Error>"))
        assert ask_restoration(lake.s3, "vault", "a", 7) is None
    heard = stub.heard[0]
    sent = ET.fromstring(heard.body)  # noqa: S314 - our own
    assert (heard.method, heard.target) == ("POST", "/vault/a?restore=")
    assert sent.findtext(f"{NAMESPACE}Days") == "7"
    assert sent.findtext(f"{NAMESPACE}GlacierJobParameters/{NAMESPACE}Tier") == "Standard"
