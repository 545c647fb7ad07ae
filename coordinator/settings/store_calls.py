"""Calls that change a DynamoDB table: describe, send, describe again until it shows. And the parts of their bodies."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from changes.calls import Answer, LakeCall, Permission, Result, Sending, Stop, already, done
from coordinator.protocols.wording import thousands
from coordinator.settings.requests import Capacity
from coordinator.settings.store_facts import SettingValue, differing
from lake.aws.errors import AwsError

if TYPE_CHECKING:
    from lake.aws.access import Lake
    from lake.aws.dynamodb import StoreDescription

ACTIVE: tuple[str, SettingValue] = ("status", "ACTIVE")
TTL_ON = ("ENABLING", "ENABLED")
TTL_OFF = ("DISABLING", "DISABLED")
SETTLE_LOOKS = 60
"""How often a change is looked for, a `pause` apart: creating a table takes about ten seconds."""

Facts = tuple[tuple[str, SettingValue], ...]


@dataclass(frozen=True, slots=True)
class StoreCall(LakeCall):
    """One DynamoDB operation on a table; `body` is JSON text with sorted names.

    `before` are facts (name of a `StoreDescription` attribute, value) that must hold when it is sent; `after` are those
    that prove it done, and where they hold already it is not sent. A fact of several values holds with any of them. A
    table that does not exist has the one fact that its status is "". `arn` is the table's, which no digest rests on.
    """

    verb: str
    table: str
    body: str
    says: str
    before: Facts = ()
    after: Facts = ()
    arn: str = field(default="", repr=False)

    @property
    def operation(self) -> str:
        return f"dynamodb:{self.verb}"

    @property
    def request(self) -> str:
        return self.body

    @property
    def condition(self) -> str:
        return "; ".join(_fact_in_words(name, value) for name, value in self.before)

    @property
    def permissions(self) -> tuple[Permission, ...]:
        body = json.loads(self.body)
        verbs = (self.operation, "dynamodb:DescribeTable", *(("dynamodb:TagResource",) if body.get("Tags") else ()))
        key = body.get("SSESpecification", {}).get("KMSMasterKeyId", "")
        of_key = ("kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey") if key else ()
        return (*(Permission(one, self.arn) for one in verbs), *(Permission(one, key) for one in of_key))

    def send(self, sending: Sending) -> Answer:
        """Send it if what it rests on holds; an error of AWS counts only where the change does not show after it.

        Raises Stop, and AwsError where the table cannot be described before anything was sent.
        """
        found = describe(sending.lake, self.table)
        if self.verb == "CreateTable" and found is not None and found.status == "CREATING":
            found = self._settled(sending)
        if found is not None and not differing(found, self.after):
            return already(f"{self.table}: this was so already.")
        if reason := differing(found, self.before):
            raise Stop(f"Stopped at {self.verb} of {self.table}, for its {reason} by now: it was not sent.", "Moved")
        try:
            sending.took(sending.lake.dynamodb.change(self.verb, json.loads(self.body)))
        except AwsError as error:
            return self._after_error(sending, error)
        return self._after_change(sending)

    def _after_error(self, sending: Sending, error: AwsError) -> Answer:
        """An answer may be lost after the change was made: what the table says counts."""
        sending.note(error.request_id)
        try:
            found = describe(sending.lake, self.table)
        except AwsError:
            found = None
        if found is not None and not differing(found, self.after):
            sending.took("")
            return done(f"{self.table}: done, though DynamoDB's answer was {error.code}.")
        sentence = f"{self.verb} of {self.table} was refused, and nothing was changed by it: {error}"
        return Answer(Result.FAILED, sentence, error.code)

    def _after_change(self, sending: Sending) -> Answer:
        took = f"DynamoDB took {self.verb} of {self.table}"
        try:
            found = self._settled(sending)
        except AwsError as error:
            return done(f"{took}, and then would not say what came of it: {error}")
        if found is None or differing(found, self.after):
            return done(f"{took} and is still at it: {differing(found, self.after)}.")
        return done(f"{self.table}: done, and read back.")

    def _settled(self, sending: Sending) -> "StoreDescription | None":
        """The table once the change shows and it is ACTIVE, or as it is after the last look."""
        found = None
        for look in range(SETTLE_LOOKS):
            if look:
                sending.pause()
            found = describe(sending.lake, self.table)
            if found is not None and found.status == "ACTIVE" and not differing(found, self.after):
                return found
        return found


@dataclass(frozen=True, slots=True)
class ListStore(LakeCall):
    """Add a DynamoDB table to the commit stores that Levee knows; an entry that is there already stays."""

    operation: ClassVar[str] = "Levee's own records"
    table: str
    kind: str
    says: str

    def send(self, sending: Sending) -> Answer:
        return sending.own_records().list_store(self.table, self.kind)


@dataclass(frozen=True, slots=True)
class BeginTtlMigration(LakeCall):
    """Record that TTL of a log store is to move to expireTime; ticks of the schedule carry it on."""

    operation: ClassVar[str] = "Levee's own records"
    table: str
    attribute: str
    says: str
    arn: str = field(default="", repr=False)

    @property
    def condition(self) -> str:
        return f"TTL is on {self.attribute}, and no migration of {self.table} is under way"

    @property
    def permissions(self) -> tuple[Permission, ...]:
        verbs = ("UpdateTimeToLive", "DescribeTimeToLive", "DescribeTable")
        return tuple(Permission(f"dynamodb:{verb}", self.arn) for verb in verbs)

    def send(self, sending: Sending) -> Answer:
        return sending.own_records().begin_ttl_migration(self.table, self.attribute)


def describe(lake: "Lake", table: str) -> "StoreDescription | None":
    """The table, None where there is none. Raises AwsError."""
    try:
        return lake.dynamodb.describe(table)
    except AwsError as error:
        if error.is_missing:
            return None
        raise


def store_call(verb: str, request: Mapping[str, Any], says: str, before: Facts, after: Facts, arn: str) -> StoreCall:
    return StoreCall(verb, request["TableName"], json.dumps(request, sort_keys=True), says, before, after, arn)


def ttl_request(table: str, attribute: str, *, on: bool) -> dict[str, object]:
    """The body of UpdateTimeToLive; DynamoDB wants the attribute's name to switch it off, too."""
    return {"TableName": table, "TimeToLiveSpecification": {"AttributeName": attribute, "Enabled": on}}


