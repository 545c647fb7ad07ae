"""Findings of single log store entries: the sentence, what follows if nobody acts, the evidence and the repairs."""

from collections.abc import Sequence
from enum import StrEnum

from coordinator.protocols.absence import WHOLE_LOG, commit_file, commit_files, temp_file
from coordinator.protocols.judgement import GRACE_SECONDS, run_evidence
from coordinator.protocols.log_store_entries import SeenEntry, look_evidence
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_moved_temp
from coordinator.protocols.verdict import Absence, Finding, Severity, State, attention, blocked, graded, unsafe
from coordinator.protocols.wording import counted, duration, thousands, verb, version_list


def newest_in_words(view: LogView) -> str:
    """What readers see: the newest published version, or that there is no table."""
    return thousands(view.base) if view.base >= 0 else "no table"


def effect_at_the_end(view: LogView, version: int) -> str:
    """What readers and writers make of a newest version whose file is gone."""
    if view.base >= version:
        return f'Spark stops with "Could not find any delta files for version {view.base}".'
    return f"Readers silently see {newest_in_words(view)}; writers retry without end."


def pending(view: LogView, seen: SeenEntry, bridged: bool) -> Finding:
    """C2: accepted, not published; worse where other versions exist above it or are missing below it."""
    name = thousands(seen.version)
    if view.newest is not None and seen.version < view.newest:
        return blocked(
            "C2",
            f"Commit {name} is accepted but not published, and later versions exist: readers stop at the gap.",
            seen.version,
            "Readers and writers repair the newest entry only, so the gap stays until the commit is published.",
            seen.evidence,
            ("publish-commit",),
            commit_file(seen.version),
        )
    if not bridged or seen.version > view.base + 1:
        return _above_a_gap(view, seen, bridged)
    age = view.age(seen.written_at)
    young = age is not None and age < GRACE_SECONDS
    return Finding(
        "C2",
        f"Commit {name} is accepted but not published. The next reader will publish it; you can do it now.",
        seen.version,
        f"Until it is published, readers without the log store (Trino, Athena, deltalake) see {newest_in_words(view)}. "
        "No data is lost while its temp file is there.",
        {**seen.evidence, "age": duration(age) if age is not None else None},
        ("publish-commit",),
        severity=Severity.INFO if young else Severity.WARNING,
        state=State.PENDING,
    )


def _above_a_gap(view: LogView, seen: SeenEntry, bridged: bool) -> Finding:
    return blocked(
        "rewind-leftover",
        f"Entry {thousands(seen.version)} is incomplete and stands above a gap: the published log ends at "
        f"{newest_in_words(view)}. The next reader will publish it there and make the table unreadable.",
        seen.version,
        "Once it is published above the gap, readers stop with DELTA_VERSIONS_NOT_CONTIGUOUS."
        + (" Publish the commits below it first, in order." if bridged else ""),
        seen.evidence,
        absent=commit_files([(view.base + 1, seen.version - 1)]),
    )


def incomplete(view: LogView, seen: SeenEntry) -> Finding:
    """C4: published, entry still incomplete. Harmless, so it weighs only once no writer can be at work on it."""
    age = view.age(seen.file.modified_at)
    young = age is not None and age < GRACE_SECONDS
    compared = "" if seen.has_temp else f" {_why_not_compared(seen)}, so the bytes cannot be compared."
    return graded(State.HEALTHY if young else State.ATTENTION)(
        "C4",
        f"Commit {thousands(seen.version)} is published, and its entry still says incomplete.{compared}",
        seen.version,
        "Every reader sees the commit. The next reader or writer with the log store marks the entry complete, "
        "without comparing the bytes.",
        {**seen.evidence, "bytes_equal": view.facts.equal_bytes.get(seen.temp.name if seen.temp else "")},
        ("complete-entry",) if seen.has_temp else (),
    )


def _why_not_compared(seen: SeenEntry) -> str:
    if seen.temp is None or seen.has_temp is None:
        return "Its temp file is not known"
    return "Its temp file was moved or deleted" if is_moved_temp(seen.temp.name) else "Its temp file is gone"


def bytes_differ(view: LogView, seen: SeenEntry, code: str) -> Finding:
    """Two writers won one version: the published file is not the one that the entry accepted."""
    sizes = (seen.file.size, seen.temp.size if seen.temp else None)
    return unsafe(
        "C4" if code == "C4" else "bytes-differ",
        f"Version {thousands(seen.version)} was written twice: …{seen.version}.json differs from the temp file that "
        "its entry names.",
        seen.version,
        "Two writers won this version, so the rows of the accepted one are not in the table. Completing the entry "
        "would hide that; keep both files until the loss is understood.",
        {
            **seen.evidence,
            "sizes": list(sizes),
            "bytes_equal": False,
            "first_difference": view.facts.first_differences.get(seen.temp.name if seen.temp else ""),
        },
    )


def accepted_file_differs(view: LogView, version: int) -> Finding:
    """The published file is not the one that an entry, which has expired, was seen to accept."""
    seen = view.facts.provenance.get(version)
    return unsafe(
        "bytes-differ",
        f"…{version}.json was replaced: it holds other bytes than the temp file that its expired entry named.",
        version,
        "That temp file is the last copy of the accepted commit, whose rows are not in the table. Keep both files "
        "until the loss is understood.",
        {
            "s3": [look_evidence(view.file(version))],
            "accepted": seen.file_name if seen else None,
            "bytes_equal": False,
        },
    )


class Loss(StrEnum):
    """What the loss of a published file does to readers."""

    AT_THE_END = "readers silently stay below it"
    IN_A_GAP = "readers stop at it"
    COVERED = "a checkpoint covers it"


