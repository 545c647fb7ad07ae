"""Plans for what belongs to no commit: temp files (C1), staged files (K2) and registrations (K0)."""

from collections.abc import Iterator, Sequence

from coordinator.protocols.judgement import QUIET_SECONDS
from coordinator.protocols.names import is_version, temp_file_version
from coordinator.protocols.registrations import element_problems
from coordinator.protocols.staged_litter import losing_files
from coordinator.protocols.verdict import Finding
from coordinator.protocols.wording import counted, duration, joined, thousands
from coordinator.repairs.calls import DeleteLitter
from coordinator.repairs.orphans import orphans, removal, why_not_lost
from coordinator.repairs.plan import RepairName
from coordinator.repairs.registration_plans import current_registration
from coordinator.repairs.table_under_repair import Outcome, TableUnderRepair, first_reason
from lake.delta.facts import LockDomain, LogObject, Registration
from lake.delta.names import commit_name

MOST_DELETED = 300
"""Files that one plan deletes; the next plan takes the rest."""


def remove_temp_files(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """C1: temp files of versions that went to another writer, or that were never prepared."""
    files = table.view.facts.listing.temp_files or ()
    litter = [file for file in files if is_litter(table, file)]
    domains = table.lock_domains
    reason = (
        table.why_nothing()
        or table.why_not_alone()
        or _why_not_domains(domains)
        or ("" if litter else _none_quiet("temp file"))
    )
    title = "Remove temp files of no commit"
    if reason:
        yield table.refuse(finding, RepairName.REMOVE_ORPHANS, title, reason)
    else:
        [only] = domains
        calls = [
            _deletion(table, file, only.store, entry=(only.path, commit_name(temp_file_version(file.name) or 0)))
            for file in litter[:MOST_DELETED]
        ]
        yield table.plan(finding, RepairName.REMOVE_ORPHANS, title, calls, _consequences(litter))
    yield _never_published(table, finding)


def remove_staged_files(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
    """K2: staged files of backfilled versions that hold other bytes than the accepted ones."""
    registration = current_registration(table)
    litter = quiet_losers(table, registration) if registration else []
    reason = table.why_nothing() or _why_not_registration(table, registration)
    if not reason and not litter:
        reason = (
            "Their versions are not backfilled yet, so a slow writer could still commit one of them; or they are "
            f"younger than {duration(QUIET_SECONDS)}."
        )
    title = "Remove staged files of no commit"
    if reason or registration is None:
        yield table.refuse(finding, RepairName.REMOVE_ORPHANS, title, reason)
    else:
        store, table_id = registration.store, registration.table_id
        calls = [_deletion(table, file, store, registration=table_id) for file in litter[:MOST_DELETED]]
        yield table.plan(finding, RepairName.REMOVE_ORPHANS, title, calls, _consequences(litter))
    yield _never_published(table, finding)


def remove_registrations(table: TableUnderRepair, finding: Finding) -> Iterator[Outcome]:
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
        yield table.refuse(finding, RepairName.REMOVE_ORPHANS, title, reason)
        return
    calls = [removal(table, one) for one in gone[:MOST_DELETED]]
    names = joined([one.table_id for one in gone[:3]])
    yield table.plan(
        finding,
        RepairName.REMOVE_ORPHANS,
        title,
        calls,
        (f"Removes {counted(len(calls), 'registration')}, among them {names}.", "Deletes no file."),
    )


def is_litter(table: TableUnderRepair, file: LogObject) -> bool:
    """Whether a temp file is of a version that another file holds, or that nothing shows to have been prepared."""
    version = temp_file_version(file.name)
    if version is None or not _is_quiet(table, file):
        return False
    entries = table.entries_of(version)
    if entries:
        return all(one.temp is not None and one.temp.name != file.name and not one.entry.problems for one in entries)
    return version > table.newest_trace and not _is_malformed(table, version)


def quiet_losers(table: TableUnderRepair, registration: Registration) -> list[LogObject]:
    """Staged files of backfilled versions that are certainly no copy of the published one, once they are quiet."""
    if registration.table_version is None:
        return []
    files = table.view.facts.listing.staged or ()
    named = {commit.file_name for one in table.given.facts.registrations for commit in one.commits}
    losers = losing_files(table.view, files, registration.table_version, named)
    return [file for file in losers if _is_quiet(table, file)]


def is_lost_upgrade(table: TableUnderRepair, registration: Registration) -> bool:
    """Whether the version that an upgrade was to write went to another commit long ago; an upgrade is not retried."""
    version = registration.table_version
    published = table.view.file(version).object if version is not None and is_version(version) else None
    return published is not None and _is_quiet(table, published) and not why_not_lost(table, registration)


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


def _why_not_registration(table: TableUnderRepair, registration: Registration | None) -> str:
    if registration is None or table.raw(registration) is None:
        return "The registration of this table was not read, so nothing tells which files it names."
    problems = [*registration.problems, *element_problems(registration)]
    return f"The registration is malformed, so nothing rests on it: {problems[0].rstrip('.')}." if problems else ""


def _none_quiet(what: str) -> str:
    return (
        f"No {what} here is both of no commit for certain and older than {duration(QUIET_SECONDS)}, the longest that a "
        "commit may take."
    )


def _deletion(
    table: TableUnderRepair,
    file: LogObject,
    store: str,
    *,
    entry: tuple[str, str] | None = None,
    registration: str = "",
) -> DeleteLitter:
    return DeleteLitter(table.place.bucket, table.key(file.name), file.etag, file.size, store, entry, registration)


def _consequences(litter: Sequence[LogObject]) -> list[str]:
    taken = litter[:MOST_DELETED]
    sentences = [
        f"Deletes {counted(len(taken), 'file')}, {sum(file.size for file in taken):,} B; no commit names any of them."
    ]
    if len(litter) > len(taken):
        sentences.append(f"{thousands(len(litter) - len(taken))} more stay for the next time.")
    return [*sentences, "A file that an item names after all stops the repair."]


def _never_published(table: TableUnderRepair, finding: Finding) -> Outcome:
    return table.refuse(
        finding,
        RepairName.PUBLISH_COMMIT,
        "Publish one of them",
        "None of these files was accepted; publishing one would invent a commit that its writer knows to have failed.",
    )
