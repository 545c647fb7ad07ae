"""The published log by itself: versions without a gap, a start that can be read, and files that are what they seem.

What engines do was tried with Delta 4.4.0 on Spark 4.2 and deltalake 1.6.6 (`tests/conformance/test_broken_logs.py`):
both take the newest checkpoint by names and sizes alone and stop where its bytes are none; both leave out one of 0
bytes and one without all its parts; deltalake stops where no checkpoint lies at or above the version that
`_last_checkpoint` names; an empty commit counts as one without actions; a line that is no JSON stops both.
"""

from collections.abc import Iterator
from itertools import pairwise

from coordinator.protocols.absence import commit_files
from coordinator.protocols.judgement import MOST_FINDINGS
from coordinator.protocols.log_view import LogView
from coordinator.protocols.verdict import Finding, attention, blocked, not_checked, unsafe
from coordinator.protocols.wording import counted, joined, named_versions, run_list, short, thousands, verb
from lake.delta.facts import Mechanism
from lake.delta.names import LAST_CHECKPOINT, commit_name
from lake.delta.replay import usable_checkpoint

WHOLE_FACTS = ("listing", "entries", "registrations", "protocol", "DynamoDB")
"""First words of places that mean a fact was not read at all; any other place is one object, item or attribute."""

LONGEST_COMMIT_WITHOUT_ACTION = 1
"""Bytes of a commit file that cannot hold an action: nothing, or the end of a line."""
LONG_REPLAY = 1_000
"""Commits without a checkpoint that no writer leaves by its own settings: the interval is 10 to 100 unless set."""
MOST_LISTED = 100
SPARK = "Apache-Spark/"


def judge_published_log(view: LogView) -> list[Finding]:
    """Findings that need no commit store."""
    return [
        *_holes(view),
        *_start(view),
        *_end(view),
        *_empty(view),
        *_problems(view),
        *_broken_checkpoint(view),
        *_hint(view),
        *_empty_commits(view),
        *_unreadable_commits(view),
        *_long_replay(view),
        *_of_other_transactions(view),
    ]


def holes(view: LogView) -> list[tuple[int, int]]:
    """First and last version of each gap between two published versions, ascending."""
    versions = sorted(view.published)
    return [(a + 1, b - 1) for a, b in pairwise(versions) if b > a + 1]


def _holes(view: LogView) -> Iterator[Finding]:
    """One finding for each gap, the newest ones singly: the rest is drawn into the last of them."""
    newest = holes(view)[::-1]
    needed = [gap for gap in newest if view.checkpoint is None or gap[1] > view.checkpoint]
    for gaps in (needed, newest[len(needed) :]):
        singly, rest = gaps[: MOST_FINDINGS - 1], gaps[MOST_FINDINGS - 1 :]
        for some in [*([gap] for gap in singly), *([rest] if rest else [])]:
            yield _hole(view, some, needed=gaps is needed)


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
    return (blocked if needed else attention)(
        "version-hole",
        summary,
        gaps[0][1],
        meaning,
        {"missing": [{"first": a, "last": b} for a, b in gaps[:20]], "checkpoint": view.checkpoint},
        absent=commit_files(gaps),
    )


def _start(view: LogView) -> Iterator[Finding]:
    oldest = view.oldest
    if oldest is None or oldest == 0 or view.facts.listing.from_version > 0:
        return
    if view.checkpoint is None or view.checkpoint < oldest - 1:
        yield blocked(
            "log-start-missing",
            f"The log starts at {thousands(oldest)} and no whole checkpoint replaces what came before: "
            f"{_what_readers_do(view, oldest)}.",
            oldest,
            "The table stays unreadable until a checkpoint or the missing files are brought back.",
            {"oldest_file": oldest, "checkpoint": view.checkpoint},
            absent=commit_files([(0, oldest - 1)]),
        )


