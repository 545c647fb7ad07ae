"""From a declared connection to a way into AWS, through the endpoints that the deployment allows and no others."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

from dashboard.connections.models import Connection

if TYPE_CHECKING:
    from lake.aws.access import Access

SANDBOX = "sandbox"
"""The name of the sandbox's connection."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


class EndpointNotAllowed(Exception):
    """An endpoint is neither listed in LEVEE_ALLOWED_ENDPOINTS nor the sandbox of this Levee."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(
            f"The endpoint {endpoint} is not allowed here: add its origin to LEVEE_ALLOWED_ENDPOINTS, "
            f"or take it out of the connection."
        )
        self.endpoint = endpoint


def lake_access(connection: Connection) -> "Access":
    """Return the access of a connection; raises EndpointNotAllowed. AWS's own endpoints need no permission."""
    from lake.aws.access import Access  # the AWS client takes longer to import than a command that asks nothing of AWS

    endpoints = [url for url in (connection.endpoint_url, connection.dynamodb_endpoint_url) if url]
    for url in endpoints:
        require_allowed(url)
    in_sandbox = bool(connection.endpoint_url) and {_origin(url) for url in endpoints} == {sandbox_origin()}
    return Access(
        region=connection.region,
        role_arn=connection.role_arn,
        external_id=connection.external_id,
        endpoint_url=connection.endpoint_url,
        dynamodb_endpoint_url=connection.dynamodb_endpoint_url,
        static_credentials=("sandbox", "sandbox") if in_sandbox else None,
        bucket_owners=connection.bucket_owners,
    )


def require_allowed(endpoint: str) -> None:
    """Raise EndpointNotAllowed unless the deployment lets workers talk to this origin."""
    if not is_allowed(endpoint):
        raise EndpointNotAllowed(endpoint)


def is_allowed(url: str) -> bool:
    """Say whether this deployment allows an endpoint: it is listed, or it is the sandbox of the same LEVEE_HOME."""
    origin = _origin(url)
    return origin is not None and origin in {sandbox_origin(), *map(_origin, settings.ALLOWED_ENDPOINTS)}


def sandbox_origin() -> tuple[str, str, int] | None:
    """Return the origin of the sandbox that runs under the same LEVEE_HOME, or None without one."""
    if not settings.SANDBOX:
        return None
    try:
        return _origin(settings.SANDBOX_ENDPOINT_FILE.read_text().strip())
    except (OSError, UnicodeDecodeError):
        return None


def sandbox_in_the_making() -> tuple[int, datetime] | None:
    """How many tables the sandbox of the same LEVEE_HOME is making, and about when it will be done; None once it is."""
    if sandbox_origin() is None:
        return None
    try:
        tables, until = settings.SANDBOX_MAKING_FILE.read_text().split()
        return int(tables), datetime.fromtimestamp(int(until), UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _origin(url: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port; None for what is no plain http(s) origin, a name or a path in it included."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain = parts.path in {"", "/"} and not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or not plain:
        return None
    return parts.scheme, parts.hostname, port or _DEFAULT_PORTS[parts.scheme]
