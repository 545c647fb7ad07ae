"""C1, K2 and K0: remove temp files, staged files and registrations that no commit needs.

Source of what proves that nothing rests on the registration of an upgrade that lost its race: `registerTable` of Delta
3.3 to 4.4 puts the item with `tableVersion` set to the version that the upgrade commit will have, and that commit is
not tried again under another. So once another commit holds that version, no metadata can come to name the registration.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from changes.calls import Call
from coordinator.protocols import registrations
from coordinator.protocols.judgement import QUIET_SECONDS
from coordinator.protocols.names import is_version, staged_file_version, temp_file_version, written_for
from coordinator.protocols.orphans import (
    Times,
    losing_files,
    staged_fates,
    temp_fates,
    uncompared_staged_files,
    unnamed_files,
)
from coordinator.protocols.registrations import element_problems
from coordinator.protocols.survivors import Fate, Proof, fate_of_registration
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, duration, joined, thousands, verb, version_list
from coordinator.repairs.declaration import Draft, NoPlan, Planned, Repair
from coordinator.repairs.item_calls import DeleteRegistration
from coordinator.repairs.object_calls import RequireEqual, SaveAside
from coordinator.repairs.orphan_calls import DeleteOrphan
from coordinator.repairs.registration_plans import current_registration
from coordinator.repairs.rescue import rescued_object
from coordinator.repairs.table_under_repair import TableUnderRepair, checksum_of, first_reason
from lake.delta.facts import LockDomain, LogObject, Registration
from lake.delta.names import commit_name

NAME = "remove-orphans"

MOST_DELETED = 300
"""Files that one plan deletes; the next plan takes the rest."""
_NONE_QUIET = (
    f"No temp file here is both of no commit for certain and older than {duration(QUIET_SECONDS)}, the longest that a "
    "commit may take."
)


def remove_temp_files(table: TableUnderRepair, finding: Finding) -> Planned:
    """C1: temp files that were never accepted; where none is proven, those that may be the last copy of a commit."""
    orphans = temp_orphans(table, table.written_at)
    domains = table.lock_domains
    reason = (
        table.why_nothing()
        or table.why_not_alone()
        or _why_not_domains(domains)
        or _why_locked_elsewhere(table.given.facts.locks_elsewhere)
        or ("" if orphans else _NONE_QUIET)
    )
    title = "Remove temp files that no entry names"
    if reason:
        return NoPlan(title, reason)
    return _removal(table, title, orphans, lambda file: _unnamed_deletion(table, file, domains[0]))


def remove_staged_files(table: TableUnderRepair, finding: Finding) -> Planned:
    """K2: staged files of backfilled versions that hold other bytes than the accepted ones."""
    registration = current_registration(table)
    orphans = staged_orphans(table)
    reason = table.why_nothing() or _why_not_registration(table, registration)
    if not reason and not orphans:
        reason = (
            "Their versions are not backfilled yet, so a slow writer could still commit one of them; or they are "
            f"younger than {duration(QUIET_SECONDS)}."
        )
    title = "Remove staged files that no commit needs"
    if reason or registration is None:
        return NoPlan(title, reason)
    delete = partial(_deletion, table, store=registration.store, registration=registration.table_id)
    return _removal(table, title, orphans, delete, len(uncompared_staged_files(table.view)))


def keep_last_copies(table: TableUnderRepair, finding: Finding) -> Planned | None:
    """A published file that differs from what was accepted: its temp or staged files may be all that is left of it."""
    if "dynamodb" in finding.evidence:
        return None
    version = finding.version if finding.version is not None else -1
    return NoPlan(
        f"Remove the other files of version {thousands(version)}",
        f"One of them may be the last copy of the accepted commit. Compare them with …{version}.json, and write the "
        "missing rows again before any of them goes.",
    )


def _removal(
    table: TableUnderRepair,
    title: str,
    orphans: Sequence[tuple[LogObject, Fate]],
    deletion: Callable[[LogObject], DeleteOrphan],
    uncompared: int = 0,
) -> Draft:
    """Delete what is proven; the rest by a plan of its own, once nothing proven is left, after a copy was kept."""
    proven = [file for file, fate in orphans if fate.may_go]
    files = proven or [file for file, _ in orphans]
    taken = files[:MOST_DELETED]
    told = [
        f"Deletes {counted(len(taken), 'file')}, {sum(file.size for file in taken):,} B, after looking once more that "
        f"no item names {verb(len(taken), 'it', 'them')}.",
    ]
    if len(files) > len(taken):
        told.append(f"{thousands(len(files) - len(taken))} more stay for the next time.")
    if uncompared:
        told.append(f"{counted(uncompared, 'file')} stay, not compared with what is published.")
    if proven:
        if unproven := len(orphans) - len(proven):
            told.append(f"{counted(unproven, 'file')} that may be the last copy of an accepted commit stay.")
        calls = _proven_again(table, [(file, deletion(file)) for file in taken])
        return Draft(title, calls, told)
    calls = _kept_first(table, [(file, deletion(file)) for file in taken])
    told += [f"{why[:1].upper()}{why[1:]}." for why in sorted({fate.why for _, fate in orphans})]
    told.append("Each is kept under _levee_rescue/ first.")
    return Draft(title, calls, told, _what_may_go(orphans))


def _proven_again(table: TableUnderRepair, deletions: Sequence[tuple[LogObject, DeleteOrphan]]) -> list[Call]:
    """The deletions, each version's after the published file was compared with the staged file that it came from."""
    calls: list[Call] = []
    for file, call in deletions:
        if (equal := _still_published(table, file)) and equal not in calls:
            calls.append(equal)
        calls.append(call)
    return calls


