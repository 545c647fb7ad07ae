"""Findings about the items as a whole: lock domains, expiry, old writers, temp files that no entry names."""

from collections.abc import Sequence

from coordinator.protocols.absence import commit_file
from coordinator.protocols.judgement import QUIET_SECONDS
from coordinator.protocols.litter import litter_finding, spin_finding
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, thousands, verb, version_list
from lake.delta.facts import LogObject


def expiry_findings(seen: Sequence[SeenEntry]) -> list[Finding]:
    """Entries that leave too early, that never leave, and that writers up to 2.1 made."""
    at_risk = [one for one in seen if one.entry.complete is False and one.entry.expire_time is not None]
    old = [one for one in seen if one.entry.commit_time is not None]
    endless = [
        one for one in seen if one.entry.complete and one.entry.expire_time is None and one.entry.commit_time is None
    ]
    found = []
    if at_risk:
        found.append(_expires_while_incomplete(at_risk))
    if old:
        found.append(_old_writer(old))
    if endless:
        found.append(_never_expires(endless))
    return found


def _expires_while_incomplete(seen: Sequence[SeenEntry]) -> Finding:
    newest = max(seen, key=lambda one: one.version)
    unpublished = newest.file.present is False
    return Finding(
        "incomplete-with-expiry",
        Severity.CRITICAL if unpublished else Severity.WARNING,
        State.UNSAFE if unpublished else State.ATTENTION,
        f"Entry {version_list(one.version for one in seen)} is incomplete and yet carries expireTime, so DynamoDB may "
        "delete it before its commit is published.",
        newest.version,
        "No writer sets expireTime on an incomplete entry; somebody edited it. Once it is gone, another commit can "
        "take the version.",
        newest.evidence,
        absent=commit_file(newest.version) if unpublished else (),
    )


def _old_writer(seen: Sequence[SeenEntry]) -> Finding:
    newest = max(seen, key=lambda one: one.version)
    return Finding(
        "old-writer",
        Severity.WARNING,
        State.ATTENTION,
        f"{counted(len(seen), 'entry carries', 'entries carry')} commitTime, the newest {thousands(newest.version)}: "
        "a writer of Delta 2.1 or older is at work.",
        newest.version,
        "Such writers can overwrite a published commit when an entry expires early (fixed in Delta 2.2.0). Their "
        "entries have no expireTime, so TTL on expireTime never removes them.",
        {**newest.evidence, "count": len(seen), "commitTime": newest.entry.commit_time},
    )


def _never_expires(seen: Sequence[SeenEntry]) -> Finding:
    count = len(seen)
    return Finding(
        "no-expiry",
        Severity.WARNING,
        State.ATTENTION,
        f"{counted(count, 'finished entry carries', 'finished entries carry')} no expiry, so TTL never removes "
        f"{verb(count, 'it', 'them')}.",
        max(one.version for one in seen),
        "Harmless; they only take space.",
        {"versions": sorted(one.version for one in seen)[-100:], "count": count},
    )


def temp_file_findings(view: LogView, seen: Sequence[SeenEntry]) -> list[Finding]:
    """C1, temp files that no entry names and that no commit can have left; and the mark of spinning writers.

    A temp file of a published version without any entry is not told from one whose entry has expired, so it is left
    out here.
    """
    files = view.facts.listing.temp_files or ()
    named = {one.entry.temp_path for one in seen}
    with_entry = {one.version for one in seen if one.temp}
    unclear = {one.version for one in seen if not one.temp}
    orphans = [
        file
        for file in files
        if file.name not in named and temp_file_version(file.name) not in unclear and _is_orphan(view, file, with_entry)
    ]
    found = [spin_finding(view, files, temp_file_version, "temp files")]
    found.append(litter_finding(view, orphans, "C1", "temp file", QUIET_SECONDS))
    return [finding for finding in found if finding]


def _is_orphan(view: LogView, file: LogObject, with_entry: set[int]) -> bool:
    version = temp_file_version(file.name)
    if version is None or version in with_entry:
        return True
    return version not in view.published and not view.is_cleaned(version)
