"""What a fresh reading has to say after an act before it counts as done, and what to do where it was cut short."""

from collections.abc import Iterator

from coordinator.coordination.checks import Check, CheckState, Operation, Preflight, failed, ok
from coordinator.coordination.features import BROUGHT, COORDINATED, features_of
from coordinator.coordination.situation import Situation
from coordinator.coordination.table_checks import half_dropped
from coordinator.protocols.absence import being_checked
from coordinator.protocols.coordinator_conf import read_conf
from coordinator.protocols.registrations import current_registration
from coordinator.protocols.verdict import LOUD
from coordinator.protocols.wording import accepted_only
from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF, TABLE_CONF
from lake.delta.facts import Mechanism, Registration

COORDINATOR_PROPERTIES = (COORDINATOR, COORDINATOR_CONF, TABLE_CONF)


def proofs(before: Preflight, after: Situation) -> tuple[Check, ...]:
    """Each thing that has to be true now; one that is not is FAILED."""
    if after.facts is None or after.repair is None:
        return (failed("Read back", after.error or "The table could not be read again."),)
    match before.operation:
        case Operation.DROP:
            made = (*_dropped(after), *_moved(before, after, 1))
        case Operation.LEFTOVERS:
            made = tuple(_removed(after))
        case _:
            made = (*_coordinated(before, after), *_moved(before, after, 1))
    return (*made, _intact(after))


def unproven(made: tuple[Check, ...]) -> str:
    """The sentences of what does not hold, "" where all does."""
    return " ".join(check.sentence for check in made if check.state is CheckState.FAILED)


def _coordinated(before: Preflight, after: Situation) -> Iterator[Check]:
    protocol = after.protocol
    absent = [feature for feature in BROUGHT if protocol is None or feature not in features_of(protocol)]
    name = "Protocol"
    yield failed(name, f"The protocol lacks {absent[0]}.") if absent else ok(name, "It names the three features.")
    conf = read_conf(after.properties)
    wanted = (before.store, before.endpoint)
    if (conf.store, conf.endpoint) == wanted and not conf.problem:
        yield ok("Metadata", f"It names {conf.store} at {conf.endpoint}.")
    else:
        yield failed("Metadata", conf.problem or f"It names {conf.store} at {conf.endpoint}, and not {wanted[0]}.")
    item = registration_of(after)
    if item is None:
        yield failed("Registration", "The coordinator holds no item that the newest metadata names.")
    elif item.accepting_commits is not True:
        yield failed("Registration", f"Item {item.table_id} accepts no commits.")
    else:
        yield ok("Registration", f"Item {item.table_id} accepts commits, at version {item.table_version}.")


def _dropped(after: Situation) -> Iterator[Check]:
    left = [name for name in COORDINATOR_PROPERTIES if name in after.properties]
    yield failed("Properties", f"{left[0]} is still set.") if left else ok("Properties", "All three are gone.")
    features = features_of(after.protocol) if after.protocol else frozenset()
    if COORDINATED in features:
        yield failed("Protocol", f"The protocol still names {COORDINATED}: the second commit is missing.")
    else:
        yield ok("Protocol", f"{COORDINATED} is gone.")
    accepting = [one.table_id for one in after.facts.registrations if one.accepting_commits] if after.facts else []
    proven = [one.table_id for one in after.facts.registrations if one.has_accepted_commits] if after.facts else []
    if still := [one for one in accepting if one in proven]:
        yield failed("Item", f"Item {still[0]} still accepts commits.")
    else:
        yield ok("Item", "No item of this table that had commits accepts more; it is kept for open sessions.")


def _removed(after: Situation) -> Iterator[Check]:
    features = features_of(after.protocol) if after.protocol else frozenset()
    for feature in after.remove_features:
        still = feature in features
        yield failed(feature, f"The protocol still names {feature}.") if still else ok(feature, f"{feature} is gone.")


def _moved(before: Preflight, after: Situation, commits: int) -> Iterator[Check]:
    newest = after.repair.verdict.published_version if after.repair else None
    at_least = commits - 1 if before.version is None else before.version + commits
    if newest is not None and newest >= at_least:
        yield ok("Versions", f"The newest published version is {newest:,}.")
    else:
        yield failed("Versions", f"The newest published version is {newest}, and {at_least} was to be there.")


def _intact(after: Situation) -> Check:
    assert after.repair is not None  # noqa: S101 - proofs has returned otherwise
    verdict = after.repair.verdict
    if verdict.state in LOUD or verdict.unpublished:
        return failed("Table", verdict.summary)
    if checking := being_checked(verdict):
        return failed("Table", checking)
    return ok("Table", "Readable, its versions contiguous, every accepted commit published.")


def registration_of(situation: Situation) -> Registration | None:
    """The item that the newest metadata names."""
    return current_registration(situation.facts) if situation.facts else None


def aftermath(operation: Operation, after: Situation) -> str:
    """After an act that was cut short: what the table is now, and how to finish or undo it."""
    facts = after.facts
    if facts is None:
        return f"The table could not be read again ({after.error or 'no log'}): observe it before anything else."
    if blocked := _blocked(after):
        return f"The table was read again: {blocked} Repair that first; its page says how."
    if after.repair is not None and (checking := being_checked(after.repair.verdict)):
        return f"The table was read again: {checking} Observe it before anything else."
    coordinated = facts.mechanism is Mechanism.COORDINATED_COMMITS
    if operation is Operation.CREATE:
        return "The table is there, and coordinated." if coordinated else "No table was made: ask for it again."
    if operation is Operation.LEFTOVERS:
        features = features_of(facts.protocol) if facts.protocol else frozenset()
        left = [one for one in after.remove_features if one in features]
        return f"The table was read again: {', '.join(left) or 'none of them'} is still there."
    if half_dropped(after):
        return (
            "The table was read again: it has left the coordinator, and its protocol still names the feature. "
            f"{_finish(after)}"
        )
    if coordinated:
        way = "Drop it to undo." if operation is Operation.ENABLE else "Nothing was dropped: drop it again to finish."
        return f"The table was read again: it is under the coordinator, and takes commits. {way}"
    if operation is Operation.ENABLE:
        return "The table was read again: it is not coordinated. Enable it again to finish; there is nothing to undo."
    return "The table was read again: it has left the coordinator. Enable it to undo."


def _finish(after: Situation) -> str:
    """What to do about a drop that was cut short, in its order."""
    waiting = after.repair.verdict.unpublished if after.repair else ()
    if waiting:
        return f"Backfill first, for {accepted_only(waiting)}. Then drop once more to finish, or enable to undo."
    return "Drop once more to finish, or enable to undo."


def _blocked(after: Situation) -> str:
    """What keeps everybody from the table now; "" where nothing does."""
    verdict = after.repair.verdict if after.repair else None
    return verdict.summary if verdict and verdict.state in LOUD else ""


def snapshot(situation: Situation) -> dict[str, object]:
    """A table before or after, for the audit log."""
    facts, protocol = situation.facts, situation.protocol
    verdict = situation.repair.verdict if situation.repair else None
    item = registration_of(situation)
    return {
        "mechanism": facts.mechanism.value if facts else None,
        "published_version": verdict.published_version if verdict else None,
        "accepted_version": verdict.accepted_version if verdict else None,
        "protocol": [protocol.reader_version, protocol.writer_version] if protocol else None,
        "features": sorted(features_of(protocol)) if protocol else None,
        "properties": {name: after for name in COORDINATOR_PROPERTIES if (after := situation.properties.get(name))},
        "registration": {"table_id": item.table_id, "accepting_commits": item.accepting_commits} if item else None,
    }