def _still_published(table: TableUnderRepair, file: LogObject) -> RequireEqual | None:
    version = staged_file_version(file.name)
    if version is None:
        return None
    copy = next((one for one in table.view.staged_of(version) if table.view.is_copy(one)), None)
    return RequireEqual(table.place.bucket, table.key(copy.name), table.published_key(version)) if copy else None


def _kept_first(table: TableUnderRepair, deletions: Sequence[tuple[LogObject, DeleteOrphan]]) -> list[Call]:
    folder = table.rescue_folder(NAME, None)
    calls: list[Call] = []
    for file, call in deletions:
        copy = rescued_object(folder, file.name)
        calls.append(SaveAside(call.bucket, copy, source=call.key, copied_from=table.copied_from))
        calls.append(replace(call, survivor=copy))
    return calls


def _what_may_go(orphans: Sequence[tuple[LogObject, Fate]]) -> str:
    versions = [version for file, _ in orphans if (version := written_for(file.name)) is not None]
    return f"an accepted commit of version {version_list(versions)}: one of these files may be its last copy"


def remove_registrations(table: TableUnderRepair, finding: Finding) -> Planned:
    """K0: registrations of upgrades that have lost their race for certain."""
    found = orphans(table)
    gone = [one for one in found if is_lost_upgrade(table, one)]
    reason = table.why_nothing()
    if not reason and not gone:
        reason = first_reason(why_not_lost(table, one) for one in found) or (
            "An upgrade may still be running: it has lost its race only once its version is published and older than "
            f"{duration(QUIET_SECONDS)}."
        )
    title = "Remove registrations of no table"
    if reason:
        return NoPlan(title, reason)
    calls = [removal(table, one) for one in gone[:MOST_DELETED]]
    names = joined([one.table_id for one in gone[:3]])
    return Draft(
        title,
        calls,
        (f"Removes {counted(len(calls), 'registration')}, among them {names}.", "Deletes no file."),
    )


def temp_orphans(table: TableUnderRepair, times: Times | None = None) -> list[tuple[LogObject, Fate]]:
    """Quiet temp files that no entry names, of versions that another file holds or that left no trace."""
    unnamed = unnamed_files(table.view, temp_fates(table.view, table.entries, times), table.entries)
    return [(file, fate) for file, fate in unnamed if _is_quiet(table, file) and _is_told(table, file)]


def _is_told(table: TableUnderRepair, file: LogObject) -> bool:
    """Whether entries tell of its version, or nothing at all does: a lost file may have left other traces."""
    version = temp_file_version(file.name)
    if version is None or _is_malformed(table, version):
        return False
    entries = table.entries_of(version)
    if entries:
        return all(one.temp is not None and one.temp.name != file.name for one in entries)
    return version > table.newest_trace


def staged_orphans(table: TableUnderRepair) -> list[tuple[LogObject, Fate]]:
    """Quiet staged files of backfilled versions that hold other bytes than the published ones."""
    fates = staged_fates(table.view, lambda file: _witnesses_tell(table, file))
    return [(file, fate) for file, fate in losing_files(table.view, fates) if _is_quiet(table, file)]


def _witnesses_tell(table: TableUnderRepair, file: LogObject) -> bool:
    """Whether checksum or registration show the published file to be the accepted one, and this one not."""
    version = staged_file_version(file.name)
    if version is None:
        return False
    published, own = table.said(commit_name(version)), table.said(file.name)
    if published is None or own is None:
        return False
    return table.witnesses(version, current_registration(table)).tell(published, own)


def _unnamed_deletion(table: TableUnderRepair, file: LogObject, domain: LockDomain) -> DeleteOrphan:
    version = temp_file_version(file.name) or 0
    named = next((one.entry.temp_path for one in table.entries_of(version)), None)
    call = _deletion(table, file, domain.store, entry=(domain.path, commit_name(version)))
    if table.view.is_copy(file):
        return replace(call, survivor=table.published_key(version))
    return replace(call, named=named or "")


def orphans(table: TableUnderRepair) -> list[Registration]:
    """Registrations without an accepted commit that the newest metadata does not name."""
    current = registrations.current_registration(table.given.facts)
    return [one for one in table.registrations if one.has_accepted_commits is False and one != current]


def upgrade_file(registration: Registration) -> str:
    """The commit file that an upgrade was to write, relative to `_delta_log/`; "" where its version cannot be one."""
    version = registration.table_version
    return commit_name(version) if version is not None and is_version(version) else ""


