"""Change requests out of forms' fields: text becomes numbers and choices here; who plans them checks them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from coordinator.protocols.stores import COMMIT_COORDINATOR
from coordinator.settings.requests import (
    TTL_CHANGES,
    Capacity,
    ChangeCapacity,
    ChangeInvalid,
    ChangeProtection,
    ChangeRecovery,
    ChangeRequest,
    CreateStore,
    RemoveTempRule,
    SetMultipartRule,
    SetTempRule,
    Sweep,
)

Fields = Mapping[str, str]
LONGEST_NUMBER = 9
MOST_SWEEP_DAYS = 3_650


def store_creation(fields: Fields) -> CreateStore:
    """A new store as its form names it. Raises ChangeInvalid for what is no number or choice."""
    kind = fields.get("kind", "")
    return CreateStore(
        name=fields.get("name", "").strip(),
        kind=kind,
        capacity=_capacity(fields),
        deletion_protection=fields.get("protection") == "yes",
        recovery=fields.get("recovery") == "yes",
        ttl=fields.get("ttl") == "yes" and kind != COMMIT_COORDINATOR,
        encryption=_encryption(fields),
        tags=_tags(fields.get("tags", "")),
    )


def store_change(name: str, fields: Fields) -> ChangeRequest:
    """A change of one store as a form names it. Raises ChangeInvalid."""
    act, on = fields.get("act", ""), fields.get("on") == "yes"
    if act in TTL_CHANGES:
        return TTL_CHANGES[act](name)
    match act:
        case ChangeCapacity.ACT:
            return ChangeCapacity(name, _capacity(fields))
        case ChangeProtection.ACT:
            return ChangeProtection(name, on)
        case ChangeRecovery.ACT:
            return ChangeRecovery(name, on)
    raise ChangeInvalid("act", "Choose what to change.")


def bucket_change(name: str, fields: Fields, now: datetime) -> ChangeRequest:
    """A change of one bucket as a form names it; a sweep's age in days counts back from `now`. Raises ChangeInvalid."""
    prefix = (fields.get("prefix", "").strip() or fields.get("table", "")).strip("/")
    match fields.get("act", ""):
        case SetTempRule.ACT:
            return SetTempRule(name, prefix, _whole_number(fields, "days"))
        case RemoveTempRule.ACT:
            return RemoveTempRule(name, fields.get("rule", ""))
        case SetMultipartRule.ACT:
            return SetMultipartRule(name, _whole_number(fields, "days"))
        case Sweep.ACT:
            return Sweep(name, sweep_before(_whole_number(fields, "days"), now), prefix)
    raise ChangeInvalid("act", "Choose what to change.")


def sweep_before(days: int, now: datetime) -> str:
    """The moment before which a file was last written that is `days` old, to the minute. Raises ChangeInvalid."""
    if not 0 <= days <= MOST_SWEEP_DAYS:
        raise ChangeInvalid("days", f"Give 0 to {MOST_SWEEP_DAYS:,} days.")
    return (now.astimezone(UTC) - timedelta(days=days)).replace(second=0, microsecond=0).isoformat()


def _tags(text: str) -> tuple[tuple[str, str], ...]:
    """One tag on each line, as key=value. Raises ChangeInvalid naming the line that is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "=" not in line:
            raise ChangeInvalid("tags", f"Write each tag on a line of its own as key=value; {line[:40]!r} is none.")
    pairs = [line.partition("=") for line in lines]
    return tuple((key.strip(), value.strip()) for key, _, value in pairs)


def _whole_number(fields: Fields, name: str) -> int:
    """A number without sign or point. Raises ChangeInvalid."""
    text = fields.get(name, "").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise ChangeInvalid(name, "Give a whole number.")
    return int(text)


def _capacity(fields: Fields) -> Capacity:
    """On demand, or units that are at least 1 each: 0 would mean on demand."""
    if fields.get("billing") == "on_demand":
        return Capacity()
    if fields.get("billing") != "provisioned":
        raise ChangeInvalid("billing", "Choose on demand or provisioned.")
    units = {name: _whole_number(fields, name) for name in ("read", "write")}
    for name, number in units.items():
        if number == 0:
            raise ChangeInvalid(name, "Give at least 1 unit a second, or choose on demand.")
    return Capacity(**units)


def _encryption(fields: Fields) -> str:
    match fields.get("encryption", ""):
        case "key":
            key = fields.get("key", "").strip()
            if key in ("", "aws"):
                raise ChangeInvalid("encryption", "Give the ARN of the KMS key.")
            return key
        case "aws":
            return "aws"
    return ""
