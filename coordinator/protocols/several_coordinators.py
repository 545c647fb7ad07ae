"""Registrations of one table that accept commits in several DynamoDB tables: no coordinator knows of the other."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from coordinator.protocols.judgement import MOST_FINDINGS
from coordinator.protocols.lock_domains import MOST_WRITERS, UNKNOWN_WRITERS
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version
from coordinator.protocols.registrations import current_registration, seen_commits
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, joined, thousands
from lake.delta.facts import Registration, TableFacts


def accepting_registrations(facts: TableFacts) -> tuple[Registration, ...]:
    """Registrations through which somebody may commit now: open ones that have accepted a commit, and the current one.

    One that never accepted a commit, and that no metadata names, is the leftover of an upgrade.
    """
    current = current_registration(facts)
    return tuple(
        one
        for one in facts.registrations
        if one.accepting_commits is not False and (one is current or one.has_accepted_commits is not False)
    )


def is_split(facts: TableFacts) -> bool:
    """Whether several DynamoDB tables hold a registration of the table that accepts commits."""
    return len({one.store for one in accepting_registrations(facts)}) > 1


def several_coordinators(view: LogView) -> list[Finding]:
    """What is wrong where two coordinators accept commits, and each version that both gave away."""
    if not is_split(view.facts):
        return []
    accepting = accepting_registrations(view.facts)
    return [_two_coordinators(view, accepting), *_accepted_twice(accepting)]


def writers_of(view: LogView, registration: Registration) -> tuple[str, ...]:
    """Engines of commits that the registration accepted, sorted; empty where none is known.

    A staged file says who wrote it; a published one does where its in-commit timestamp is the accepted one.
    """
    staged = [one.staged.name for one in seen_commits(view, registration) if one.staged]
    infos = [view.facts.copy_infos.get(name) for name in staged]
    if registration.table_version is not None and registration.table_timestamp is not None:
        newest = view.facts.commit_infos.get(registration.table_version)
        infos += [newest] if newest and newest.in_commit_timestamp == registration.table_timestamp else []
    return tuple(sorted({info.engine for info in infos if info and info.engine}))


def _two_coordinators(view: LogView, accepting: Sequence[Registration]) -> Finding:
    told = [_in_words(view, one) for one in accepting]
    return Finding(
        "two-coordinators",
        Severity.CRITICAL,
        State.UNSAFE,
        f"{counted(len({one.store for one in accepting}), 'commit coordinator')} accept commits of this table and do "
        f"not exclude each other: {joined(told)}.",
        meaning="Two writers, one through each coordinator, can both win a version; the loser's rows are gone without "
        "an error. Stop the writers, find out which registration counts, and close the other. Until then Levee changes "
        "nothing of this table.",
        evidence={
            "registrations": [
                {
                    "store": one.store,
                    "tableId": one.table_id,
                    "path": one.path,
                    "tableVersion": one.table_version,
                    "writers": list(writers_of(view, one)) or [UNKNOWN_WRITERS],
                }
                for one in accepting
            ]
        },
    )


def _in_words(view: LogView, registration: Registration) -> str:
    writers = writers_of(view, registration)
    by = f"by {joined(writers[:MOST_WRITERS])}" if writers else f"by writers {UNKNOWN_WRITERS}"
    version = registration.table_version
    return f"{registration.store} up to {thousands(version) if version is not None else UNKNOWN_WRITERS} {by}"


def _accepted_twice(accepting: Sequence[Registration]) -> list[Finding]:
    found: dict[int, Finding] = {}
    for one, other in combinations(accepting, 2):
        if one.store != other.store:
            for version in _given_twice(one, other):
                found.setdefault(version, _twice(version, one, other))
    return [found[version] for version in sorted(found)[-MOST_FINDINGS:]]


def _given_twice(one: Registration, other: Registration) -> Iterator[int]:
    """Versions that both list with different files, or stand at with different in-commit timestamps."""
    listed = {commit.version: commit.file_name for commit in other.commits}
    yield from (
        commit.version
        for commit in one.commits
        if is_version(commit.version) and listed.get(commit.version, commit.file_name) != commit.file_name
    )
    same = is_version(one.table_version) and one.table_version == other.table_version
    times = {one.table_timestamp, other.table_timestamp}
    if same and None not in times and len(times) == 2 and one.table_version is not None:
        yield one.table_version


def _twice(version: int, one: Registration, other: Registration) -> Finding:
    return Finding(
        "accepted-twice",
        Severity.CRITICAL,
        State.UNSAFE,
        f"Version {thousands(version)} was accepted twice, as different commits by {one.store} and {other.store}.",
        version,
        "Both writers may have reported success. Keep every file until the loss is understood, and write the missing "
        "rows again.",
        {"registrations": [{"store": each.store, "tableId": each.table_id} for each in (one, other)]},
    )