def ttl_call(table: str, attribute: str, arn: str, *, on: bool) -> StoreCall:
    request = ttl_request(table, attribute, on=on)
    if on:
        after: Facts = (("ttl_status", TTL_ON), ("ttl_attribute", attribute))
        before: Facts = (ACTIVE, ("ttl_status", "DISABLED"))
        return store_call("UpdateTimeToLive", request, f"Switch TTL on, by {attribute}.", before, after, arn)
    enabled: Facts = (ACTIVE, ("ttl_status", "ENABLED"), ("ttl_attribute", attribute))
    return store_call("UpdateTimeToLive", request, "Switch TTL off.", enabled, (("ttl_status", TTL_OFF),), arn)


def recovery_call(table: str, before: Facts, arn: str, *, on: bool) -> StoreCall:
    request = {"TableName": table, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": on}}
    says = f"Switch point-in-time recovery {'on' if on else 'off'}."
    after: Facts = (("point_in_time_recovery", on),)
    return store_call("UpdateContinuousBackups", request, says, (ACTIVE, *before), after, arn)


def billing_request(capacity: Capacity) -> dict[str, object]:
    """What CreateTable and UpdateTable say of it."""
    if capacity.on_demand:
        return {"BillingMode": "PAY_PER_REQUEST"}
    units = {"ReadCapacityUnits": capacity.read, "WriteCapacityUnits": capacity.write}
    return {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}


def capacity_facts(capacity: Capacity) -> Facts:
    if capacity.on_demand:
        return (("billing", "on_demand"),)
    return ("billing", "provisioned"), ("read_capacity", capacity.read), ("write_capacity", capacity.write)


def capacity_in_words(capacity: Capacity) -> str:
    if capacity.on_demand:
        return "on demand"
    return f"provisioned with {thousands(capacity.read)} read and {thousands(capacity.write)} write units a second"


def _fact_in_words(name: str, value: SettingValue) -> str:
    if name == "status" and value == "":
        return "no table of this name exists"
    values = value if isinstance(value, tuple) else (value,)
    told = " or ".join("not set" if one in (None, "") else str(one) for one in values)
    return f"{name.replace('_', ' ')} is {told}"
