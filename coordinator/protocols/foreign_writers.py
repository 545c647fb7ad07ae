"""Commits that somebody wrote past the log store.

A log store commit leaves an item that lives at least `ddb.ttl` seconds after completion. A younger published version
without an item was therefore written by someone who takes no lock, and whose file the next locked writer can overwrite.

Three kinds of gaps are no sign of that. Coordinated commits leave no items. Versions older than the oldest entry may
date from before the table used the log store, so only a version that follows a known entry counts; where no entry is
left, every commit of the last `ddb.ttl` seconds counts. And writers may be set to a shorter life than assumed, which
the entries themselves show.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from coordinator.protocols.judgement import MOST_FINDINGS, Judgement
from coordinator.protocols.log_store_entries import look_evidence
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version, same_place
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import thousands
from lake.delta.facts import LogStoreEntry, Mechanism


def foreign_versions(
    published: Mapping[int, datetime],
    entry_versions: Collection[int],
    observed_at: datetime,
    life_seconds: float,
    after_version: int = -1,
) -> tuple[int, ...]:
    """Published versions that must have an entry and have none, ascending.

    `published` holds when each file was written; versions up to `after_version` are exempt (they were coordinated).
    """
    first = min(entry_versions) if entry_versions else -1
    return tuple(
        version
        for version in sorted(published)
        if version > max(first, after_version)
        and version not in entry_versions
        and (observed_at - published[version]).total_seconds() < life_seconds
    )


def entry_life(view: LogView, entries: Collection[LogStoreEntry]) -> float:
    """Seconds an entry surely lives after its commit: the longest seen on this table, and never above the assumed."""
    lives = [
        entry.expire_time - file.modified_at.timestamp()
        for entry in entries
        if entry.complete
        and entry.expire_time is not None
        and (file := view.published.get(entry.version if entry.version is not None else -1))
    ]
    seen = [life for life in lives if life > 0]
    return min(max(seen), view.facts.ttl_seconds) if seen else view.facts.ttl_seconds


def judge_foreign_writers(view: LogView) -> Judgement:
    """C8 where it is an alarm: a finding for each foreign version, of very many the newest ones."""
    facts = view.facts
    if facts.mechanism is not Mechanism.LOG_STORE or view.unread("entries"):
        return Judgement()
    entries = [
        entry
        for path, domain in facts.entries.items()
        if same_place(path, facts.uri)
        for entry in domain
        if is_version(entry.version)
    ]
    coordinated = [r.table_version for r in facts.registrations if r.has_accepted_commits is not False]
    if coordinated and any(not is_version(version) for version in coordinated):
        return Judgement()
    versions = foreign_versions(
        {version: file.modified_at for version, file in view.published.items()},
        {entry.version for entry in entries if entry.version is not None},
        facts.observed_at,
        entry_life(view, entries),
        after_version=max((facts.entries_from - 1, *(version for version in coordinated if version is not None))),
    )
    return Judgement(findings=tuple(_finding(view, one, len(versions)) for one in versions[-MOST_FINDINGS:]))


def _finding(view: LogView, version: int, count: int) -> Finding:
    info = view.facts.commit_infos.get(version)
    by = f" by {info.engine}" if info and info.engine else ""
    return Finding(
        code="foreign-writer",
        severity=Severity.CRITICAL,
        state=State.UNSAFE,
        summary=f"Version {thousands(version)} was written without the log store{by}. "
        "Such a writer can overwrite a commit of Spark, or lose its own.",
        version=version,
        meaning="The writer takes no lock. When it meets a locked writer on one version, the loser's rows are gone "
        "without an error.",
        evidence={
            "s3": look_evidence(view.file(version)),
            "dynamodb": None,
            "engine": info.engine if info else "",
            "foreign_versions": count,
        },
    )
