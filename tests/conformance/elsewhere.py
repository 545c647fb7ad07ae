"""S3 of another region than the one it is asked in: it refuses what is signed for any other, and passes the rest on."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.serving import Behind, Came, Given, serving

_SIGNED_FOR = re.compile(r"Credential=[^/]+/\d+/([^/]+)/s3/")
_SPARK = "aws-sdk-java/2"
"""S3A speaks through the AWS SDK v2; Levee's own requests name themselves otherwise."""


@dataclass
class Elsewhere:
    """The bucket's region is `region`; `of_spark` are the regions that S3A signed for."""

    behind: Behind
    region: str
    origin: str = ""
    of_spark: set[str] = field(default_factory=set)

    def answer(self, came: Came) -> Given:
        signed = _SIGNED_FOR.search(came.headers.get("authorization", ""))
        named = signed.group(1) if signed else ""
        if _SPARK in came.headers.get("user-agent", ""):
            self.of_spark.add(named)
        if named != self.region:
            refusal = f"<Error><Code>AuthorizationHeaderMalformed</Code><Region>{self.region}</Region></Error>"
            return 400, refusal.encode(), {"x-amz-bucket-region": self.region, "Content-Type": "application/xml"}
        return self.behind.answer(came)


@contextmanager
def elsewhere(target: str, region: str) -> Iterator[Elsewhere]:
    """Serve on loopback in front of the origin `target`."""
    stands = Elsewhere(Behind(target), region)
    with serving(stands.answer) as (stands.origin, _):
        yield stands
