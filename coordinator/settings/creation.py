"""The plan of a new commit store: exactly the keys its writers look for, and better settings than they would give."""

from changes.calls import Call
from changes.plan import NOTHING_TO_DO, ChangePlan
from coordinator.protocols.stores import LOG_STORE, TTL_ATTRIBUTE
from coordinator.settings.equivalents import of_table
from coordinator.settings.requests import CreateStore, NotPlanned
from coordinator.settings.store_calls import (
    ACTIVE,
    ListStore,
    StoreCall,
    billing_request,
    capacity_facts,
    capacity_in_words,
    recovery_call,
    store_call,
    ttl_call,
)
from coordinator.settings.store_facts import (
    EXPECTED_KEYS,
    NOUNS,
    SettingValue,
    StoreFacts,
    differing,
    keys_in_words,
    require_kind,
)
from lake.aws.dynamodb import StoreDescription

DELTA_UNITS = 5
"""Read and write units that both of Delta's clients give a table which they create themselves."""


def creation_plan(change: CreateStore, facts: StoreFacts) -> ChangePlan:
    """A table of that name which is there already is finished if it is what the request would have made, and empty.

    Raises NotPlanned.
    """
    found = facts.description
    if found is not None:
        _require_ours(change, facts, found)
    calls = _calls(change, facts.arn)
    if found is not None and facts.kind == change.kind and all(_holds(found, call) for call in calls):
        raise NotPlanned(NOTHING_TO_DO, f"{change.name} exists already, just as asked for.")
    return ChangePlan(
        kind=change.ACT,
        subject=change.name,
        title=f"Create the {NOUNS[change.kind]} {change.name}",
        calls=calls,
        conditions=(f"No DynamoDB table {change.name} exists in {facts.region}, or one that this plan began.",),
        consequences=_consequences(change),
        equivalents=of_table(
            facts, (call for call in calls if isinstance(call, StoreCall)), "Once the AWS CLI has made the table:"
        ),
        beside=beside_delta(change),
    )


def beside_delta(change: CreateStore) -> tuple[tuple[str, str, str], ...]:
    """Rows (setting, what Delta makes of a missing table, what this plan makes)."""
    log_store = change.kind == LOG_STORE
    key = keys_in_words(EXPECTED_KEYS[change.kind])
    ttl = "On expireTime" if log_store and change.ttl else "Off, as it must be" if not log_store else "Off"
    capacity = capacity_in_words(change.capacity)
    return (
        ("Key", key, key),
        (
            "Capacity",
            f"Provisioned with {DELTA_UNITS} read and {DELTA_UNITS} write units a second",
            capacity[:1].upper() + capacity[1:],
        ),
        ("TTL", "Off: no writer switches it on" if log_store else "Off", ttl),
        ("Deletion protection", "Off", "On" if change.deletion_protection else "Off"),
        ("Point-in-time recovery", "Off", "On" if change.recovery else "Off"),
        ("Encryption", "A key that DynamoDB owns", _key_in_words(change.encryption)),
        ("Tags", "None", ", ".join(f"{key}={value}" for key, value in change.tags) or "None"),
    )


def _require_ours(change: CreateStore, facts: StoreFacts, found: StoreDescription) -> None:
    if found.status not in ("ACTIVE", "CREATING"):
        told = f"{change.name} exists, and DynamoDB says {found.status} of it: nothing was created."
        raise NotPlanned("not-active", told)
    require_kind(change.name, found, change.kind, " Give the new store another name.")
    indexes = (*found.global_indexes, *found.local_indexes)
    same = not differing(found, _birth_facts(change)) and not indexes
    if found.item_count or (facts.kind and facts.kind != change.kind) or not same:
        raise NotPlanned(
            "exists",
            f"A DynamoDB table {change.name} exists already, with other settings or with items: nothing was created. "
            "Change its settings where it is shown, or give the new store another name.",
        )


def _calls(change: CreateStore, arn: str) -> tuple[Call, ...]:
    calls: list[Call] = [
        store_call(
            "CreateTable",
            create_request(change),
            f"Create {change.name} with the key {keys_in_words(EXPECTED_KEYS[change.kind])}, "
            "and wait until it is ACTIVE.",
            (("status", ""),),
            (ACTIVE, ("key_schema", EXPECTED_KEYS[change.kind])),
            arn,
        ),
        ListStore(change.name, change.kind, f"List {change.name} among the commit stores."),
    ]
    if change.recovery:
        calls.append(recovery_call(change.name, (), arn, on=True))
    if change.ttl and change.kind == LOG_STORE:
        calls.append(ttl_call(change.name, TTL_ATTRIBUTE, arn, on=True))
    return tuple(calls)


def create_request(change: CreateStore) -> dict[str, object]:
    """The body of CreateTable."""
    keys = EXPECTED_KEYS[change.kind]
    request: dict[str, object] = {
        "TableName": change.name,
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": letter} for name, _, letter in keys],
        "KeySchema": [{"AttributeName": name, "KeyType": role} for name, role, _ in keys],
        "DeletionProtectionEnabled": change.deletion_protection,
        **billing_request(change.capacity),
    }
    if change.encryption:
        key = {} if change.encryption == "aws" else {"KMSMasterKeyId": change.encryption}
        request["SSESpecification"] = {"Enabled": True, "SSEType": "KMS", **key}
    if change.tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in change.tags]
    return request


def _birth_facts(change: CreateStore) -> tuple[tuple[str, SettingValue], ...]:
    """Settings that CreateTable gives, by which a table that a broken-off job left is recognised."""
    return (*capacity_facts(change.capacity), *((("encryption", ""),) if not change.encryption else ()))


def _holds(found: StoreDescription, call: Call) -> bool:
    return not isinstance(call, StoreCall) or not differing(found, call.after)


def _consequences(change: CreateStore) -> tuple[str, ...]:
    option = "ddb.tableName" if change.kind == LOG_STORE else "dynamoDBTableName"
    told = [
        f"No Delta table uses the new store until its writers name it in {option}.",
        "Changing the store of a live table means stopping every writer first.",
    ]
    if change.kind == LOG_STORE and change.ttl:
        told.append("TTL by expireTime lets finished entries leave; its change takes up to an hour to act.")
    if change.kind != LOG_STORE:
        told.append("TTL stays off: a registration that expires takes its table with it.")
    if change.encryption not in ("", "aws"):
        told.append("Each writer and reader then needs the KMS key besides; without it every commit fails.")
    return tuple(told)


def _key_in_words(encryption: str) -> str:
    if not encryption:
        return "A key that DynamoDB owns"
    return "The account's key alias/aws/dynamodb" if encryption == "aws" else encryption
