"""What planning a change of a commit store rests on, and what forbids any change of it."""

from dataclasses import dataclass

from coordinator.protocols.stores import LOG_STORE
from coordinator.protocols.wording import joined
from coordinator.settings.capacity import CapacityAdvice
from coordinator.settings.requests import NotPlanned
from lake.aws.arns import partition_of
from lake.aws.dynamodb import StoreDescription
from lake.delta import coordinator_items, log_store

SettingValue = str | int | bool | None | tuple[object, ...]
"""What a setting of a DynamoDB table is; of several values any will do."""

EXPECTED_KEYS = {LOG_STORE: log_store.expected_keys(), "commit_coordinator": coordinator_items.expected_keys()}
NOUNS = {LOG_STORE: "log store", "commit_coordinator": "coordinator"}


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """One DynamoDB table as just described, None where there is none of that name.

    `kind` is what Levee knows it as, "" where it does not. `before_ttl` names the tables with an entry that carries a
    time although the file of its commit is not there. `account` is "" where it could not be told.
    """

    name: str
    region: str
    description: StoreDescription | None
    kind: str = ""
    account: str = ""
    is_migrating: bool = False
    before_ttl: tuple[str, ...] = ()
    advice: CapacityAdvice | None = None

    @property
    def arn(self) -> str:
        if self.description is not None and self.description.arn:
            return self.description.arn
        return f"arn:{partition_of(self.region)}:dynamodb:{self.region}:{self.account or '*'}:table/{self.name}"


def require_changeable(facts: StoreFacts) -> StoreDescription:
    """The table as described; raises NotPlanned where something forbids any change of it now."""
    found = facts.description
    if found is None:
        raise NotPlanned(
            "absent", f"There is no DynamoDB table {facts.name} in {facts.region}: nothing can be changed."
        )
    if found.status != "ACTIVE":
        told = f"DynamoDB says {found.status or 'nothing'} of {facts.name}, not ACTIVE: nothing was changed."
        raise NotPlanned("not-active", told)
    require_kind(facts.name, found, facts.kind)
    return found


def require_kind(name: str, found: StoreDescription, kind: str, instead: str = "") -> None:
    """Raises NotPlanned unless the table is one of its kind, by its keys: one that is not serves something else."""
    expected = EXPECTED_KEYS.get(kind)
    if expected is None:
        raise NotPlanned("unknown-kind", f"{name} is no commit store that Levee knows: declare it with its kind first.")
    if found.key_schema != expected:
        has, needs = keys_in_words(found.key_schema), keys_in_words(expected)
        told = f"{name} has the key {has}, and a {NOUNS[kind]} has {needs}: it is none, and Levee changes nothing of it"
        raise NotPlanned("wrong-key-schema", f"{told}.{instead}")


def keys_in_words(keys: tuple[tuple[str, str, str], ...]) -> str:
    return joined([f"{kind} {name} ({letter})" for name, kind, letter in keys]) or "none"


def differing(found: StoreDescription | None, wanted: tuple[tuple[str, SettingValue], ...]) -> str:
    """The first of these facts that does not hold, in words; "" where all do. An absent table has status ""."""
    for name, value in wanted:
        actual = getattr(found, name) if found is not None else ("" if name == "status" else None)
        if actual != value and not (isinstance(value, tuple) and actual in value):
            return f"{name.replace('_', ' ')} is {actual if actual not in (None, '') else 'not set'}"
    return ""
