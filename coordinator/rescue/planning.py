"""Whether a copy may be put back, by what was read: a plan for a file, a command for an item, or why not. Pure."""

from collections.abc import Iterator

from changes.plan import NOTHING_TO_DO, ChangePlan, Refusal
from coordinator.protocols.names import is_version
from coordinator.protocols.provenance import given_up_as
from coordinator.protocols.wording import joined, thousands
from coordinator.repairs.object_calls import MOST_BYTES
from coordinator.repairs.restore_calls import RestoreObject
from coordinator.repairs.seen_before import why_contradicted
from coordinator.repairs.table_under_repair import TableUnderRepair
from coordinator.rescue.by_hand import by_hand
from coordinator.rescue.copies import CopyKind
from coordinator.rescue.facts import (
    KIND,
    RestoreFacts,
    SavedFile,
    doubt_about_table,
    refuse,
    title_of,
    why_another_table,
    with_doubt,
)

INERT = "No item names it, so no reader and no writer sees a difference. What it was removed for may be found again."

UNREADABLE = "unreadable"


def plan_restore(given: RestoreFacts) -> ChangePlan | Refusal:
    """The plan that puts one copy back, or the refusal. Raises nothing, whatever was read."""
    if given.why_unreadable:
        return refuse(given, given.why_unreadable, UNREADABLE)
    return by_hand(given) if given.copy.kind.is_item else _plan_file(given)


def unreadable(uri: str, reason: str) -> Refusal:
    """The refusal of what is no copy of the table at all."""
    return Refusal(KIND, uri, reason, UNREADABLE, "Put a copy back")


def _plan_file(given: RestoreFacts) -> ChangePlan | Refusal:
    file = given.file
    if file is None:
        return refuse(given, "The copy was not read.")
    if given.there == file.sha256:
        return refuse(
            given, f"{given.copy.name} is there already, and its bytes equal those of the copy.", NOTHING_TO_DO
        )
    namers = tuple(_namers(given))
    if reason := next((one for one in _why_no_file(given, file, namers) if one), ""):
        return refuse(given, reason)
    if not namers:
        doubt = doubt_about_table(given)
        return _plan(given, file, INERT, f"what lies in the log of this table: {doubt}" if doubt else "")
    version = thousands(given.copy.version or 0)
    publishes = f"Whoever reads or writes the table next may publish its bytes as version {version}."
    names = f"what readers see of version {version}: {joined(namers)} names this file, or may"
    return _plan(given, file, publishes, with_doubt(given, names))


def _plan(given: RestoreFacts, file: SavedFile, consequence: str, danger: str) -> ChangePlan:
    copy = given.copy
    return ChangePlan(
        KIND,
        given.table.given.facts.uri,
        title_of(copy),
        (RestoreObject(copy.place.bucket, copy.key, copy.goal, file.size, file.sha256),),
        (consequence, "The copy itself stays where it is."),
        version=copy.version,
        danger=danger,
        can_lose=bool(danger),
        rests_on=given.table.rests_on,
    )


def _why_no_file(given: RestoreFacts, file: SavedFile, namers: tuple[str, ...]) -> Iterator[str]:
    if given.there is not None:
        yield f"{given.copy.name} exists with other bytes than the copy has, and nothing is ever overwritten."
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
    yield from _why_not_as_commit(given.table, copy.name, copy.version)
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


def _why_not_as_commit(table: TableUnderRepair, name: str, version: int) -> Iterator[str]:
    """Why a temp or staged file cannot be the accepted commit of a version, as far as anything tells."""
    yield table.why_not_copy(name)
    check = table.check(name)
    if check is not None:
        seen = table.given.facts.provenance.get(version)
        yield why_contradicted(given_up_as(seen, name) if seen else None, check, version)
    yield table.why_not_between(name, version)
