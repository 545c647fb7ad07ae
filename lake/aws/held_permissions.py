"""Which permissions a principal holds, as far as IAM simulates it: without a change, and without trying any."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lake.aws.errors import AwsError
from lake.aws.identity import Identity, caller, simulate
from lake.aws.services import Services

logger = logging.getLogger(__name__)

_DENIED = {"explicitDeny": "A policy denies it.", "implicitDeny": "No policy allows it."}


@dataclass(frozen=True, slots=True)
class HeldPermission:
    """`held` is "yes", "no" or "unknown"; `how` "simulated", "read" (in a bucket's policy) or "" where nothing told."""

    held: str
    how: str = ""
    reason: str = ""


class PermissionJudge:
    """IAM's own judgement, asked with the rights of one connection.

    It knows the policies of the principal, not those of buckets and keys. A principal that IAM refuses to simulate is
    not asked about again, unless it only asks for patience. Raises AwsError only without credentials.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._refusals: dict[str, str] = {}
        self._throttled = ""
        self._known: dict[tuple[str, str, str, tuple[tuple[str, str], ...]], HeldPermission] = {}
        self.identity: Identity | None = None
        try:
            self.identity = caller(services)
        except AwsError as error:
            if error.code == "NoCredentials":
                raise
            self._refusals[""] = f"Who the connection is, is not known: {error}"

    @property
    def principal(self) -> str:
        """Whom the connection acts as, "" where AWS did not say."""
        return self.identity.principal if self.identity else ""

    def judge(
        self, principal: str, actions: Sequence[str], resource: str, context: Mapping[str, str] | None = None
    ) -> dict[str, HeldPermission]:
        """What is so of each action on one resource; `context` has the condition keys of a request as texts."""
        keys = {action: (principal, action, resource, tuple((context or {}).items())) for action in actions}
        asked = [action for action, key in keys.items() if key not in self._known]
        if asked and principal not in self._refusals:
            self._ask(principal, asked, resource, context or {}, keys)
        refused = HeldPermission("unknown", "", self._refusals.get(principal, self._throttled))
        return {action: self._known.get(key, refused) for action, key in keys.items()}

    def _ask(
        self,
        principal: str,
        actions: Sequence[str],
        resource: str,
        context: Mapping[str, str],
        keys: Mapping[str, tuple[str, str, str, tuple[tuple[str, str], ...]]],
    ) -> None:
        try:
            decisions = simulate(self._services, principal, actions, resource, context=context)
        except AwsError as error:
            reason = f"IAM does not simulate it, and nothing else tells without a change: {error}"
            if error.is_not_offered:
                reason = f"This endpoint does not simulate policies ({error.operation}: {error.code})."
                logger.info("Permissions of %s are not known: %s", principal, reason)
            if error.is_throttle:
                self._throttled = reason
            else:
                self._refusals[principal] = reason
            return
        self._known |= {keys[action]: _held(decisions.get(action, "")) for action in actions}


def _held(decision: str) -> HeldPermission:
    if decision == "allowed":
        return HeldPermission("yes", "simulated")
    if denied := _DENIED.get(decision):
        return HeldPermission("no", "simulated", denied)
    return HeldPermission("unknown", "simulated", f"IAM says {decision or 'nothing'}.")
