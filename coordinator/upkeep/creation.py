"""The plan of a new commit store: exactly the keys its writers look for, and better settings than they would give."""

import json
from typing import Any

from changes.calls import Call
from changes.plan import Equivalents, Plan, Refusal
from coordinator.protocols.stores import LOG_STORE, TTL_ATTRIBUTE
from coordinator.upkeep.equivalents import cloudformation_table, dynamodb_cli, terraform_table
from coordinator.upkeep.store_calls import (
    ACTIVE,
    ListStore,
    StoreCall,
    billing_request,
    capacity_facts,
    capacity_in_words,
    store_call,
    ttl_call,
)
from coordinator.upkeep.store_facts import (
    EXPECTED_KEYS,
    NOUNS,
    Fact,
    StoreFacts,
    differing,
    keys_in_words,
    why_not_kind,
)
from coordinator.upkeep.wishes import CreateStore
from lake.aws.dynamodb import StoreDescription

DELTA_UNITS = 5
"""Read and write units that both of Delta's clients give a table which they create themselves."""


def plan_creation(wish: CreateStore, facts: StoreFacts) -> Plan | Refusal:
    """A table of that name which is there already is finished if it is what the wish would have made, and empty."""
    found = facts.description
    if found is not None and (reason := _why_not_ours(wish, facts, found)):
        return _refuse(wish, *reason)
    calls = _calls(wish, facts.arn)
    if found is not None and facts.kind == wish.kind and all(_holds(found, call) for call in calls):
        return _refuse(wish, "nothing-to-do", f"{wish.name} exists already, just as wished.")
    return Plan(
        kind=wish.ACT,
        subject=wish.name,
        title=f"Create the {NOUNS[wish.kind]} {wish.name}",
        calls=calls,
        conditions=(f"No DynamoDB table {wish.name} exists in {facts.region}, or one that this plan began.",),
        consequences=_consequences(wish),
        equivalents=_equivalents(wish, facts),
        beside=beside_delta(wish),
    )


def beside_delta(wish: CreateStore) -> tuple[tuple[str, str, str], ...]:
    """Rows (setting, what Delta makes of a missing table, what this plan makes)."""
    log_store = wish.kind == LOG_STORE
    key = keys_in_words(EXPECTED_KEYS[wish.kind])
    ttl = "On expireTime" if log_store and wish.ttl else "Off, as it must be" if not log_store else "Off"
    capacity = capacity_in_words(wish.capacity)
    return (
        ("Key", key, key),
        (
            "Capacity",
            f"Provisioned with {DELTA_UNITS} read and {DELTA_UNITS} write units a second",
            capacity[:1].upper() + capacity[1:],
        ),
        ("TTL", "Off: no writer switches it on" if log_store else "Off", ttl),
        ("Deletion protection", "Off", "On" if wish.deletion_protection else "Off"),
        ("Point-in-time recovery", "Off", "On" if wish.recovery else "Off"),
        ("Encryption", "A key of DynamoDB's own", _key_in_words(wish.encryption)),
        ("Tags", "None", ", ".join(f"{key}={value}" for key, value in wish.tags) or "None"),
    )


def _refuse(wish: CreateStore, code: str, reason: str) -> Refusal:
    return Refusal(wish.ACT, wish.name, reason, code)


def _why_not_ours(wish: CreateStore, facts: StoreFacts, found: StoreDescription) -> tuple[str, str] | None:
    if found.status not in ("ACTIVE", "CREATING"):
        return "not-active", f"{wish.name} exists, and DynamoDB says {found.status} of it: nothing was created."
    code, reason = why_not_kind(wish.name, found, wish.kind)
    if reason:
        return code, f"{reason[:-1]}. Give the new store another name."
    indexes = (*found.global_indexes, *found.local_indexes)
    same = not differing(found, _birth_facts(wish)) and not indexes
    if found.item_count or (facts.kind and facts.kind != wish.kind) or not same:
        return "exists", (
            f"A DynamoDB table {wish.name} exists already, with other settings or with items: nothing was created. "
            "Change its settings where it is shown, or give the new store another name."
        )
    return None


