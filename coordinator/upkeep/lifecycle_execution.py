"""Writing a bucket's lifecycle configuration: read, compare, merge, write, read back, compare."""

from collections.abc import Callable

from coordinator.upkeep.calls import WriteLifecycle
from coordinator.upkeep.lifecycle_merge import difference, with_rule, without_rule
from coordinator.upkeep.outcome import CallOutcome, Result
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.lifecycle import Lifecycle, parse_rule, read_lifecycle, write_lifecycle

READ_BACK_LOOKS = 5
"""How often a write is looked for: S3 may give the configuration of before for some seconds."""

Pause = Callable[[], None]
Note = Callable[[Lifecycle, Lifecycle], None]


def make_lifecycle_call(call: WriteLifecycle, lake: Lake, pause: Pause, owner: str, note: Note) -> CallOutcome:
    """Write the merged rules if the configuration is the one that the plan was made from.

    `owner` is the account that must own the bucket; `note` hears the rules before and those to be written, just before
    the write. Raises AwsError where the rules cannot be read before anything was sent.
    """
    before = read_lifecycle(lake, call.bucket)
    if _is_done(call, before):
        return CallOutcome(call, Result.ALREADY, f"The rules of {call.bucket} were so already.")
    if before.digest != call.read:
        return CallOutcome(
            call,
            Result.STOPPED,
            f"The lifecycle rules of {call.bucket} have changed since the plan was made, so nothing was written: plan "
            "again.",
            code="Moved",
        )
    wanted = with_rule(before, call.rule) if call.rule else without_rule(before, call.rule_id)
    note(before, wanted)
    try:
        request_id = write_lifecycle(lake, call.bucket, wanted, owner=owner)
    except AwsError as error:
        return _after_error(call, lake, wanted, error)
    return _read_back(call, lake, wanted, request_id, pause)


def _is_done(call: WriteLifecycle, found: Lifecycle) -> bool:
    rule = next((one for one in found.rules if one.id == call.rule_id), None)
    if not call.rule:
        return rule is None
    return rule is not None and rule.tree == parse_rule(call.rule).tree


def _after_error(call: WriteLifecycle, lake: Lake, wanted: Lifecycle, error: AwsError) -> CallOutcome:
    """An answer may be lost after the write was made: what S3 says of the rules counts."""
    ids = (error.request_id,) if error.request_id else ()
    try:
        if not difference(wanted, read_lifecycle(lake, call.bucket)):
            return CallOutcome(call, Result.DONE, f"Written and read back, though S3's answer was {error.code}.", ids)
    except AwsError:
        sentence = f"Whether the rules of {call.bucket} were written is not known: {error}"
        return CallOutcome(call, Result.FAILED, sentence, ids, error.code)
    sentence = f"The rules of {call.bucket} were not written, and are as before: {error}"
    return CallOutcome(call, Result.FAILED, sentence, ids, error.code)


def _read_back(call: WriteLifecycle, lake: Lake, wanted: Lifecycle, request_id: str, pause: Pause) -> CallOutcome:
    ids = (request_id,) if request_id else ()
    other = ""
    for look in range(READ_BACK_LOOKS):
        if look:
            pause()
        try:
            other = difference(wanted, read_lifecycle(lake, call.bucket))
        except AwsError as error:
            other = f"they could not be read: {str(error).rstrip('.')}"
        if not other:
            others = sum(rule.id != call.rule_id for rule in wanted.rules)
            return CallOutcome(
                call, Result.DONE, f"Written and read back; {others:,} other rules are as they were.", ids
            )
    sentence = (
        f"The rules of {call.bucket} were written, and read back they differ: {other}. Somebody changed them at the "
        "same moment; the rules as they were before are kept with this job."
    )
    return CallOutcome(call, Result.FAILED, sentence, ids, "ReadBack")
