"""The published log by itself: versions without a gap, a start that can be read, parts that could not be read."""

from itertools import pairwise

from coordinator.protocols.absence import commit_files
from coordinator.protocols.buildable import stopping_versions
from coordinator.protocols.judgement import MOST_FINDINGS, Judgement
from coordinator.protocols.log_view import LogView
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, run_list, thousands, verb
from lake.delta.facts import Mechanism, ReadingProblem
from lake.delta.names import commit_name

WHOLE_FACTS = ("listing", "entries", "registrations", "protocol", "DynamoDB")
"""First words of places that mean a fact was not read at all; any other place is one object, item or attribute."""


def judge_published_log(view: LogView) -> Judgement:
    """Findings that need no commit store."""
    return Judgement(findings=(*_holes(view), *_start(view), *_end(view), *_empty(view), *_problems(view)))


def holes(view: LogView) -> list[tuple[int, int]]:
    """First and last version of each gap between two published versions, ascending."""
    versions = sorted(view.published)
    return [(a + 1, b - 1) for a, b in pairwise(versions) if b > a + 1]


def _holes(view: LogView) -> list[Finding]:
    """One finding for each gap, the newest ones singly: the rest is drawn into the last of them."""
    gaps = holes(view)
    needed = [gap for gap in gaps if view.checkpoint is None or gap[1] > view.checkpoint]
    covered = gaps[: len(gaps) - len(needed)]
    return [
        _hole(view, some, needed=is_needed)
        for is_needed in (True, False)
        for some in _drawn_together(needed if is_needed else covered)
    ]


