"""Opening a lake: one account and region, its credentials and its endpoints."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import botocore.session
from botocore.exceptions import BotoCoreError

from lake.aws.credentials import ChainCredentials, RoleCredentials, StaticCredentials
from lake.aws.dynamodb import DynamoDB
from lake.aws.endpoints import Endpoints
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.aws.services import Services
from lake.aws.transport import Transport
from lake.aws.wire import CredentialSource, RequestCount, RetryPolicy, Wire


@dataclass(frozen=True)
class Access:
    """How a lake is reached. Empty endpoints mean AWS's own; `endpoint_url` serves S3, STS and, unless
    `dynamodb_endpoint_url` is given, DynamoDB. `static_credentials` is (key id, secret) and replaces the AWS chain.
    `bucket_owners` are the accounts that have to own these buckets.
    """

    region: str
    role_arn: str = ""
    external_id: str = ""
    endpoint_url: str = ""
    dynamodb_endpoint_url: str = ""
    static_credentials: tuple[str, str] | None = field(default=None, repr=False)
    bucket_owners: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, eq=False)
class Lake:
    """An open lake; its parts may be used by many threads at once. Close it, or use it as a context manager."""

    s3: S3
    dynamodb: DynamoDB
    services: Services
    requests: RequestCount
    _transport: Transport
    _credentials: CredentialSource = field(repr=False)

    def keys(self) -> tuple[str, str, str]:
        """Key id, secret and session token ("" for a lasting key) that sign now. Raises AwsError without credentials.

        For another program on this machine that talks to the same lake; a role is taken for it, for an hour.
        """
        source = self._credentials
        frozen = source.taken_now() if isinstance(source, RoleCredentials) else source.frozen()
        return str(frozen.access_key), str(frozen.secret_key), str(frozen.token or "")

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_lake(access: Access, *, parallel: int = 64, retry_policy: RetryPolicy | None = None) -> Lake:
    """Open a lake for up to `parallel` requests at once. Nothing is sent yet.

    Raises AwsError UnknownRegion for a region that no AWS partition has, and BadConfiguration for shared AWS files
    that cannot be read.
    """
    retry_policy = retry_policy or RetryPolicy()
    requests = RequestCount()
    # It takes as long to make as several answers of S3, and keys given outright need none.
    given = access.static_credentials
    session = None if given else botocore.session.Session()
    endpoints = Endpoints(access.endpoint_url, access.dynamodb_endpoint_url)
    transport = Transport(_ca_bundle(session), parallel, retry_policy.connect, retry_policy.read)
    credentials: CredentialSource = StaticCredentials(*given) if given else ChainCredentials(session)
    services = Services(credentials, access.region, access.endpoint_url, requests)
    if access.role_arn:
        credentials = RoleCredentials(services, access.role_arn, access.external_id)
        services = Services(credentials, access.region, access.endpoint_url, requests)
    wire = Wire(transport, credentials, requests, retry_policy)
    endpoints.origin("s3", access.region)
    dynamodb = DynamoDB(wire, endpoints.origin("dynamodb", access.region), access.region, requests)
    return Lake(
        S3(wire, endpoints, access.region, access.bucket_owners), dynamodb, services, requests, transport, credentials
    )


def _ca_bundle(session: botocore.session.Session | None) -> str:
    """The certificates that AWS_CA_BUNDLE or the profile names; with keys given outright no profile is read for it."""
    if session is None:
        return os.environ.get("AWS_CA_BUNDLE", "")
    try:
        return session.get_config_variable("ca_bundle") or ""
    except BotoCoreError as error:
        raise AwsError("BadConfiguration", f"the AWS configuration files cannot be used: {error}") from error