def why_not_lost(table: TableUnderRepair, registration: Registration) -> str:
    """Why a registration may still be, or come to be, the one that metadata names; "" where it cannot."""
    return first_reason(_reasons(table, registration))


def removal(table: TableUnderRepair, registration: Registration) -> DeleteRegistration:
    """Delete it, if it is still as it was read."""
    version = registration.table_version if registration.table_version is not None else -1
    return DeleteRegistration(registration.store, registration.table_id, registration.path, version)


def _reasons(table: TableUnderRepair, registration: Registration) -> Iterator[str]:
    if registration.problems or registration.commits:
        yield f"Registration {registration.table_id} is not as a new one is: it lists commits, or is malformed."
    if table.raw(registration) is None:
        yield f"Registration {registration.table_id} changed while it was read."
    name = upgrade_file(registration)
    if not name or registration.table_version is None:
        yield "tableVersion is not a version that Delta can have."
        return
    version = thousands(registration.table_version)
    if table.view.is_cleaned(registration.table_version):
        yield f"Version {version} was cleaned out of the log, so that whether it names the registration is not known."
    if not table.view.file(registration.table_version).present:
        yield f"Version {version} is not published, so an upgrade to it may still be running."
    check = table.check(name)
    if check is None or check.problems:
        yield f"Version {version} was not read as a whole commit, so whether it names the registration is not known."
    elif check.registration == registration.table_id:
        yield f"Version {version} names the registration, so applications may hold that state of the table."


def is_lost_upgrade(table: TableUnderRepair, registration: Registration) -> bool:
    """Whether the version that an upgrade was to write went to another commit long ago; an upgrade is not retried."""
    version = registration.table_version
    published = table.view.file(version).object if version is not None and is_version(version) else None
    lost = published is not None and _is_quiet(table, published)
    fate = fate_of_registration(registration, lost_its_race=lost)
    return fate.may_go and not why_not_lost(table, registration)


def _is_malformed(table: TableUnderRepair, version: int) -> bool:
    """Whether some item of the version could not be told apart, so that it may name any file."""
    domains = table.given.facts.entries.values()
    return any(one.version == version and one.problems for domain in domains for one in domain)


def _is_quiet(table: TableUnderRepair, file: LogObject) -> bool:
    return (table.view.age(file.modified_at) or 0) > QUIET_SECONDS


def _why_not_domains(domains: Sequence[LockDomain]) -> str:
    if len(domains) == 1:
        return ""
    if not domains:
        return "No entry of this table is known, so nothing tells in which lock domain a file may be named."
    named = joined([f"{one.path} in {one.store}" for one in domains])
    return f"Entries exist, or existed, under {named}; a file may be an accepted commit of either."


def _why_locked_elsewhere(domains: Sequence[LockDomain]) -> str:
    if not domains:
        return ""
    named = joined(sorted({one.store for one in domains}))
    return (
        f"Another connection saw entries of this table in {named}, where this one does not look; a file may be an "
        "accepted commit of that store."
    )


def _why_not_registration(table: TableUnderRepair, registration: Registration | None) -> str:
    if registration is None or table.raw(registration) is None:
        return "The registration of this table was not read, so nothing tells which files it names."
    problems = [*registration.problems, *element_problems(registration)]
    return f"The registration is malformed, so nothing rests on it: {problems[0].rstrip('.')}." if problems else ""


def _deletion(
    table: TableUnderRepair,
    file: LogObject,
    store: str,
    *,
    entry: tuple[str, str] | None = None,
    registration: str = "",
) -> DeleteOrphan:
    return DeleteOrphan(table.place.bucket, table.key(file.name), file.etag, file.size, store, entry, registration)


MOST_READ = 50
"""Registrations that no metadata names whose upgrades are read for one plan; the next plan takes the rest."""


def _wanted(table: TableUnderRepair, finding: Finding) -> Iterator[str]:
    match finding.code:
        case "C1":
            found = [file for file, fate in temp_orphans(table) if fate.proof is Proof.NEVER_ACCEPTED]
            yield from (file.name for file in found[:MOST_DELETED])
        case "K0":
            names = (upgrade_file(one) for one in orphans(table)[:MOST_READ])
            yield from (name for name in names if name and table.view.file(int(name[:20])).present)
        case "K2":
            yield from _files_that_tell(table)


def _files_that_tell(table: TableUnderRepair) -> Iterator[str]:
    """What tells of a version which of its files was accepted, and each file that may go."""
    for file, _ in staged_orphans(table)[:MOST_DELETED]:
        version = staged_file_version(file.name)
        if version is not None:
            yield commit_name(version)
            yield from checksum_of(table, version)
            yield file.name


REPAIR = Repair(
    NAME,
    "Remove what no commit needs",
    "Deletes what no entry and no registration names, after looking at each once more. What may be the last copy of a "
    "commit needs an admin and the table's name, and is kept aside first.",
    {
        "C1": remove_temp_files,
        "K2": remove_staged_files,
        "K0": remove_registrations,
        "bytes-differ": keep_last_copies,
    },
    wants=_wanted,
)