def _calls(wish: CreateStore, arn: str) -> tuple[Call, ...]:
    calls: list[Call] = [
        store_call(
            "CreateTable",
            create_request(wish),
            f"Create {wish.name} with the key {keys_in_words(EXPECTED_KEYS[wish.kind])}, and wait until it is ACTIVE.",
            (("status", ""),),
            (ACTIVE, ("key_schema", EXPECTED_KEYS[wish.kind])),
            arn,
        ),
        ListStore(wish.name, wish.kind, f"List {wish.name} among the commit stores."),
    ]
    if wish.recovery:
        specification = {"PointInTimeRecoveryEnabled": True}
        request = {"TableName": wish.name, "PointInTimeRecoverySpecification": specification}
        calls.append(
            store_call(
                "UpdateContinuousBackups",
                request,
                "Switch point-in-time recovery on.",
                (ACTIVE,),
                (("point_in_time_recovery", True),),
                arn,
            )
        )
    if wish.ttl and wish.kind == LOG_STORE:
        calls.append(ttl_call(wish.name, TTL_ATTRIBUTE, arn, on=True))
    return tuple(calls)


def create_request(wish: CreateStore) -> dict[str, Any]:
    """The body of CreateTable."""
    keys = EXPECTED_KEYS[wish.kind]
    request: dict[str, Any] = {
        "TableName": wish.name,
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": letter} for name, _, letter in keys],
        "KeySchema": [{"AttributeName": name, "KeyType": role} for name, role, _ in keys],
        "DeletionProtectionEnabled": wish.deletion_protection,
        **billing_request(wish.capacity),
    }
    if wish.encryption:
        key = {} if wish.encryption == "aws" else {"KMSMasterKeyId": wish.encryption}
        request["SSESpecification"] = {"Enabled": True, "SSEType": "KMS", **key}
    if wish.tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in wish.tags]
    return request


def _birth_facts(wish: CreateStore) -> tuple[tuple[str, Fact], ...]:
    """Settings that CreateTable gives, by which a table that a broken-off job left is recognised."""
    return (*capacity_facts(wish.capacity), *((("encryption", ""),) if not wish.encryption else ()))


def _holds(found: StoreDescription, call: Call) -> bool:
    return not isinstance(call, StoreCall) or not differing(found, call.after)


def _consequences(wish: CreateStore) -> tuple[str, ...]:
    option = "ddb.tableName" if wish.kind == LOG_STORE else "dynamoDBTableName"
    told = [
        f"No Delta table uses the new store until its writers name it in {option}.",
        "Changing the store of a live table means stopping every writer first.",
    ]
    if wish.kind == LOG_STORE and wish.ttl:
        told.append("TTL by expireTime lets finished entries leave; its change takes up to an hour to act.")
    if wish.kind != LOG_STORE:
        told.append("TTL stays off: a registration that expires takes its table with it.")
    if wish.encryption not in ("", "aws"):
        told.append("Each writer and reader then needs the KMS key besides; without it every commit fails.")
    return tuple(told)


def _equivalents(wish: CreateStore, facts: StoreFacts) -> Equivalents:
    calls = [(call.verb, json.loads(call.request)) for call in _calls(wish, "") if isinstance(call, StoreCall)]
    table: dict[str, Any] = {
        "name": wish.name,
        "keys": EXPECTED_KEYS[wish.kind],
        "billing": "on_demand" if wish.capacity.on_demand else "provisioned",
        "read": wish.capacity.read,
        "write": wish.capacity.write,
        "deletion_protection": wish.deletion_protection,
        "recovery": wish.recovery,
        "encryption": wish.encryption,
        "tags": wish.tags,
    }
    if wish.ttl and wish.kind == LOG_STORE:
        table["ttl"] = (TTL_ATTRIBUTE, True)
    return Equivalents(dynamodb_cli(calls, facts.region), terraform_table(table), cloudformation_table(table))


def _key_in_words(encryption: str) -> str:
    if not encryption:
        return "A key of DynamoDB's own"
    return "The account's key alias/aws/dynamodb" if encryption == "aws" else encryption
