"""Which host answers for a service in a region."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import botocore.session
from botocore.regions import EndpointResolver

from lake.aws.errors import AwsError

# A name that may stand as a host label under the service's wildcard certificate: no dots, no capitals.
HOST_LABEL = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class RequestUrl:
    """Where one request goes: `origin` is scheme, host and port; `path` is percent-encoded and begins with "/"."""

    origin: str
    path: str


class Endpoints:
    """Origins of S3 and DynamoDB of one connection: its own endpoints where given, else those of AWS by region."""

    def __init__(self, endpoint_url: str, dynamodb_endpoint_url: str) -> None:
        self._custom = {
            "s3": endpoint_url.rstrip("/"),
            "dynamodb": (dynamodb_endpoint_url or endpoint_url).rstrip("/"),
        }

    def origin(self, service: str, region: str) -> str:
        """Raises AwsError UnknownRegion where no AWS partition has such a region."""
        if self._custom[service]:
            return self._custom[service]
        found = _amazons_own().construct_endpoint(service, region)
        if not found:
            raise AwsError(
                "UnknownRegion",
                f"{region!r} is not the name of an AWS region; correct the region of the connection",
                operation=service,
            )
        return f"https://{found['hostname']}"

    def bucket(self, bucket: str, key: str, region: str) -> RequestUrl:
        """Path style on endpoints of one's own and for names that are no host label, else virtual-host style."""
        origin = self.origin("s3", region)
        path = "/" + quote(key, safe="/-_.~")
        if not self._custom["s3"] and HOST_LABEL.fullmatch(bucket):
            scheme, _, host = origin.partition("://")
            return RequestUrl(f"{scheme}://{bucket}.{host}", path)
        return RequestUrl(origin, f"/{quote(bucket, safe='-_.~')}{path if key else ''}")


@cache
def _amazons_own() -> Any:
    return EndpointResolver(botocore.session.Session().get_data("endpoints"))
