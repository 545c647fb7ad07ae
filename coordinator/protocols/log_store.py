"""The states C0 to C11 of S3DynamoDBLogStore (delta-storage-s3-dynamodb 2.2 to 4.4, `BaseExternalLogStore`).

An entry is the decision, the published file its announcement. Readers repair only the newest entry of their lock
domain, writers only the one before theirs; whatever is wrong elsewhere stays until somebody acts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from coordinator.protocols import log_store_findings as findings
from coordinator.protocols.absence import commit_file
from coordinator.protocols.judgement import MOST_FINDINGS, QUIET_SECONDS, UNKNOWN, Judgement, undecided
from coordinator.protocols.lock_domains import contested_versions, domains_in_use, lock_domain_findings
from coordinator.protocols.log_store_entries import SeenEntry, malformed_items, seen_entries
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.orphans import (
    contradicted_versions,
    doubtful_orphans,
    orphans_finding,
    spin_finding,
    temp_fates,
    uncompared_finding,
    uncompared_temp_files,
    unnamed_files,
)
from coordinator.protocols.verdict import EntryVerdict, Finding, Severity, State, attention, graded
from coordinator.protocols.wording import counted, named_versions, thousands, verb, version_list

LOST_CODES = ("C6", "C7")
"""Complete in DynamoDB, and without a published file."""

_DELETIONS = ("remove-orphans", "abandon-commit")
_PUBLICATIONS = ("publish-commit", "republish-file")

UNPUBLISHED_CODES = ("C2", "C6", "C7", "C10", "C11", UNKNOWN)


def judge_log_store(view: LogView) -> Judgement:
    """Every entry in its state, with what is wrong; whatever the items hold, nothing is raised."""
    if view.unread("entries"):
        return Judgement()
    seen = seen_entries(view)
    reach = publishable_up_to(view, seen)
    codes = [code_of(view, one) for one in seen]
    left_over = bool(seen) and view.is_empty is True and codes != ["C10"]
    found = [findings.leftovers(view, seen)] if left_over else _entry_findings(view, seen, codes, reach)
    found += malformed_items(view)
    found += lock_domain_findings(view, seen)
    found += _expiry_findings(seen)
    found += _temp_file_findings(view, seen)
    return Judgement(
        entries=tuple(entry_verdict(one, code) for one, code in zip(seen, codes, strict=True)),
        findings=tuple(_with_safe_repairs(view, seen, found)),
        accepted=max((one.version for one in seen), default=None),
        unpublished={} if left_over else _unpublished(seen, codes),
    )


def code_of(view: LogView, seen: SeenEntry) -> str:
    """The state of one entry, or `UNKNOWN` where a fact is missing."""
    if seen.entry.complete is None or seen.file.present is None:
        return UNKNOWN
    if seen.file.present or view.is_cleaned(seen.version):
        if seen.entry.complete:
            return "C5"
        return "C4" if seen.file.present and seen.newest else "C9"
    if seen.has_temp is None:
        return UNKNOWN
    if seen.entry.complete:
        return "C6" if seen.has_temp else "C7"
    if seen.has_temp:
        return "C2"
    return "C10" if seen.version == 0 and view.base == -1 else "C11"


def publishable_up_to(view: LogView, seen: Sequence[SeenEntry]) -> int:
    """The highest version up to which each unpublished version has an entry with its temp file, without a gap."""
    with_temp = {one.version for one in seen if one.has_temp}
    reach = view.base
    while reach + 1 in with_temp:
        reach += 1
    return reach


def entry_verdict(seen: SeenEntry, code: str) -> EntryVerdict:
    """The entry as pages list it."""
    return EntryVerdict(
        version=seen.version,
        code=code,
        published=seen.file.present,
        file=seen.entry.temp_path or "",
        store=seen.domain.store,
        lock_domain=seen.domain.path,
        complete=seen.entry.complete,
        expire_time=seen.entry.expire_time,
        file_present=seen.has_temp,
        file_size=seen.temp.size if seen.temp else None,
        written_at=seen.written_at,
    )


def _unpublished(seen: Sequence[SeenEntry], codes: Sequence[str]) -> dict[int, datetime | None]:
    return {
        one.version: one.written_at
        for one, code in zip(seen, codes, strict=True)
        if code in UNPUBLISHED_CODES and one.file.present is False
    }


def _entry_findings(view: LogView, seen: Sequence[SeenEntry], codes: Sequence[str], reach: int) -> list[Finding]:
    """Findings of single entries, newest first and bounded; stale entries are drawn together."""
    found: list[Finding] = []
    old: list[SeenEntry] = []
    gone: list[tuple[SeenEntry, str]] = []
    for one, code in sorted(zip(seen, codes, strict=True), key=lambda pair: -pair[0].version):
        if code in ("C4", "C5", "C9") and _differs(view, one):
            found.append(findings.bytes_differ(view, one, code))
        elif code == "C9":
            old.append(one)
        elif code in LOST_CODES:
            gone.append((one, code))
        elif len(found) < MOST_FINDINGS and (finding := _finding(view, one, code, reach)):
            found.append(finding)
    found += [findings.lost(view, run, code, reach) for code, run in _runs_of_lost(view, gone)][:MOST_FINDINGS]
    return [*found, findings.stale(old)] if old else found


def _differs(view: LogView, seen: SeenEntry) -> bool:
    """Whether the published file holds other bytes than the temp file that the entry names."""
    if seen.temp is None:
        return False
    copied = view.is_copy(seen.temp.object) if seen.temp.object else None
    return copied is False or view.equal(seen.version, seen.file, seen.temp) is False


def _with_safe_repairs(view: LogView, seen: Sequence[SeenEntry], found: Sequence[Finding]) -> Iterator[Finding]:
    """Several locks: nothing is deleted, and a version that two of them gave away is not published.

    Where one of them is out of reach, nothing is done at all.
    """
    several = len(domains_in_use(view)) > 1
    contested = contested_versions(seen)
    for finding in found:
        if view.facts.elsewhere:
            yield replace(finding, repairs=())
            continue
        refused = _DELETIONS if several else ()
        refused = (*refused, *_PUBLICATIONS) if finding.version in contested else refused
        yield replace(finding, repairs=tuple(one for one in finding.repairs if one not in refused))


def _runs_of_lost(view: LogView, gone: Sequence[tuple[SeenEntry, str]]) -> list[tuple[str, list[SeenEntry]]]:
    """Entries without their files, newest run first: consecutive versions of one state and one effect are one run."""
    runs: list[tuple[tuple[object, ...], list[SeenEntry]]] = []
    for one, code in sorted(gone, key=lambda pair: (pair[0].domain.store, pair[0].domain.path, -pair[0].version)):
        kind = (code, one.domain, findings.effect_of_loss(view, one.version))
        if runs and runs[-1][0] == kind and runs[-1][1][0].version == one.version + 1:
            runs[-1][1].insert(0, one)
        else:
            runs.append((kind, [one]))
    return [(str(kind[0]), run) for kind, run in runs]


def _finding(view: LogView, seen: SeenEntry, code: str, reach: int) -> Finding | None:
    bridged = seen.version <= reach
    match code:
        case "C2":
            return findings.pending(view, seen, bridged)
        case "C4":
            return findings.incomplete(view, seen)
        case "C10":
            return findings.table_cannot_be_created(seen)
        case "C11":
            return findings.recovery_fails(view, seen)
        case "unknown":
            return _undecided(view, seen)
    return None


def _undecided(view: LogView, seen: SeenEntry) -> Finding | None:
    """What is missing; nothing for older complete entries, which neither readers nor writers look at."""
    about = f"The state of commit {thousands(seen.version)}"
    if seen.entry.complete is None:
        return undecided(about, 'its entry\'s attribute complete is neither "true" nor "false"', seen.version)
    if seen.file.present is None:
        if seen.entry.complete and not seen.newest:
            return None
        return undecided(about, f"{seen.file.name} was not looked up", seen.version)
    if seen.temp is None:
        missing = "the entry names no temp file of this version"
    else:
        missing = f"the temp file {seen.temp.name} was not looked up"
    if seen.entry.complete:
        return findings.unmeasured_loss(view, seen, missing)
    return undecided(about, missing, seen.version)


# The items as a whole


def _expiry_findings(seen: Sequence[SeenEntry]) -> Iterator[Finding]:
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
    return graded(State.UNSAFE if unpublished else State.ATTENTION)(
        "incomplete-with-expiry",
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


def _temp_file_findings(view: LogView, seen: Sequence[SeenEntry]) -> list[Finding]:
    """C1, temp files that no entry names; versions that their temp files contradict; the mark of spinning writers."""
    files = view.facts.listing.temp_files or ()
    found = [
        spin_finding(view, files, temp_file_version, "temp files"),
        _unnamed(view, seen),
        uncompared_finding(uncompared_temp_files(view, seen), "temp file"),
    ]
    return [
        *(finding for finding in found if finding),
        *_contradicted(view, contradicted_versions(view, seen)),
    ]


def _unnamed(view: LogView, seen: Sequence[SeenEntry]) -> Finding | None:
    unnamed = [file for file, _ in unnamed_files(view, temp_fates(view, seen), seen)]
    count = len(unnamed)
    summary = f"{counted(count, 'temp file')} {verb(count, 'is', 'are')} named by no entry."
    found = orphans_finding(view, unnamed, "C1", summary, QUIET_SECONDS)
    old = len(doubtful_orphans(view, seen))
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
    found = [findings.accepted_file_differs(view, version) for version, is_known in versions if is_known][
        -MOST_FINDINGS:
    ]
    if doubtful := [version for version, is_known in versions if not is_known]:
        many = len(doubtful)
        named = named_versions(doubtful)
        about = f"Whether {verb(many, 'the published file', 'each published file')} of {named} is the accepted one"
        missing = "no temp file of that version holds its bytes, and its entry has expired"
        found.append(undecided(about, missing, *doubtful))
    return found
