"""boto3's clients for the few calls that S3 itself does not carry, signed by a lake's own keys."""

import re
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from lake.aws.access import Access, Lake
from lake.aws.errors import ACCESS_DENIED, AwsError, missing_permission

_Said = TypeVar("_Said")
_ACCOUNT_LABEL = re.compile(r"^(https?://)\d{12}\.")
_CONFIG = Config(retries={"mode": "standard", "max_attempts": 5}, connect_timeout=10, read_timeout=60)
_BY_PATH = Config(s3={"addressing_style": "path"})


class RareClient:
    """One service of boto3, its client made again whenever the lake's keys have changed. Usable by many threads."""

    def __init__(self, lake: Lake, access: Access, service: str) -> None:
        self._lake = lake
        self._access = access
        self._service = service
        self._lock = Lock()
        self._keys: tuple[str, str, str] = ("", "", "")
        self._client: Any = None

    def ask(self, operation: str, target: str, call: Callable[[Any], _Said]) -> _Said:
        """What `call` makes of the client; `operation` is "service:Operation". Raises AwsError."""
        try:
            return call(self._current())
        except ClientError as error:
            raise _refused(error, operation, target) from error
        except BotoCoreError as error:
            code = "ConnectionFailed" if "endpoint" in str(error).lower() else "BadConfiguration"
            raise AwsError(code, str(error), "", operation, "", target) from error

    def _current(self) -> Any:
        keys = self._lake.keys()
        with self._lock:
            if self._client is None or keys != self._keys:
                self._client, self._keys = self._make(keys), keys
            return self._client

    def _make(self, keys: tuple[str, str, str]) -> Any:
        key_id, secret, token = keys
        client = boto3.session.Session().client(
            self._service,
            region_name=self._access.region,
            endpoint_url=self._access.endpoint_url or None,
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
            aws_session_token=token or None,
            config=_CONFIG.merge(_BY_PATH) if self._access.endpoint_url else _CONFIG,
        )
        if self._access.endpoint_url:
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
