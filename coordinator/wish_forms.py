"""Wishes out of forms' fields: text becomes numbers and choices here; each wish checks itself."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from coordinator.models import Bucket, CommitStore
from coordinator.protocols.stores import COMMIT_COORDINATOR
from coordinator.upkeep.wishes import (
    Capacity,
    ChangeCapacity,
    ChangeProtection,
    ChangeRecovery,
    CreateStore,
    DisableTtl,
    EnableTtl,
    MigrateTtl,
    RemoveTempRule,
    SetMultipartRule,
    SetTempRule,
    Sweep,
    Wish,
    WishInvalid,
)

Fields = Mapping[str, str]
LONGEST_NUMBER = 9
MOST_SWEEP_DAYS = 3_650


def creation_wish(fields: Fields) -> CreateStore:
    """A new store as its form names it. Raises WishInvalid."""
    kind = fields.get("kind", "")
    wish = CreateStore(
        name=fields.get("name", "").strip(),
        kind=kind,
        capacity=_capacity(fields),
        deletion_protection=fields.get("protection") == "yes",
        recovery=fields.get("recovery") == "yes",
        ttl=fields.get("ttl") == "yes" and kind != COMMIT_COORDINATOR,
        encryption=_encryption(fields),
        tags=read_tags(fields.get("tags", "")),
    )
    wish.check()
    return wish


def store_wish(store: CommitStore, fields: Fields) -> Wish:
    """A change of one store as a form names it. Raises WishInvalid."""
    wish = _store_wish(store.name, fields)
    wish.check()
    return wish


def bucket_wish(bucket: Bucket, fields: Fields, now: datetime) -> Wish:
    """A change of one bucket as a form names it; a sweep's age in days counts back from `now`. Raises WishInvalid."""
    wish = _bucket_wish(bucket.name, fields, now)
    wish.check()
    return wish


def sweep_before(days: int, now: datetime) -> str:
    """The moment before which a file was last written that is `days` old, to the minute. Raises WishInvalid."""
    if not 0 <= days <= MOST_SWEEP_DAYS:
        raise WishInvalid("days", f"Give 0 to {MOST_SWEEP_DAYS:,} days.")
    return (now.astimezone(UTC) - timedelta(days=days)).replace(second=0, microsecond=0).isoformat()


def read_tags(text: str) -> tuple[tuple[str, str], ...]:
    """One tag on each line, as key=value. Raises WishInvalid naming the line that is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "=" not in line:
            raise WishInvalid("tags", f"Write each tag on a line of its own as key=value; {line[:40]!r} is none.")
    pairs = [line.partition("=") for line in lines]
    return tuple((key.strip(), value.strip()) for key, _, value in pairs)


def whole_number(fields: Fields, name: str) -> int:
    """A number without sign or point. Raises WishInvalid."""
    text = fields.get(name, "").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise WishInvalid(name, "Give a whole number.")
    return int(text)


def _store_wish(name: str, fields: Fields) -> Wish:
    on = fields.get("on") == "yes"
    match fields.get("act", ""):
        case ChangeCapacity.ACT:
            return ChangeCapacity(name, _capacity(fields))
        case ChangeProtection.ACT:
            return ChangeProtection(name, on)
        case ChangeRecovery.ACT:
            return ChangeRecovery(name, on)
        case EnableTtl.ACT:
            return EnableTtl(name)
        case MigrateTtl.ACT:
            return MigrateTtl(name)
        case DisableTtl.ACT:
            return DisableTtl(name)
    raise WishInvalid("act", "Choose what to change.")


def _bucket_wish(name: str, fields: Fields, now: datetime) -> Wish:
    prefix = fields.get("prefix", "").strip().strip("/")
    match fields.get("act", ""):
        case SetTempRule.ACT:
            return SetTempRule(name, prefix, whole_number(fields, "days"))
        case RemoveTempRule.ACT:
            return RemoveTempRule(name, fields.get("rule", ""))
        case SetMultipartRule.ACT:
            return SetMultipartRule(name, whole_number(fields, "days"))
        case Sweep.ACT:
            return Sweep(name, sweep_before(whole_number(fields, "days"), now), prefix)
    raise WishInvalid("act", "Choose what to change.")


def _capacity(fields: Fields) -> Capacity:
    """On demand, or units that are at least 1 each: 0 would mean on demand."""
    if fields.get("billing") == "on_demand":
        return Capacity()
    if fields.get("billing") != "provisioned":
        raise WishInvalid("billing", "Choose on demand or provisioned.")
    units = {name: whole_number(fields, name) for name in ("read", "write")}
    for name, number in units.items():
        if number == 0:
            raise WishInvalid(name, "Give at least 1 unit a second, or choose on demand.")
    return Capacity(**units)


def _encryption(fields: Fields) -> str:
    match fields.get("encryption", ""):
        case "key":
            key = fields.get("key", "").strip()
            if key in ("", "aws"):
                raise WishInvalid("encryption", "Give the ARN of the KMS key.")
            return key
        case "aws":
            return "aws"
    return ""
