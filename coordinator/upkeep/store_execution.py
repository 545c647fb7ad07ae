"""Making one change of a DynamoDB table: describe, send, describe again until it shows."""

import json
from collections.abc import Callable

from coordinator.upkeep.calls import StoreCall
from coordinator.upkeep.outcome import CallOutcome, Result
from coordinator.upkeep.store_facts import differing
from lake.aws.access import Lake
from lake.aws.dynamodb import StoreDescription
from lake.aws.errors import AwsError

SETTLE_LOOKS = 60
"""How often a change is looked for, a `pause` apart: creating a table takes about ten seconds."""

Pause = Callable[[], None]


def describe(lake: Lake, table: str) -> StoreDescription | None:
    """The table, None where there is none. Raises AwsError."""
    try:
        return lake.dynamodb.describe(table)
    except AwsError as error:
        if error.is_missing:
            return None
        raise


def make_store_call(call: StoreCall, lake: Lake, pause: Pause) -> CallOutcome:
    """Send it if what it rests on holds; an error of AWS counts only where the change does not show after it.

    `pause` waits about two seconds; what it raises goes through. Raises AwsError where the table cannot be described
    before anything was sent.
    """
    found = describe(lake, call.table)
    if call.operation == "CreateTable" and found is not None and found.status == "CREATING":
        found = _settled(call, lake, pause)
    if found is not None and not differing(found, call.after):
        return CallOutcome(call, Result.ALREADY, f"{call.table}: this was so already.")
    if reason := differing(found, call.before):
        return CallOutcome(
            call,
            Result.STOPPED,
            f"Stopped at {call.operation} of {call.table}, for its {reason} by now: it was not sent.",
            code="Moved",
        )
    try:
        request_id = lake.dynamodb.change(call.operation, json.loads(call.request))
    except AwsError as error:
        return _after_error(call, lake, error)
    return _after_change(call, lake, request_id, pause)


def _after_error(call: StoreCall, lake: Lake, error: AwsError) -> CallOutcome:
    """An answer may be lost after the change was made: what the table says counts."""
    ids = (error.request_id,) if error.request_id else ()
    try:
        found = describe(lake, call.table)
    except AwsError:
        found = None
    if found is not None and not differing(found, call.after):
        return CallOutcome(call, Result.DONE, f"{call.table}: done, though DynamoDB's answer was {error.code}.", ids)
    return CallOutcome(call, Result.FAILED, in_words(call, error), ids, error.code)


def _after_change(call: StoreCall, lake: Lake, request_id: str, pause: Pause) -> CallOutcome:
    ids = (request_id,) if request_id else ()
    try:
        found = _settled(call, lake, pause)
    except AwsError as error:
        sentence = f"DynamoDB took {call.operation} of {call.table}, and then would not say what came of it: {error}"
        return CallOutcome(call, Result.DONE, sentence, ids)
    if found is None or differing(found, call.after):
        said = differing(found, call.after)
        return CallOutcome(
            call, Result.DONE, f"DynamoDB took {call.operation} of {call.table} and is still at it: {said}.", ids
        )
    return CallOutcome(call, Result.DONE, f"{call.table}: done, and read back.", ids)


def _settled(call: StoreCall, lake: Lake, pause: Pause) -> StoreDescription | None:
    """The table once the change shows and it is ACTIVE, or as it is after the last look."""
    found = None
    for look in range(SETTLE_LOOKS):
        if look:
            pause()
        found = describe(lake, call.table)
        if found is not None and found.status == "ACTIVE" and not differing(found, call.after):
            return found
    return found


def in_words(call: StoreCall, error: AwsError) -> str:
    """One sentence: what was refused, that nothing was changed, and what to do where that is known."""
    said = str(error).rstrip(".")
    if "kms" in error.message.lower():
        return (
            f"{call.operation} of {call.table} was refused for its KMS key, and nothing was changed: {said}. Let this "
            "connection and DynamoDB use the key, or choose another encryption."
        )
    if error.code in ("LimitExceededException", "ResourceInUseException"):
        return f"DynamoDB takes no such change of {call.table} now, and nothing was changed: {said}. Try again later."
    return f"{call.operation} of {call.table} was refused, and nothing was changed by it: {said}."