def _what_readers_do(view: LogView, oldest: int) -> str:
    """deltalake 1.6 takes protocol and schema of a `.crc`, and then has the commits that are left and nothing else."""
    newest = view.newest if view.newest is not None else oldest
    if not any(oldest <= version <= newest for version in view.facts.listing.checksums):
        return "no reader can build the table"
    return (
        f"Spark stops, and deltalake opens the table with nothing but the files of versions {thousands(oldest)} to "
        f"{thousands(newest)}, without an error"
    )


def _end(view: LogView) -> Iterator[Finding]:
    """A checkpoint above the newest commit: each writer puts the commit file first, and clean-up keeps it.

    Spark stops without a commit at or above the checkpoint from which it lists (`SnapshotManagement`, Delta up to
    4.4); deltalake 1.6 reads such a log and cannot append. Where an item accepted the version, its finding says more.
    """
    checkpoint, newest = view.checkpoint, view.newest
    if checkpoint is None or (newest is not None and newest >= checkpoint) or _newest_item(view) >= checkpoint:
        return
    if view.facts.mechanism is Mechanism.CATALOG_MANAGED:
        return
    first = checkpoint if newest is None else newest + 1
    ends = "no commit file is there" if newest is None else f"the commit files end at {thousands(newest)}"
    yield blocked(
        "checkpoint-without-commit",
        f"The log has checkpoint {thousands(checkpoint)}, and {ends}. Spark stops with "
        f'"Could not find any delta files for version {checkpoint}"; deltalake reads that version and '
        "cannot append.",
        checkpoint,
        "Every writer makes the commit file before the checkpoint, and log clean-up keeps it: somebody or "
        "a lifecycle rule deleted it. Bring it back from versioning or a backup.",
        {"checkpoint": checkpoint, "newest_file": newest},
        absent=commit_files([(first, checkpoint)]),
        first_version=first if first < checkpoint else None,
    )


def _newest_item(view: LogView) -> int:
    """The newest version of which an item speaks, -1 without any."""
    entries = (entry.version for domain in view.facts.entries.values() for entry in domain)
    registered = (one.table_version for one in view.facts.registrations if one.has_accepted_commits is not False)
    return max((version for version in (*entries, *registered) if version is not None), default=-1)


def _empty(view: LogView) -> Iterator[Finding]:
    if view.readable is not None or view.facts.listing.from_version > 0 or view.unread("listing"):
        return
    if not any(view.facts.entries.values()):  # they say more: a first commit that waits, or leftovers of another table
        yield attention(
            "empty-log",
            "No commit file lies under _delta_log/: readers find no Delta table here.",
            meaning="Either the table was dropped, or its log was deleted.",
        )


def _problems(view: LogView) -> Iterator[Finding]:
    whole = [p for p in view.facts.problems if p.place.partition(" ")[0] in WHOLE_FACTS]
    said = {commit_name(version) for version in stopping_versions(view)}
    parts = [p for p in view.facts.problems if p not in whole and p.place.partition(" ")[0] not in said]
    for problems, of, code in ((whole, not_checked, "not-read"), (parts, attention, "unreadable")):
        if problems:
            first, more = problems[0], len(problems) - 1
            others = f" {counted(more, 'more place')} could not be read." if more else ""
            yield of(
                code,
                f"{first.place} could not be read: {first.reason.rstrip('.')}.{others}",
                meaning="What follows from these parts is not known; the rest of the verdict stands.",
                evidence={"problems": [{"place": p.place, "reason": p.reason} for p in problems[:100]]},
            )


def is_no_commit(view: LogView, version: int) -> bool:
    """Whether a published file holds no action, or a line that is no JSON, as far as it was read."""
    info = view.info(version)
    is_empty = view.published[version].size <= LONGEST_COMMIT_WITHOUT_ACTION
    return is_empty or (info is not None and info.bad_line is not None)


