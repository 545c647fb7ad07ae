"""Whose keys sign: the standard AWS chain, keys given outright, or a role taken through STS and renewed in time."""

import threading
from typing import Any

import botocore.credentials
import botocore.session
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import BotoCoreError

from lake.aws.errors import AwsError
from lake.aws.services import Services

SESSION_NAME = "levee"


class ChainCredentials:
    """Environment, profile, container or instance role, in botocore's order; looked up at the first request.

    A failure is kept: asking the instance metadata service anew for each of many requests would cost seconds each.
    """

    def __init__(self, session: botocore.session.Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._found: Any = None
        self._failure = ""

    def frozen(self) -> Any:
        with self._lock:
            if not self._failure and self._found is None:
                self._look_up()
            if self._failure:
                raise AwsError("NoCredentials", self._failure)
        return _freeze(self._found)

    def _look_up(self) -> None:
        try:
            self._found = self._session.get_credentials()
        except BotoCoreError as error:
            self._failure = f"the AWS credentials cannot be loaded: {error}"
            return
        if self._found is None:
            self._failure = (
                "no AWS credentials were found in the environment, the shared files or an instance role; "
                "give the process one of them"
            )


class StaticCredentials:
    """A key pair given outright, as for an endpoint of one's own."""

    def __init__(self, key_id: str, secret: str) -> None:
        self._pair = botocore.credentials.Credentials(key_id, secret).get_frozen_credentials()

    def frozen(self) -> Any:
        return self._pair


class RoleCredentials:
    """A role taken with the credentials of `services` (STS AssumeRole), taken anew before its hour ends."""

    def __init__(self, services: Services, role_arn: str, external_id: str) -> None:
        self._services = services
        self._wanted = {"RoleArn": role_arn, "RoleSessionName": SESSION_NAME} | (
            {"ExternalId": external_id} if external_id else {}
        )
        self._refusal: AwsError | None = None
        self._renewed = botocore.credentials.DeferredRefreshableCredentials(
            refresh_using=self._assume, method="assume-role"
        )

    def frozen(self) -> Any:
        return _freeze(self._renewed)

    def taken_now(self) -> Any:
        """Keys that last the whole hour, as the botocore ReadOnlyCredentials. Raises AwsError."""
        said = self._assume()
        return ReadOnlyCredentials(said["access_key"], said["secret_key"], said["token"])

    def _assume(self) -> dict[str, str]:
        # A refusal is kept: hundreds of tables would each ask again, one after another.
        if self._refusal:
            raise AwsError(*self._refusal.args)
        try:
            said = self._services.ask("sts", "AssumeRole", self._wanted, target=self._wanted["RoleArn"])
        except AwsError as error:
            self._refusal = error if error.is_access_denied else None
            raise
        try:
            keys = said["Credentials"]
            return {
                "access_key": keys["AccessKeyId"],
                "secret_key": keys["SecretAccessKey"],
                "token": keys["SessionToken"],
                "expiry_time": keys["Expiration"].isoformat(),
            }
        except KeyError as error:
            missing = f"the answer names no {error.args[0]}"
            raise AwsError("MalformedAnswer", missing, "", "sts:AssumeRole", "", self._wanted["RoleArn"]) from error


def _freeze(credentials: Any) -> Any:
    try:
        return credentials.get_frozen_credentials()
    except BotoCoreError as error:
        raise AwsError("NoCredentials", f"the AWS credentials cannot be renewed: {error}") from error
