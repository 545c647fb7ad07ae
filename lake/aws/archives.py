"""Objects of S3's archives: whether one can be read for now, and asking S3 to make it so.

A copy that can be read is kept beside the archived object for some days; neither the object nor its class changes
(S3 User Guide, "Restoring an archived object").
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from lake.aws.answers import request_id
from lake.aws.errors import AwsError
from lake.aws.s3 import S3

_EXPIRES = re.compile(r'expiry-date="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Restoration:
    """What has become of an archived object that S3 was asked for: a copy `is_there` until then, or is to come. None
    where S3 does not say until when."""

    is_there: bool
    until: datetime | None


def read_restoration(s3: S3, bucket: str, key: str) -> Restoration | None:
    """None where S3 was not asked, or has taken its copy away again. Raises AwsError."""
    answer = s3.ask("s3:HeadObject", bucket, key, method="HEAD", target=f"s3://{bucket}/{key}")
    told = answer.headers.get("x-amz-restore", "")
    until = None
    with suppress(ValueError):
        if expires := _EXPIRES.search(told):
            until = parsedate_to_datetime(expires.group(1)).astimezone(UTC)
    return Restoration('ongoing-request="false"' in told, until) if told else None


def ask_restoration(s3: S3, bucket: str, key: str, days: int) -> str | None:
    """Ask for a copy for so many days by the Standard retrieval; returns the id of the request, None where S3 is at it
    already. Of a copy that is there S3 puts off the end. Raises AwsError: NoSuchKey where the object is gone,
    InvalidObjectState where it is in no archive."""
    tier = "<GlacierJobParameters><Tier>Standard</Tier></GlacierJobParameters>"
    namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
    body = f'<RestoreRequest xmlns="{namespace}"><Days>{days}</Days>{tier}</RestoreRequest>'.encode()
    xml, query, target = {"Content-Type": "application/xml"}, {"restore": ""}, f"s3://{bucket}/{key}"
    try:
        answer = s3.ask(
            "s3:RestoreObject", bucket, key, method="POST", query=query, headers=xml, body=body, target=target
        )
    except AwsError as error:
        if error.code == "RestoreAlreadyInProgress":
            return None
        raise
    return request_id(answer)
