"""Calls too rare for a wire of our own, by botocore's clients: STS, IAM, CloudWatch, S3 Control, inventories of S3."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import botocore.session
from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError
from botocore.parsers import ResponseParserError

from lake.aws.errors import ACCESS_DENIED, AwsError, missing_permission
from lake.aws.wire import CredentialSource, RequestCount

_ACCOUNT_LABEL = re.compile(r"^(https?://)\d{12}\.")
_CONFIG = Config(
    retries={"mode": "standard", "max_attempts": 5},
    connect_timeout=10,
    read_timeout=60,
    ignore_configured_endpoint_urls=True,  # a connection's own endpoints were allowed, those of the machine were not
)
_BY_PATH = _CONFIG.merge(Config(s3={"addressing_style": "path"}))
_WITHOUT_PROXY = _BY_PATH.merge(Config(proxies={}))
"""Plain HTTP is an endpoint of one's own, to which our own wire uses no proxy either."""
MOST_CLIENTS = 64
"""Clients that are kept: each takes as long to make as several answers."""


class Services:
    """The services of one connection, signed by its own keys; safe to share between threads."""

    def __init__(self, credentials: CredentialSource, region: str, endpoint_url: str, requests: RequestCount) -> None:
        self._credentials = credentials
        self._region = region
        self._endpoint_url = endpoint_url
        self._requests = requests

    def ask(self, service: str, operation: str, parameters: Mapping[str, Any], target: str = "") -> dict[str, Any]:
        """One operation of a service by its name, in the shapes of the AWS SDKs. Raises AwsError."""
        name = f"{'s3' if service == 's3control' else service}:{operation}"
        keys = self._credentials.frozen()
        self._requests.add_request(name)
        try:
            client = _client(service, self._region, self._endpoint_url, keys.access_key, keys.secret_key, keys.token)
            said: dict[str, Any] = getattr(client, xform_name(operation))(**parameters)
        except ClientError as error:
            raise _refused(error, name, target) from error
        except (ResponseParserError, KeyError, ValueError, AttributeError) as error:
            raise AwsError("MalformedAnswer", f"the answer cannot be read: {error}", "", name, "", target) from error
        except BotoCoreError as error:
            code = "ConnectionFailed" if isinstance(error, ConnectionError | HTTPClientError) else "BadConfiguration"
            raise AwsError(code, str(error), "", name, "", target) from error
        return said


@lru_cache(MOST_CLIENTS)
def _client(service: str, region: str, endpoint_url: str, key_id: str, secret: str, token: str | None) -> Any:
    of_ones_own = _WITHOUT_PROXY if endpoint_url.startswith("http:") else _BY_PATH
    client = botocore.session.Session().create_client(
        service,
        region_name=region,
        endpoint_url=endpoint_url or None,
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        aws_session_token=token or None,
        config=of_ones_own if endpoint_url else _CONFIG,
    )
    if endpoint_url:
        client.meta.events.register("before-call.s3-control", without_account_label)
    return client


def without_account_label(params: dict[str, Any], **kwargs: Any) -> None:
    """Take the account's number off the host: an endpoint of one's own has no name below which it could stand.

    S3 Control's rules put it there whatever the client is told; before the request is signed, so that it stays valid.
    """
    params["url"] = _ACCOUNT_LABEL.sub(r"\1", params["url"])


def _refused(error: ClientError, operation: str, target: str) -> AwsError:
    said = error.response.get("Error", {})
    code, message = str(said.get("Code") or "Unknown"), str(said.get("Message") or "")
    request_id = str(error.response.get("ResponseMetadata", {}).get("RequestId") or "")
    permission = missing_permission(operation, message) if code in ACCESS_DENIED else ""
    return AwsError(code, message, request_id, operation, permission, target)
