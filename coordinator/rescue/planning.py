"""Whether a copy may be put back, by what was read for it: a plan, or why not. Pure."""

from collections.abc import Iterator

from changes.calls import Call
from changes.plan import NOTHING_TO_DO, ChangePlan, Refusal
from coordinator.protocols.names import is_version
from coordinator.protocols.wording import joined, thousands
from coordinator.repairs.object_calls import MOST_BYTES
from coordinator.repairs.restore_calls import RestoreObject
from coordinator.rescue.copies import CopyKind, SavedCopy
from coordinator.rescue.facts import RestoreFacts, SavedFile, doubt_about_table, why_another_table, with_doubt
from coordinator.rescue.planned_items import (
    NotRestorable,
    RestoreCalls,
    plan_entry,
    plan_registration,
    refused_first,
    why_not_as_commit,
)

INERT = "No item names it, so no reader and no writer sees a difference. What it was removed for may be found again."

KIND = "restore-copy"
"""The name of the change, in plans, digests and documents."""

UNREADABLE = "unreadable"


def plan_restore(given: RestoreFacts) -> ChangePlan | Refusal:
    """The plan that puts one copy back, or the refusal. Raises nothing, whatever was read."""
    if given.why_unreadable:
        return refuse(given, given.why_unreadable, UNREADABLE)
    made = PLANNERS[given.copy.kind](given)
    if isinstance(made, RestoreCalls):
        return _plan(given, made.calls, made.consequences, made.danger)
    return refuse(given, made.reason, made.why)


def title_of(copy: SavedCopy) -> str:
    of = "" if copy.version is None else f" of {thousands(copy.version)}"
    return f"Put the {copy.kind.words}{of} back"


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


def plan_file(given: RestoreFacts) -> RestoreCalls | NotRestorable:
    file = given.file
    if file is None:
        return NotRestorable("The copy was not read.")
    namers = tuple(_namers(given))
    refused = refused_first(_why_no_file(given, file, namers))
    if refused is not None:
        return refused
    copy = given.copy
    call = RestoreObject(copy.place.bucket, copy.key, copy.goal, file.size, file.sha256)
    if not namers:
        doubt = doubt_about_table(given)
        return RestoreCalls((call,), (INERT,), f"what lies in the log of this table: {doubt}" if doubt else "")
    version = thousands(copy.version or 0)
    return RestoreCalls(
        (call,),
        (f"Whoever reads or writes the table next may publish its bytes as version {version}.",),
        with_doubt(given, f"what readers see of version {version}: {joined(namers)} names this file, or may"),
    )


def _why_no_file(given: RestoreFacts, file: SavedFile, namers: tuple[str, ...]) -> Iterator[NotRestorable | str]:
    name = given.copy.name
    if given.there == file.sha256:
        yield NotRestorable(f"{name} is there already, and its bytes equal those of the copy.", NOTHING_TO_DO)
    elif given.there is not None:
        yield f"{name} exists with other bytes than the copy has, and nothing is ever overwritten."
    if file.size > MOST_BYTES:
        yield f"The copy has {file.size:,} B; one PUT takes no more than {MOST_BYTES:,}."
    yield given.table.why_nothing()
    yield why_another_table(given)
    if given.copy.kind is CopyKind.TEMP_FILE:
        yield given.table.why_not_alone()
    if namers:
        yield from _why_no_named_file(given, file)


def _why_no_named_file(given: RestoreFacts, file: SavedFile) -> Iterator[str]:
    """What is accepted is published by whoever comes next: then it has to be that commit, as far as anything tells."""
    copy = given.copy
    if not is_version(copy.version) or copy.version is None:
        return
    yield from why_not_as_commit(given.table, copy.name, copy.version)
    for one in _listed(given):
        if one not in (None, file.size):
            yield f"The coordinator accepted {one:,} B under this name, and the copy has {file.size:,} B."


def _namers(given: RestoreFacts) -> Iterator[str]:
    """The items that name the file, or may, as a sentence names them."""
    return _naming_entries(given) if given.copy.kind is CopyKind.TEMP_FILE else _naming_registrations(given)


def _naming_entries(given: RestoreFacts) -> Iterator[str]:
    table, copy = given.table, given.copy
    for held in table.given.facts.entries.values():
        for entry in held:
            if entry.temp_path == copy.name or (entry.version == copy.version and entry.problems):
                yield f"the entry {entry.file_name} of {entry.table_path}"
    if not table.lock_domains:
        yield "an entry of a log store that is not known here"


def _naming_registrations(given: RestoreFacts) -> Iterator[str]:
    table = given.table
    file_name = given.copy.name.rpartition("/")[2]
    for one in table.given.facts.registrations:
        if one.problems or any(commit.file_name == file_name for commit in one.commits):
            yield f"registration {one.table_id}"


def _listed(given: RestoreFacts) -> Iterator[int | None]:
    """The sizes under which registrations list the file."""
    file_name = given.copy.name.rpartition("/")[2]
    for one in given.table.given.facts.registrations:
        yield from (commit.size for commit in one.commits if commit.file_name == file_name)


PLANNERS = {
    CopyKind.TEMP_FILE: plan_file,
    CopyKind.STAGED_FILE: plan_file,
    CopyKind.ENTRY: plan_entry,
    CopyKind.REGISTRATION: plan_registration,
}