def stopping_versions(view: LogView) -> tuple[int, ...]:
    """Versions above the newest whole checkpoint whose files hold a line that is no JSON, ascending."""
    read = (version for version, info in view.facts.commit_infos.items() if info.bad_line is not None)
    return tuple(sorted(v for v in read if view.info(v) and (view.checkpoint is None or v > view.checkpoint)))


def is_of_another_transaction(view: LogView, version: int) -> bool | None:
    """Whether a commit file and the `.crc` beside it are of different transactions; None where that is not known.

    Spark gives both the same `txnId`. A file without one that is not Spark's was not written with that `.crc`.
    """
    info, summed_up = view.info(version), view.facts.checksum_transactions.get(version)
    if info is None or not summed_up:
        return None
    if info.transaction:
        return info.transaction != summed_up
    return True if info.engine and not info.engine.startswith(SPARK) else None


def _broken_checkpoint(view: LogView) -> Iterator[Finding]:
    """Where the newest checkpoint by its names is none: readers take it all the same."""
    version = view.newest_named_checkpoint
    files = usable_checkpoint(view.facts.listing.checkpoints[version]) if version is not None else ()
    broken = {file.name: view.facts.broken[file.name] for file in files if file.name in view.facts.broken}
    if version is None or not broken:
        return
    reason = next(iter(broken.values()))
    start = 0 if view.checkpoint is None else view.checkpoint + 1
    newest = max(view.newest if view.newest is not None else -1, version)
    is_replaced = all(one in view.published and not is_no_commit(view, one) for one in range(start, newest + 1))
    way_back = (
        f"Not every commit from {thousands(start)} to {thousands(newest)} is there and whole to replace it: bring the "
        "checkpoint or the missing commits back from S3 versions or a backup."
    )
    yield blocked(
        "checkpoint-broken",
        f"Checkpoint {thousands(version)} cannot be read: {reason.rstrip('.')}. Spark and deltalake start from it and "
        "stop.",
        version,
        _way_out(view, [file.name for file in files], start) if is_replaced else way_back,
        {"broken": broken, "commits_are_there": is_replaced},
    )


def _way_out(view: LogView, files: list[str], start: int) -> str:
    hint = [LAST_CHECKPOINT] if view.facts.hinted is None or view.facts.hinted >= start else []
    since = "of the table" if start == 0 else f"since checkpoint {thousands(start - 1)}"
    named = joined([*map(short, files[:3]), *hint])
    return (
        f"Every commit {since} is there, so nothing is lost: copy {named} aside and delete "
        f"{verb(len(files) + len(hint), 'it', 'them')}, and readers build the table from the commits."
    )


def _hint(view: LogView) -> Iterator[Finding]:
    hinted, newest = view.facts.hinted, view.newest_named_checkpoint
    if hinted is None or view.facts.listing.from_version > 0 or (newest is not None and newest >= hinted):
        return
    if view.facts.mechanism is Mechanism.CATALOG_MANAGED:
        return
    there = [file.name for file in view.facts.listing.checkpoints.get(hinted, ())]
    what = f"which is not whole ({counted(len(there), 'file')} of it)" if there else "of which no file is there"
    start = "the first commit on" if newest is None else f"checkpoint {thousands(newest)} on"
    yield attention(
        "checkpoint-hint",
        f"_last_checkpoint names checkpoint {thousands(hinted)}, {what}: deltalake stops at it, Spark reads from "
        f"{start}.",
        hinted,
        "The file is only a hint: delete it, and every reader looks for the newest whole checkpoint by itself. The "
        "next checkpoint writes it anew.",
        {"hinted": hinted, "files": there[:MOST_LISTED], "checkpoint": newest},
    )