def effect_of_loss(view: LogView, version: int) -> Loss:
    """What it does that the file of a complete entry is gone."""
    if view.newest is None or version >= view.newest:
        return Loss.AT_THE_END
    return Loss.COVERED if view.checkpoint is not None and view.checkpoint >= version else Loss.IN_A_GAP


def lost(view: LogView, run: Sequence[SeenEntry], code: str, reach: int) -> Finding:
    """C6 and C7 for consecutive versions: complete in DynamoDB, no published file; C6 still has the temp files.

    `reach` is the version up to which the log can be published again without a gap.
    """
    newest, versions = run[-1], [one.version for one in run]
    many, effect = len(run), effect_of_loss(view, run[-1].version)
    what = f"Commit {thousands(newest.version)} is complete in DynamoDB, but …{newest.version}.json is gone."
    if many > 1:
        what = f"Commits {version_list(versions)} are complete in DynamoDB, but their files are gone."
    rest = f"The temp {verb(many, 'file survives', 'files survive')}."
    if code == "C7":
        rest = verb(many, "The temp file that the entry names is", "The temp files that the entries name are")
        rest += " gone too."
    repairable = newest.version <= reach or effect is not Loss.AT_THE_END
    return (attention if effect is Loss.COVERED else blocked)(
        code,
        f"{what} {_effect_in_words(view, newest.version, effect, many)} {rest}",
        newest.version,
        "Nothing heals this by itself: readers trust the entry, and each retry of a writer leaves one more temp file. "
        "Deleting the entry would let another commit take this version.",
        {**newest.evidence, "published_version": view.newest, **run_evidence(versions)},
        ("republish-file",) if code == "C6" and repairable else (),
        commit_files([(versions[0], versions[-1])]),
        versions[0] if many > 1 else None,
    )


def _effect_in_words(view: LogView, version: int, effect: Loss, many: int) -> str:
    match effect:
        case Loss.COVERED:
            covers = f"Checkpoint {thousands(view.checkpoint or 0)} covers {verb(many, 'it', 'them')}"
            return f"{covers}, so only time travel fails."
        case Loss.IN_A_GAP:
            return "Later versions exist, so readers stop at the gap."
    return effect_at_the_end(view, version)


def unmeasured_loss(view: LogView, seen: SeenEntry, missing: str) -> Finding:
    """C6 or C7: the published file is gone for certain, the temp file is not known."""
    return blocked(
        "undecided",
        f"Commit {thousands(seen.version)} is complete in DynamoDB, but …{seen.version}.json is gone. Readers silently "
        f"see {newest_in_words(view)}. Whether it can be republished cannot be decided: {missing}.",
        seen.version,
        "Writers retry without end until the file is back.",
        {**seen.evidence, "missing": missing},
        absent=commit_file(seen.version),
    )


def recovery_fails(view: LogView, seen: SeenEntry) -> Finding:
    """C11: the newest entry cannot be recovered, so that each listing fails; older ones leave a gap behind."""
    name = thousands(seen.version)
    meaning = (
        "Bring the temp file back from versioning or a backup and publish it. Abandoning the entry makes the table "
        f"usable again and loses commit {name}, which its writer may have reported as done. Do not create a table "
        "at this path."
    )
    if not seen.newest:
        summary = f"Entry {name} is incomplete, its file and its temp file are gone, and newer entries exist."
    elif view.base < 0:
        summary = f"Readers get DELTA_TABLE_NOT_FOUND: entry {name} is incomplete and its temp file is gone."
    else:
        summary = (
            f"Readers get DELTA_TABLE_NOT_FOUND although the table is intact up to {thousands(view.base)}: "
            f"entry {name} is incomplete and its temp file is gone."
        )
    return blocked(
        "C11",
        summary,
        seen.version,
        meaning,
        seen.evidence,
        ("abandon-commit",) if seen.newest else (),
        temp_file(seen.temp.name if seen.temp else "", seen.version),
    )


def table_cannot_be_created(seen: SeenEntry) -> Finding:
    """C10: an incomplete entry 0 without its temp file, and nothing published."""
    return blocked(
        "C10",
        "No table can be created here: entry 0 is incomplete, its temp file is gone, and nothing is published.",
        seen.version,
        "Every reader tries to recover it and fails. The entry may be removed only while the whole _delta_log/ is "
        "empty.",
        seen.evidence,
        ("abandon-commit",),
        temp_file(seen.temp.name if seen.temp else "", seen.version),
    )


def stale(seen: Sequence[SeenEntry]) -> Finding:
    """C9: incomplete entries below the newest; drawn together."""
    newest = max(seen, key=lambda one: one.version)
    versions = [one.version for one in seen]
    many = len(versions)
    return attention(
        "C9",
        f"{verb(many, 'Entry', 'Entries')} {version_list(versions)} still {verb(many, 'says', 'say')} incomplete "
        "although newer ones exist.",
        newest.version,
        "Readers are not affected. No writer ever repairs such an entry, and without expireTime it never leaves; it "
        "comes from a writer that skipped the protocol or from an edit.",
        {**newest.evidence, "versions": sorted(versions)[-100:], "count": many},
        ("complete-entry",) if any(one.has_temp and one.file.present for one in seen) else (),
    )


def leftovers(view: LogView, seen: Sequence[SeenEntry]) -> Finding:
    """Entries of a table whose whole log is gone."""
    versions = [one.version for one in seen]
    return blocked(
        "leftover-entries",
        f"{counted(len(versions), 'entry remains', 'entries remain')} although _delta_log/ is empty: no table can be "
        "created here.",
        max(versions),
        'CREATE TABLE stops with "Old entries for table ... still exist", or the first commit after it retries without '
        "end.",
        {"versions": sorted(versions)[-100:], "count": len(versions), "path": view.facts.uri},
        absent=(Absence(WHOLE_LOG),),
    )
