"""Putting an item back: an entry takes its version again, a registration gives versions away again.

An entry goes back only where nothing has taken its version since, a registration only where it knows all that are
taken.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from changes.calls import Call
from changes.plan import NOTHING_TO_DO
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.provenance import given_up_as
from coordinator.protocols.registrations import SeenCommit, seen_commits
from coordinator.protocols.several_coordinators import accepting_registrations
from coordinator.protocols.wording import thousands
from coordinator.repairs.item_calls import RequireNoEntry
from coordinator.repairs.object_calls import RequireAbsent
from coordinator.repairs.registration_plans import FOLLOWING, SCHEMA_VERSION, commit_time
from coordinator.repairs.restore_calls import RestoreItem
from coordinator.repairs.seen_before import why_contradicted
from coordinator.repairs.table_under_repair import TableUnderRepair, moment_of
from coordinator.rescue.copies import SavedItem
from coordinator.rescue.facts import (
    RestoreFacts,
    is_of_this_table,
    where_it_goes,
    why_another_table,
    why_not_here,
    with_doubt,
)
from lake.delta.facts import LockDomain, LogStoreEntry, Mechanism, Provenance, Registration
from lake.delta.names import MAX_VERSION, commit_name

_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class RestoreCalls:
    """The calls of a plan with its words; `danger` is what readers or writers may meet by it, "" for nothing."""

    calls: tuple[Call, ...]
    consequences: tuple[str, ...]
    danger: str = ""


@dataclass(frozen=True, slots=True)
class NotRestorable:
    """Why there is no plan; `why` is a short word for it."""

    reason: str
    why: str = ""


def refused_first(reasons: Iterable[NotRestorable | str]) -> NotRestorable | None:
    """The first reason that holds, None where none does; a bare sentence, "" for none, is a reason without a word."""
    found = next((one for one in reasons if one), None)
    return NotRestorable(found) if isinstance(found, str) else found


def plan_entry(given: RestoreFacts) -> RestoreCalls | NotRestorable:
    kept = given.kept
    if kept is None or kept.entry is None or kept.entry.version is None:
        return NotRestorable("The copy was not read.")
    entry, version = kept.entry, kept.entry.version
    refused = refused_first(_why_no_entry(given, entry, version))
    if refused is not None:
        return refused
    calls = (*_not_elsewhere(given, entry), *_put(given, kept, version))
    return RestoreCalls(calls, (*_after_entry(version), where_it_goes(given)), _danger_of_entry(given, entry, version))


def _not_elsewhere(given: RestoreFacts, entry: LogStoreEntry) -> tuple[Call, ...]:
    """No other lock of the table may have given the version away since it was read."""
    own = LockDomain(given.store, entry.table_path)
    others = (domain for domain in given.table.lock_domains if domain != own)
    return tuple(RequireNoEntry(one.store, one.path, entry.file_name) for one in others)


def _after_entry(version: int) -> tuple[str, ...]:
    return (
        f"Version {thousands(version)} is taken again: its writer may have written the same rows once more since.",
        "Stop the writers of this table first.",
    )


def _danger_of_entry(given: RestoreFacts, entry: LogStoreEntry, version: int) -> str:
    temp = given.table.view.temp(entry.temp_path or "")
    if temp.present:
        publishes = f"whoever reads or writes next publishes {temp.name} as version {thousands(version)}"
        return with_doubt(given, f"what readers see: {publishes}")
    fails = f"which fail from then on until {temp.name} is brought back"
    return with_doubt(given, f"every read and write of the table, {fails}")


def _why_no_entry(given: RestoreFacts, entry: LogStoreEntry, version: int) -> Iterator[NotRestorable | str]:
    table = given.table
    if not given.store:
        yield "The copy does not say from which DynamoDB table it is, and no entry of this table was seen in any."
    elif given.store not in given.log_stores:
        yield f"{given.store} is not a log store of this connection."
    yield from _why_no_item(given, "entry")
    yield table.why_not_alone()
    if entry.complete is not False:
        yield "The entry is complete, so its commit file is what counts; readers would not look at it."
    if table.registrations or table.given.facts.mechanism is Mechanism.COORDINATED_COMMITS:
        yield "A commit coordinator gives the versions of this table away now."
    yield _why_later_commits(given, version)
    yield _why_not_next(given, version)
    yield why_another_table(given) or _why_not_older(given, version)
    yield from _why_not_temp(given, entry, version)


def _why_later_commits(given: RestoreFacts, version: int) -> str:
    """Why the table has a commit of this version, or a later one, without the entry."""
    table = given.table
    seen = table.given.facts.provenance
    known = any(one.is_known and (one.version > version or one.size is not None) for one in _from(seen, version))
    if table.newest_trace >= version or known:
        return (
            f"The log went on without this entry: version {thousands(version)}, or a later one, is there or was seen."
        )
    return ""


def _from(seen: Mapping[int, Provenance], version: int) -> Iterator[Provenance]:
    return (one for one in seen.values() if one.version >= version)


def _why_not_next(given: RestoreFacts, version: int) -> str:
    if given.table.view.base != version - 1:
        below = thousands(max(0, version - 1))
        return f"The published log does not end at {below}: bring the files in between back first."
    return ""


def _why_not_older(given: RestoreFacts, version: int) -> str:
    """Whether the commit below is younger than the copy: entries outlive a table that was dropped by hand.

    Where no metaData.id tells that it is the same table, the time has to.
    """
    if not version:
        return ""
    written = _written_at(given, version - 1)
    if written is not None and written > given.copy.saved_at:
        return f"{version - 1}.json was written after the copy was saved: the copy is of a table that was here before."
    if written is None and not is_of_this_table(given):
        return (
            f"{version - 1}.json does not say when it was written, and no metaData.id tells whether the copy is of "
            "this table or of one that was here before."
        )
    return ""


def _written_at(given: RestoreFacts, version: int) -> datetime | None:
    """When a commit was written by its own word; None where it does not say, or says a time that cannot be."""
    check = given.table.check(commit_name(version))
    written = moment_of(check.timestamp if check else None)
    return written if written > _EPOCH else None


def _why_not_temp(given: RestoreFacts, entry: LogStoreEntry, version: int) -> Iterator[str]:
    """Why what the entry names cannot be published, where it is there."""
    table, name = given.table, entry.temp_path or ""
    if table.view.temp(name).present is False:
        return
    yield from why_not_as_commit(table, name, version)


def why_not_as_commit(table: TableUnderRepair, name: str, version: int) -> Iterator[str]:
    """Why a temp or staged file cannot be the accepted commit of a version, as far as anything tells."""
    yield table.why_not_copy(name)
    check = table.check(name)
    if check is not None:
        seen = table.given.facts.provenance.get(version)
        yield why_contradicted(given_up_as(seen, name) if seen else None, check, version)
    yield table.why_not_between(name, version)


def plan_registration(given: RestoreFacts) -> RestoreCalls | NotRestorable:
    kept = given.kept
    if kept is None or kept.registration is None or kept.registration.table_version is None:
        return NotRestorable("The copy was not read.")
    registration, version = kept.registration, kept.registration.table_version
    refused = refused_first(_why_no_registration(given, registration, version))
    if refused is not None:
        return refused
    following = thousands(version + 1)
    return RestoreCalls(
        _put(given, kept, version + 1),
        (f"Reads work again, and writers continue with version {following}.", FOLLOWING, where_it_goes(given)),
        with_doubt(
            given, f"every commit from {following} on that the lost registration had accepted after it was saved"
        ),
    )


def _why_no_registration(
    given: RestoreFacts, registration: Registration, version: int
) -> Iterator[NotRestorable | str]:
    table = given.table
    if not given.store or given.store != table.given.coordinator:
        yield "The table's properties do not name the DynamoDB table that the registration is from."
    yield from _why_no_item(given, "registration")
    yield why_another_table(given)
    if registration_id(table.given.facts.protocol) != registration.table_id:
        yield f"The newest metadata does not name registration {registration.table_id}."
    if others := accepting_registrations(table.given.facts):
        yield f"Registration {others[0].table_id} in {others[0].store} accepts commits of this table."
    if registration.schema_version != SCHEMA_VERSION:
        yield f"schemaVersion is {registration.schema_version}, and only {SCHEMA_VERSION} is known."
    if version == MAX_VERSION:
        yield f"Version {thousands(version)} is the last that Delta can have; nothing follows it."
    yield _why_later_versions(given, version)
    yield from _why_not_all_there(given, registration, version)


def _why_later_versions(given: RestoreFacts, version: int) -> str:
    table = given.table
    if table.newest_trace > version or any(
        one.is_known and one.version > version for one in table.given.facts.provenance.values()
    ):
        return (
            f"The log went on without this registration, which knows no version after {thousands(version)}: “Register "
            "again” makes one that does."
        )
    return ""


def _why_not_all_there(given: RestoreFacts, registration: Registration, version: int) -> Iterator[str]:
    """Each version that it gave away is published, or listed with its staged file."""
    newest = given.table.newest_contiguous()
    if newest is None or newest != given.table.view.newest:
        yield "The published log has no readable beginning, or a gap; bring the missing files back first."
        return
    listed = {one.version: one for one in seen_commits(given.table.view, registration)}
    for missing in range(newest + 1, version + 1):
        if why := _why_missing(listed, missing):
            yield why
            return
    if newest == version and (time := commit_time(given.table, version)) != registration.table_timestamp:
        yield (
            f"{version}.json is not the commit that the registration accepted: its in-commit timestamp is {time}, and "
            f"the registration holds {registration.table_timestamp}."
        )


def _why_missing(listed: Mapping[int, SeenCommit], version: int) -> str:
    one = listed.get(version)
    if one is None:
        return f"The registration accepted version {thousands(version)}, which is neither published nor in its list."
    if one.staged is None or not one.staged.present or one.size_differs:
        return f"The staged file of version {thousands(version)} is not there as the registration lists it."
    return ""


def _put(given: RestoreFacts, kept: SavedItem, free: int) -> tuple[Call, ...]:
    """The item, where no commit is published as the version that it would give away next."""
    table = given.table
    absent = RequireAbsent(table.place.bucket, (table.published_key(free),))
    return absent, RestoreItem(given.store, kept.key_names, kept.item)


def _why_no_item(given: RestoreFacts, what: str) -> Iterator[NotRestorable | str]:
    """What keeps either kind of item from being put back."""
    yield from why_not_here(given)
    if given.kept is not None and given.found == given.kept.item:
        yield NotRestorable(f"The {what} is there already, and equal.", NOTHING_TO_DO)
    elif given.found is not None:
        yield f"The {what} exists and says something else than its copy, and nothing is ever overwritten."
    yield given.table.why_nothing()
