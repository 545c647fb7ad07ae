"""Whether a copy may be put back, by what was read for it: a plan, or why not. Pure."""

from changes.calls import Call
from changes.plan import ChangePlan, Refusal
from coordinator.rescue.copies import CopyKind
from coordinator.rescue.facts import RestoreFacts
from coordinator.rescue.planned_entries import plan_entry
from coordinator.rescue.planned_files import plan_file
from coordinator.rescue.planned_registrations import plan_registration
from coordinator.rescue.wording import KIND, RestoreCalls, title_of

UNREADABLE = "unreadable"

PLANNERS = {
    CopyKind.TEMP_FILE: plan_file,
    CopyKind.STAGED_FILE: plan_file,
    CopyKind.ENTRY: plan_entry,
    CopyKind.REGISTRATION: plan_registration,
}


def plan_restore(given: RestoreFacts) -> ChangePlan | Refusal:
    """The plan that puts one copy back, or the refusal. Raises nothing, whatever was read."""
    if given.why_unreadable:
        return refuse(given, given.why_unreadable, UNREADABLE)
    made = PLANNERS[given.copy.kind](given)
    if isinstance(made, RestoreCalls):
        return _plan(given, made.calls, made.consequences, made.danger)
    return refuse(given, made.reason, made.why)


def refuse(given: RestoreFacts, reason: str, why: str = "") -> Refusal:
    uri = given.table.given.facts.uri
    return Refusal(KIND, uri, reason, why, title_of(given.copy), version=given.copy.version)


def unreadable(uri: str, reason: str) -> Refusal:
    """The refusal of what is no copy of the table at all."""
    return Refusal(KIND, uri, reason, UNREADABLE, "Put a copy back")


def _plan(given: RestoreFacts, calls: tuple[Call, ...], consequences: tuple[str, ...], danger: str) -> ChangePlan:
    return ChangePlan(
        KIND,
        given.table.given.facts.uri,
        title_of(given.copy),
        calls,
        (*consequences, "The copy itself stays where it is."),
        version=given.copy.version,
        danger=danger,
        can_lose=bool(danger),
        rests_on=given.table.rests_on,
    )
