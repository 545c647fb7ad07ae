"""What a fresh reading has to say after an act before it counts as done, and what to do where it was cut short."""

from collections.abc import Iterator

from coordinator.coordination.checks import Check, CheckState, Operation, Preflight
from coordinator.coordination.features import BROUGHT, COORDINATED
from coordinator.coordination.situation import Situation
from coordinator.protocols.absence import being_checked
from coordinator.protocols.coordinator_conf import read_conf
from coordinator.protocols.registrations import current_registration
from coordinator.protocols.verdict import LOUD
from coordinator.protocols.wording import accepted_only
from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF, TABLE_CONF
from lake.delta.facts import Registration

COORDINATOR_PROPERTIES = (COORDINATOR, COORDINATOR_CONF, TABLE_CONF)


def proofs(before: Preflight, after: Situation) -> tuple[Check, ...]:
    """Each thing that has to be true now; one that is not is FAILED."""
    if after.facts is None or after.repair is None:
        return (_proof("Read back", after.error or "The table could not be read again."),)
    match before.operation:
        case Operation.DROP:
            made = (*_dropped(after), _moved(before, after))
        case Operation.LEFTOVERS:
            made = tuple(_removed(after))
        case _:
            made = (*_coordinated(before, after), _moved(before, after))
    return (*made, _intact(after))


def unproven(made: tuple[Check, ...]) -> str:
    """The sentences of what does not hold, "" where all does."""
    return " ".join(check.sentence for check in made if check.state is CheckState.FAILED)


def _proof(name: str, wrong: str, right: str = "") -> Check:
    """FAILED with what is wrong, where something is."""
    return Check(name, CheckState.FAILED if wrong else CheckState.OK, wrong or right)


def _coordinated(before: Preflight, after: Situation) -> Iterator[Check]:
    absent = [feature for feature in BROUGHT if feature not in after.features]
    yield _proof("Protocol", f"The protocol lacks {absent[0]}." if absent else "", "It names the three features.")
    conf = read_conf(after.properties)
    named = f"It names {conf.store} at {conf.endpoint}"
    is_other = (conf.store, conf.endpoint) != (before.store, before.endpoint)
    wrong = conf.problem or (f"{named}, and not {before.store}." if is_other else "")
    yield _proof("Metadata", wrong, f"{named}.")
    item = registration_of(after)
    if item is None:
        yield _proof("Registration", "The coordinator holds no item that the newest metadata names.")
    else:
        wrong = "" if item.accepting_commits is True else f"Item {item.table_id} accepts no commits."
        yield _proof("Registration", wrong, f"Item {item.table_id} accepts commits, at version {item.table_version}.")


def _dropped(after: Situation) -> Iterator[Check]:
    left = [name for name in COORDINATOR_PROPERTIES if name in after.properties]
    yield _proof("Properties", f"{left[0]} is still set." if left else "", "All three are gone.")
    names_it = COORDINATED in after.features
    wrong = f"The protocol still names {COORDINATED}: the second commit is missing." if names_it else ""
    yield _proof("Protocol", wrong, f"{COORDINATED} is gone.")
    items = after.facts.registrations if after.facts else ()
    still = [one.table_id for one in items if one.accepting_commits and one.has_accepted_commits]
    gone = "No item of this table that had commits accepts more; it is kept for open sessions."
    yield _proof("Item", f"Item {still[0]} still accepts commits." if still else "", gone)


def _removed(after: Situation) -> Iterator[Check]:
    for feature in after.change.remove_features:
        wrong = f"The protocol still names {feature}." if feature in after.features else ""
        yield _proof(feature, wrong, f"{feature} is gone.")


def _moved(before: Preflight, after: Situation) -> Check:
    """At least one version more than before is published."""
    newest = after.repair.verdict.published_version if after.repair else None
    at_least = 0 if before.version is None else before.version + 1
    if newest is None or newest < at_least:
        return _proof("Versions", f"The newest published version is {newest}, and {at_least} was to be there.")
    return _proof("Versions", "", f"The newest published version is {newest:,}.")


def _intact(after: Situation) -> Check:
    assert after.repair is not None  # noqa: S101 - proofs has returned otherwise
    verdict = after.repair.verdict
    if verdict.state in LOUD or verdict.unpublished:
        return Check("Table", CheckState.FAILED, verdict.summary)
    return _proof(
        "Table", being_checked(verdict), "Readable, its versions contiguous, every accepted commit published."
    )


def registration_of(situation: Situation) -> Registration | None:
    """The item that the newest metadata names."""
    return current_registration(situation.facts) if situation.facts else None


def aftermath(after: Situation) -> str:
    """After an act that was cut short: what the table is now, and how to finish or undo it."""
    if after.repair is None:
        return f"The table could not be read again ({after.error or 'no log'}): observe it before anything else."
    verdict = after.repair.verdict
    if verdict.state in LOUD:
        return f"The table was read again: {verdict.summary} Repair that first; its page says how."
    if checking := being_checked(verdict):
        return f"The table was read again: {checking} Observe it before anything else."
    operation, coordinated = after.operation, after.is_coordinated
    if operation is Operation.CREATE:
        return "The table is there, and coordinated." if coordinated else "No table was made: ask for it again."
    if operation is Operation.LEFTOVERS:
        left = [one for one in after.change.remove_features if one in after.features]
        return f"The table was read again: {', '.join(left) or 'none of them'} is still there."
    if after.is_half_dropped:
        return (
            "The table was read again: it has left the coordinator, and its protocol still names the feature. "
            f"{_finish(verdict.unpublished)}"
        )
    if coordinated:
        way = "Drop it to undo." if operation is Operation.ENABLE else "Nothing was dropped: drop it again to finish."
        return f"The table was read again: it is under the coordinator, and takes commits. {way}"
    if operation is Operation.ENABLE:
        return "The table was read again: it is not coordinated. Enable it again to finish; there is nothing to undo."
    return "The table was read again: it has left the coordinator. Enable it to undo."


def _finish(waiting: tuple[int, ...]) -> str:
    """What to do about a drop that was cut short, in its order."""
    if waiting:
        return f"Backfill first, for {accepted_only(waiting)}. Then drop once more to finish, or enable to undo."
    return "Drop once more to finish, or enable to undo."


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
        "features": sorted(situation.features) if protocol else None,
        "properties": {name: after for name in COORDINATOR_PROPERTIES if (after := situation.properties.get(name))},
        "registration": {"table_id": item.table_id, "accepting_commits": item.accepting_commits} if item else None,
    }