def _drawn_together(gaps: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Each gap by itself, newest first; those beyond the most that are listed singly in one piece."""
    newest = gaps[::-1]
    singly, rest = newest[: MOST_FINDINGS - 1], newest[MOST_FINDINGS - 1 :]
    return [[gap] for gap in singly] + ([rest] if rest else [])


def _hole(view: LogView, gaps: list[tuple[int, int]], *, needed: bool) -> Finding:
    count = sum(last - first + 1 for first, last in gaps)
    named = run_list(gaps)
    what = f"{verb(count, 'Version', 'Versions')} {named} {verb(count, 'has', 'have')} no file, and later ones exist"
    if needed:
        summary = f"{what}. Readers stop with DELTA_VERSIONS_NOT_CONTIGUOUS."
        meaning = "The table stays unreadable until each missing version has its own file again."
    else:
        summary = f"{what}. Checkpoint {thousands(view.checkpoint or 0)} covers it, so only time travel fails."
        meaning = "The newest state reads as usual; the versions in the gap cannot be read any more."
    return Finding(
        code="version-hole",
        severity=Severity.CRITICAL if needed else Severity.WARNING,
        state=State.BLOCKED if needed else State.ATTENTION,
        summary=summary,
        version=gaps[0][1],
        meaning=meaning,
        evidence={"missing": [{"first": a, "last": b} for a, b in gaps[:20]], "checkpoint": view.checkpoint},
        absent=commit_files(gaps),
    )


def _start(view: LogView) -> list[Finding]:
    oldest = view.oldest
    if oldest is None or oldest == 0 or view.facts.listing.from_version > 0:
        return []
    if view.checkpoint is not None and view.checkpoint >= oldest - 1:
        return []
    return [
        Finding(
            code="log-start-missing",
            severity=Severity.CRITICAL,
            state=State.BLOCKED,
            summary=f"The log starts at {thousands(oldest)} and no whole checkpoint replaces what came before: "
            f"{_what_readers_do(view, oldest)}.",
            version=oldest,
            meaning="The table stays unreadable until a checkpoint or the missing files are brought back.",
            evidence={"oldest_file": oldest, "checkpoint": view.checkpoint},
            absent=commit_files([(0, oldest - 1)]),
        )
    ]


def _what_readers_do(view: LogView, oldest: int) -> str:
    """deltalake 1.6 takes protocol and schema of a `.crc`, and then has the commits that are left and nothing else."""
    newest = view.newest if view.newest is not None else oldest
    if not any(oldest <= version <= newest for version in view.facts.listing.checksums):
        return "no reader can build the table"
    return (
        f"Spark stops, and deltalake opens the table with nothing but the files of versions {thousands(oldest)} to "
        f"{thousands(newest)}, without an error"
    )


def _end(view: LogView) -> list[Finding]:
    """A checkpoint above the newest commit: each writer puts the commit file first, and clean-up keeps it.

    Spark stops without a commit at or above the checkpoint from which it lists (`SnapshotManagement`, Delta up to
    4.4); deltalake 1.6 reads such a log and cannot append. Where an item accepted the version, its finding says more.
    """
    checkpoint, newest = view.checkpoint, view.newest
    if checkpoint is None or (newest is not None and newest >= checkpoint) or _newest_item(view) >= checkpoint:
        return []
    if view.facts.mechanism is Mechanism.CATALOG_MANAGED:
        return []
    first = checkpoint if newest is None else newest + 1
    ends = "no commit file is there" if newest is None else f"the commit files end at {thousands(newest)}"
    return [
        Finding(
            code="checkpoint-without-commit",
            severity=Severity.CRITICAL,
            state=State.BLOCKED,
            summary=f"The log has checkpoint {thousands(checkpoint)}, and {ends}. Spark stops with "
            f'"Could not find any delta files for version {checkpoint}"; deltalake reads that version and '
            "cannot append.",
            version=checkpoint,
            meaning="Every writer makes the commit file before the checkpoint, and log clean-up keeps it: somebody or "
            "a lifecycle rule deleted it. Bring it back from versioning or a backup.",
            evidence={"checkpoint": checkpoint, "newest_file": newest},
            absent=commit_files([(first, checkpoint)]),
            first_version=first if first < checkpoint else None,
        )
    ]


def _newest_item(view: LogView) -> int:
    """The newest version of which an item speaks, -1 without any."""
    entries = (entry.version for domain in view.facts.entries.values() for entry in domain)
    registered = (one.table_version for one in view.facts.registrations if one.has_accepted_commits is not False)
    return max((version for version in (*entries, *registered) if version is not None), default=-1)


def _empty(view: LogView) -> list[Finding]:
    if view.readable is not None or view.facts.listing.from_version > 0 or view.unread("listing"):
        return []
    if any(view.facts.entries.values()):
        return []  # the entries say more: a first commit that waits, or leftovers of a dropped table
    return [
        Finding(
            code="empty-log",
            severity=Severity.WARNING,
            state=State.ATTENTION,
            summary="No commit file lies under _delta_log/: readers find no Delta table here.",
            meaning="Either the table was dropped, or its log was deleted.",
        )
    ]


def _problems(view: LogView) -> list[Finding]:
    findings = []
    whole = [p for p in view.facts.problems if p.place.partition(" ")[0] in WHOLE_FACTS]
    said = {commit_name(version) for version in stopping_versions(view)}
    parts = [p for p in view.facts.problems if p not in whole and p.place.partition(" ")[0] not in said]
    if whole:
        findings.append(_unreadable(whole, State.NOT_CHECKED, "not-read"))
    if parts:
        findings.append(_unreadable(parts, State.ATTENTION, "unreadable"))
    return findings


def _unreadable(problems: list[ReadingProblem], state: State, code: str) -> Finding:
    first = problems[0]
    more = f" {counted(len(problems) - 1, 'more place')} could not be read." if len(problems) > 1 else ""
    return Finding(
        code=code,
        severity=Severity.WARNING,
        state=state,
        summary=f"{first.place} could not be read: {first.reason.rstrip('.')}.{more}",
        meaning="What follows from these parts is not known; the rest of the verdict stands.",
        evidence={"problems": [{"place": p.place, "reason": p.reason} for p in problems[:100]]},
    )
