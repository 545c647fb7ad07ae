"""Findings about the items as a whole: lock domains, expiry, old writers, temp files that no entry names."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from coordinator.protocols import temp_orphans
from coordinator.protocols.absence import commit_file
from coordinator.protocols.judgement import MOST_FINDINGS, QUIET_SECONDS, undecided
from coordinator.protocols.log_store_entries import SeenEntry
from coordinator.protocols.log_store_findings import accepted_file_differs
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.orphans import orphans_finding, spin_finding, uncompared_finding
from coordinator.protocols.survivors import Fate
from coordinator.protocols.verdict import Finding, Severity, State, attention
from coordinator.protocols.wording import counted, named_versions, thousands, verb, version_list
from lake.delta.facts import LogObject


def expiry_findings(seen: Sequence[SeenEntry]) -> Iterator[Finding]:
    """Entries that leave too early, that never leave, and that writers up to 2.1 made."""
    at_risk = [one for one in seen if one.entry.complete is False and one.entry.expire_time is not None]
    old = [one for one in seen if one.entry.commit_time is not None]
    endless = [
        one for one in seen if one.entry.complete and one.entry.expire_time is None and one.entry.commit_time is None
    ]
    if at_risk:
        yield _expires_while_incomplete(at_risk)
    if old:
        yield _old_writer(old)
    if endless:
        yield _never_expires(endless)


def _expires_while_incomplete(seen: Sequence[SeenEntry]) -> Finding:
    newest = max(seen, key=lambda one: one.version)
    unpublished = newest.file.present is False
    return Finding(
        "incomplete-with-expiry",
        f"Entry {version_list(one.version for one in seen)} is incomplete and yet carries expireTime, so DynamoDB may "
        "delete it before its commit is published.",
        newest.version,
        "No writer sets expireTime on an incomplete entry; somebody edited it. Once it is gone, another commit can "
        "take the version.",
        newest.evidence,
        absent=commit_file(newest.version) if unpublished else (),
        severity=Severity.CRITICAL if unpublished else Severity.WARNING,
        state=State.UNSAFE if unpublished else State.ATTENTION,
    )


def _old_writer(seen: Sequence[SeenEntry]) -> Finding:
    newest = max(seen, key=lambda one: one.version)
    return attention(
        "old-writer",
        f"{counted(len(seen), 'entry carries', 'entries carry')} commitTime, the newest {thousands(newest.version)}: "
        "a writer of Delta 2.1 or older is at work.",
        newest.version,
        "Such writers can overwrite a published commit when an entry expires early (fixed in Delta 2.2.0). Their "
        "entries have no expireTime, so TTL on expireTime never removes them.",
        {**newest.evidence, "count": len(seen), "commitTime": newest.entry.commit_time},
    )


def _never_expires(seen: Sequence[SeenEntry]) -> Finding:
    count = len(seen)
    return attention(
        "no-expiry",
        f"{counted(count, 'finished entry carries', 'finished entries carry')} no expiry, so TTL never removes "
        f"{verb(count, 'it', 'them')}.",
        max(one.version for one in seen),
        "Harmless; they only take space.",
        {"versions": sorted(one.version for one in seen)[-100:], "count": count},
    )


def temp_file_findings(view: LogView, seen: Sequence[SeenEntry]) -> list[Finding]:
    """C1, temp files that no entry names; versions that their temp files contradict; the mark of spinning writers."""
    files = view.facts.listing.temp_files or ()
    unnamed = temp_orphans.unnamed_files(view, temp_orphans.temp_fates(view, seen), seen)
    found = [
        spin_finding(view, files, temp_file_version, "temp files"),
        _unnamed(view, seen, unnamed),
        uncompared_finding(temp_orphans.uncompared_files(view, seen), "temp file"),
    ]
    return [
        *(finding for finding in found if finding),
        *_contradicted(view, temp_orphans.contradicted_versions(view, seen)),
    ]


def _unnamed(view: LogView, seen: Sequence[SeenEntry], unnamed: Sequence[tuple[LogObject, Fate]]) -> Finding | None:
    count = len(unnamed)
    summary = f"{counted(count, 'temp file')} {verb(count, 'is', 'are')} named by no entry."
    found = orphans_finding(view, [file for file, _ in unnamed], "C1", summary, QUIET_SECONDS)
    old = len(temp_orphans.doubtful_orphans(view, seen))
    if found is None or not old or not view.knows_log_store:
        return found  # of a log store that is not known `unknown_store` says what its temp files leave open
    return replace(
        found,
        severity=Severity.WARNING,
        state=State.ATTENTION,
        meaning=f"{thousands(old)} {verb(old, 'is', 'are')} older than an entry lives, so that an entry that named "
        f"{verb(old, 'it', 'them')} may have expired: {verb(old, 'it', 'each')} may be the last copy of an accepted "
        "commit.",
    )


def _contradicted(view: LogView, versions: Sequence[tuple[int, bool]]) -> list[Finding]:
    found = [accepted_file_differs(view, version) for version, is_known in versions if is_known][-MOST_FINDINGS:]
    if doubtful := [version for version, is_known in versions if not is_known]:
        many = len(doubtful)
        named = named_versions(doubtful)
        about = f"Whether {verb(many, 'the published file', 'each published file')} of {named} is the accepted one"
        missing = "no temp file of that version holds its bytes, and its entry has expired"
        found.append(undecided(about, missing, *doubtful))
    return found
