"""The gate before every act: who may pass it, and the refusal that the audit log keeps."""

from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied

from dashboard.accounts.actor import Actor
from dashboard.accounts.roles import NEEDS_FRESH_SIGN_IN, PERMISSIONS, Role
from dashboard.audit.log import record

if TYPE_CHECKING:
    from dashboard.connections.models import Connection


class NotAllowed(PermissionDenied):
    """The actor's role does not reach."""

    def __init__(self, verb: str, needed_role: Role) -> None:
        super().__init__(f"{verb} needs the role {needed_role.value}. An admin gives it with `levee person`.")


class FreshSignInNeeded(PermissionDenied):
    """The actor may, but has to type the password again first; the console asks for it and comes back."""

    def __init__(self, verb: str) -> None:
        super().__init__(f"{verb} can lose data: type your password again, then repeat it.")


def require(actor: Actor, verb: str, target: str = "", connection: "Connection | None" = None) -> None:
    """Let the actor pass, or write the refusal to the audit log and raise NotAllowed; an unknown verb is a KeyError.

    `connection` is the one that the target belongs to; None: only a role that holds everywhere counts. Raises
    FreshSignInNeeded where the verb can lose data and the password was typed too long ago.
    """
    needed = PERMISSIONS[verb]
    if not actor.may(verb, connection):
        refusal = NotAllowed(verb, needed)
        record(actor, verb, target_label=target, outcome="refused", detail=str(refusal))
        raise refusal
    if verb in NEEDS_FRESH_SIGN_IN and not actor.is_fresh:
        raise FreshSignInNeeded(verb)
