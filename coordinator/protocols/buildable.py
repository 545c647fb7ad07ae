"""Whether readers can build the table from what lies in its log: the checkpoint they start from, and each commit.

What engines do was tried with Delta 4.4.0 on Spark 4.2 and deltalake 1.6.6 (`tests/conformance/test_broken_logs.py`):
both take the newest checkpoint by names and sizes alone and stop where its bytes are none; both leave out one of 0
bytes and one without all its parts; deltalake stops where no checkpoint lies at or above the version that
`_last_checkpoint` names; an empty commit counts as one without actions; a line that is no JSON stops both.
"""

from collections.abc import Iterator

from coordinator.protocols.judgement import Judgement
from coordinator.protocols.log_view import LogView
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, joined, label, named_versions, thousands, verb
from lake.delta.facts import Mechanism
from lake.delta.names import LAST_CHECKPOINT, commit_name
from lake.delta.replay import usable_checkpoint

LONGEST_COMMIT_WITHOUT_ACTION = 1
"""Bytes of a commit file that cannot hold an action: nothing, or the end of a line."""
LONG_REPLAY = 1_000
"""Commits without a checkpoint that no writer leaves by its own settings: the interval is 10 to 100 unless set."""
MOST_LISTED = 100
SPARK = "Apache-Spark/"


def judge_buildable(view: LogView) -> Judgement:
    """What keeps readers from building the newest version, or has them build it without some of its rows."""
    return Judgement(
        findings=(
            *_broken_checkpoint(view),
            *_hint(view),
            *_empty_commits(view),
            *_unreadable_commits(view),
            *_long_replay(view),
            *_of_other_transactions(view),
        )
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
    yield Finding(
        "checkpoint-broken",
        Severity.CRITICAL,
        State.BLOCKED,
        f"Checkpoint {thousands(version)} cannot be read: {reason.rstrip('.')}. Spark and deltalake start from it and "
        "stop.",
        version,
        _way_out(view, [file.name for file in files], start) if is_replaced else _way_back(start, newest),
        {"broken": broken, "commits_are_there": is_replaced},
    )


def _way_out(view: LogView, files: list[str], start: int) -> str:
    hint = [LAST_CHECKPOINT] if view.facts.hinted is None or view.facts.hinted >= start else []
    since = "of the table" if start == 0 else f"since checkpoint {thousands(start - 1)}"
    named = joined([*map(label, files[:3]), *hint])
    return (
        f"Every commit {since} is there, so nothing is lost: copy {named} aside and delete "
        f"{verb(len(files) + len(hint), 'it', 'them')}, and readers build the table from the commits."
    )


def _way_back(start: int, newest: int) -> str:
    return (
        f"Not every commit from {thousands(start)} to {thousands(newest)} is there and whole to replace it: bring the "
        "checkpoint or the missing commits back from S3 versions or a backup."
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
    yield Finding(
        "checkpoint-hint",
        Severity.WARNING,
        State.ATTENTION,
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
        yield Finding(
            "empty-commit",
            Severity.CRITICAL,
            State.UNSAFE,
            f"{_sentence(lost)} {verb(many, 'has an empty file', 'have empty files')}: what "
            f"{verb(many, 'it', 'they')} added or removed is missing for every reader, without an error.",
            lost[-1],
            f"No writer makes a commit without an action. Bring {verb(many, 'the file', 'the files')} back from S3 "
            "versions, a temp or staged file of the version, or a backup, before a checkpoint is written without it.",
            _evidence(view, lost),
        )
    if covered:
        many = len(covered)
        yield Finding(
            "empty-commit-covered",
            Severity.WARNING,
            State.ATTENTION,
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
    yield Finding(
        "unreadable-commit",
        Severity.CRITICAL,
        State.BLOCKED,
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
    yield Finding(
        "long-replay",
        Severity.WARNING,
        State.ATTENTION,
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
    yield Finding(
        "checksum-of-another",
        Severity.CRITICAL,
        State.UNSAFE,
        f"{_sentence(versions)}: {newest}.json and {newest}.crc are of different transactions"
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
