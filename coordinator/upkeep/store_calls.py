"""Calls that change a DynamoDB table, and the parts of their bodies."""

import json
from collections.abc import Mapping
from typing import Any

from coordinator.protocols.wording import thousands
from coordinator.upkeep.calls import Fact, StoreCall
from coordinator.upkeep.wishes import Capacity

ACTIVE: tuple[str, Fact] = ("status", "ACTIVE")
TTL_ON = ("ENABLING", "ENABLED")
TTL_OFF = ("DISABLING", "DISABLED")


def store_call(
    operation: str,
    request: Mapping[str, Any],
    says: str,
    before: tuple[tuple[str, Fact], ...],
    after: tuple[tuple[str, Fact], ...],
) -> StoreCall:
    return StoreCall(operation, request["TableName"], json.dumps(request, sort_keys=True), says, before, after)


def ttl_request(table: str, attribute: str, *, on: bool) -> dict[str, Any]:
    """The body of UpdateTimeToLive; DynamoDB wants the attribute's name to switch it off, too."""
    return {"TableName": table, "TimeToLiveSpecification": {"AttributeName": attribute, "Enabled": on}}


def ttl_call(table: str, attribute: str, *, on: bool) -> StoreCall:
    request = ttl_request(table, attribute, on=on)
    if on:
        after: tuple[tuple[str, Fact], ...] = (("ttl_status", TTL_ON), ("ttl_attribute", attribute))
        before: tuple[tuple[str, Fact], ...] = (ACTIVE, ("ttl_status", "DISABLED"))
        return store_call("UpdateTimeToLive", request, f"Switch TTL on, by {attribute}.", before, after)
    enabled: tuple[tuple[str, Fact], ...] = (ACTIVE, ("ttl_status", "ENABLED"), ("ttl_attribute", attribute))
    return store_call("UpdateTimeToLive", request, "Switch TTL off.", enabled, (("ttl_status", TTL_OFF),))


def billing_request(capacity: Capacity) -> dict[str, Any]:
    """What CreateTable and UpdateTable say of it."""
    if capacity.on_demand:
        return {"BillingMode": "PAY_PER_REQUEST"}
    units = {"ReadCapacityUnits": capacity.read, "WriteCapacityUnits": capacity.write}
    return {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}


def capacity_facts(capacity: Capacity) -> tuple[tuple[str, Fact], ...]:
    if capacity.on_demand:
        return (("billing", "on_demand"),)
    return ("billing", "provisioned"), ("read_capacity", capacity.read), ("write_capacity", capacity.write)


def capacity_in_words(capacity: Capacity) -> str:
    if capacity.on_demand:
        return "on demand"
    return f"provisioned with {thousands(capacity.read)} read and {thousands(capacity.write)} write units a second"