def _empty_commits(view: LogView) -> Iterator[Finding]:
    sizes = ((version, file.size) for version, file in sorted(view.published.items()))
    empty = [version for version, size in sizes if size <= LONGEST_COMMIT_WITHOUT_ACTION]
    covered = [v for v in empty if view.checkpoint is not None and v <= view.checkpoint]
    if lost := empty[len(covered) :]:
        many = len(lost)
        yield unsafe(
            "empty-commit",
            f"{_sentence(lost)} {verb(many, 'has an empty file', 'have empty files')}: what "
            f"{verb(many, 'it', 'they')} added or removed is missing for every reader, without an error.",
            lost[-1],
            f"No writer makes a commit without an action. Bring {verb(many, 'the file', 'the files')} back from S3 "
            "versions, a temp or staged file of the version, or a backup, before a checkpoint is written without it.",
            _evidence(view, lost),
        )
    if covered:
        many = len(covered)
        yield attention(
            "empty-commit-covered",
            f"{_sentence(covered)} {verb(many, 'has an empty file', 'have empty files')}. Checkpoint "
            f"{thousands(view.checkpoint or 0)} stands for {verb(many, 'it', 'them')}; whether it was written before "
            "the loss is not known.",
            covered[-1],
            "If so, only time travel and change feeds miss what the file held. If not, every reader does.",
            _evidence(view, covered),
        )


def _unreadable_commits(view: LogView) -> Iterator[Finding]:
    stopping = stopping_versions(view)
    if not stopping:
        return
    many, first = len(stopping), stopping[0]
    line = view.facts.commit_infos[first].bad_line or 1
    of_it = f"line {thousands(line)}" if many == 1 else f"line {thousands(line)} of {commit_name(first)}"
    yield blocked(
        "unreadable-commit",
        f"{_sentence(stopping)} cannot be read: {of_it} is not one whole JSON object. Readers stop there.",
        stopping[-1],
        "Bring the file back from S3 versions, a temp or staged file of the version, or a backup.",
        _evidence(view, stopping),
    )


def _long_replay(view: LogView) -> Iterator[Finding]:
    """A log that is replayed commit by commit, for so long that its writers make no checkpoints."""
    if view.facts.listing.from_version > 0:
        return
    count = sum(1 for version in view.published if view.checkpoint is None or version > view.checkpoint)
    if count <= LONG_REPLAY:
        return
    since = "" if view.checkpoint is None else f" since checkpoint {thousands(view.checkpoint)}"
    yield attention(
        "long-replay",
        f"{counted(count, 'commit')}{since} {verb(count, 'has', 'have')} no checkpoint: every reader replays them all.",
        meaning="Opening the table takes longer with each commit, and clean-up keeps every file. Have one checkpoint "
        "made: Spark does at a commit whose version is a multiple of delta.checkpointInterval, deltalake by "
        "create_checkpoint().",
        evidence={"commits": count, "checkpoint": view.checkpoint},
    )


def _of_other_transactions(view: LogView) -> Iterator[Finding]:
    versions = [v for v in sorted(view.facts.checksum_transactions) if is_of_another_transaction(view, v)]
    if not versions:
        return
    many, newest = len(versions), versions[-1]
    info = view.facts.commit_infos[newest]
    file = view.published[newest]
    yield unsafe(
        "checksum-of-another",
        f"{_sentence(versions)}: …{newest}.json and …{newest}.crc are of different transactions"
        f"{'' if many == 1 else ', as those of the others are'}. The file of the one that wrote the .crc was replaced.",
        newest,
        "Its writer was told that it had committed, and what it added is in no version unless it was written again. "
        f"Look for its {verb(many, 'file', 'files')} among S3 versions, and stop writers that share no commit store.",
        {
            **_evidence(view, versions),
            "json": {
                "engine": info.engine,
                "transaction": info.transaction,
                "modified_at": file.modified_at.isoformat(),
            },
            "crc": {"transaction": view.facts.checksum_transactions[newest]},
        },
    )


def _sentence(versions: list[int] | tuple[int, ...]) -> str:
    named = named_versions(versions)
    return named[:1].upper() + named[1:]


def _evidence(view: LogView, versions: list[int] | tuple[int, ...]) -> dict[str, object]:
    return {"all_versions": list(versions)[-MOST_LISTED:], "count": len(versions), "checkpoint": view.checkpoint}
