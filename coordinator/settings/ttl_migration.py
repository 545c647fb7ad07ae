"""Moving TTL from one attribute to expireTime: what to do next, from what DynamoDB says now. Pure.

DynamoDB allows one attribute at a time, takes up to an hour to act on a change, and until then refuses the next one
with a ValidationException (documentation of UpdateTimeToLive).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from coordinator.models import TtlMigration
from coordinator.protocols.stores import TTL_ATTRIBUTE
from lake.aws.dynamodb import StoreDescription
from lake.aws.errors import AwsError

Phase = TtlMigration.Phase
LOOK_EVERY = timedelta(minutes=1)
ASK_AGAIN = timedelta(minutes=5)
GIVE_UP = timedelta(hours=24)
SETTLES_IN = timedelta(minutes=5)
_NOT_SHOWN = "DynamoDB took the change and does not show it yet: asked again in a minute."
_REFUSED_FOR_GOOD = frozenset({"ResourceNotFoundException", "TableNotFoundException"})


@dataclass(frozen=True, slots=True)
class TtlStep:
    """What to do: `send` switches TTL on ("enable") or off ("disable"), "" just waits.

    `phase` is the next one, reached once what is sent was taken; `detail` says where it is; `wait` is how long until
    the next look.
    """

    phase: Phase
    detail: str
    send: str = ""
    attribute: str = ""
    wait: timedelta = LOOK_EVERY


def next_move(phase: Phase, from_attribute: str, seen: StoreDescription | None, *, settled: bool = True) -> TtlStep:
    """Decide from the phase and the table as described, so that a move that was made and not noted is not made again.

    `settled` is false just after a change, while DynamoDB may still describe what was before.
    """
    if seen is None or seen.status in ("DELETING", "ARCHIVED"):
        return TtlStep(Phase.FAILED, "The DynamoDB table is gone: nothing is left to move.")
    if seen.status != "ACTIVE":
        return TtlStep(phase, f"DynamoDB says {seen.status} of the table: waits until it is ACTIVE.")
    if seen.ttl_status is None:
        return TtlStep(phase, "DynamoDB does not say how TTL stands: asked again in a minute.")
    if seen.ttl_attribute == TTL_ATTRIBUTE and seen.ttl_status in ("ENABLED", "ENABLING"):
        if seen.ttl_status == "ENABLED":
            return TtlStep(Phase.DONE, f"TTL is on {TTL_ATTRIBUTE}, read back from DynamoDB.")
        detail = f"TTL on {TTL_ATTRIBUTE} is being switched on, which takes DynamoDB up to an hour."
        return TtlStep(Phase.WAITING_ON, detail)
    if seen.ttl_status == "DISABLING":
        if phase is Phase.WAITING_ON:
            return _somebody("switched TTL off")
        return TtlStep(Phase.WAITING_OFF, "TTL is being switched off; DynamoDB takes up to an hour for that.")
    if seen.ttl_status == "DISABLED":
        if phase is Phase.WAITING_ON:
            return _somebody("switched TTL off") if settled else TtlStep(phase, _NOT_SHOWN)
        detail = f"TTL on {TTL_ATTRIBUTE} was asked for; DynamoDB takes up to an hour for it."
        return TtlStep(Phase.WAITING_ON, detail, "enable", TTL_ATTRIBUTE)
    if phase is Phase.WAITING_OFF and seen.ttl_attribute == from_attribute and not settled:
        return TtlStep(phase, _NOT_SHOWN)
    return _on_another(phase, from_attribute, seen)


def after_refusal(phase: Phase, send: str, error: AwsError, now: datetime) -> TtlStep:
    """The move where DynamoDB refused to switch: it waits where that may pass, and fails where it will not."""
    said = str(error).rstrip(".")
    word = "off" if send == "disable" else f"on, by {TTL_ATTRIBUTE}"
    if error.is_access_denied or error.code in _REFUSED_FOR_GOOD:
        return TtlStep(Phase.FAILED, f"TTL could not be switched {word}: {said}.")
    waiting = Phase.DISABLING if send == "disable" else Phase.ENABLING
    detail = (
        f"TTL could not be switched {word} yet, which DynamoDB allows once in about an hour; tried again at "
        f"{now + ASK_AGAIN:%H:%M} UTC: {said}."
    )
    return TtlStep(waiting, detail, wait=ASK_AGAIN)


def _on_another(phase: Phase, from_attribute: str, seen: StoreDescription) -> TtlStep:
    if seen.ttl_status == "ENABLING":
        return TtlStep(phase, f"DynamoDB is still switching TTL on by {seen.ttl_attribute}: waits until that is over.")
    if seen.ttl_status != "ENABLED":
        return TtlStep(phase, f"DynamoDB says {seen.ttl_status} of TTL: asked again in a minute.")
    if phase is not Phase.DISABLING:
        return _somebody(f"switched TTL on again, by {seen.ttl_attribute}")
    if from_attribute and seen.ttl_attribute != from_attribute:
        return _somebody(f"moved TTL to {seen.ttl_attribute}")
    detail = f"TTL on {seen.ttl_attribute} was asked to end; DynamoDB takes up to an hour for that."
    return TtlStep(Phase.WAITING_OFF, detail, "disable", seen.ttl_attribute or "")


def _somebody(did: str) -> TtlStep:
    return TtlStep(
        Phase.FAILED, f"Somebody {did} meanwhile: nothing more is changed. Look at the store, then plan again."
    )
