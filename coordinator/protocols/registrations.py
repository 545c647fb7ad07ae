"""Commits listed by a registration beside the two files each of them speaks of, and registrations beside each other.

Where several DynamoDB tables hold a registration of one table that accepts commits, no coordinator knows of the other.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from coordinator.protocols.judgement import MOST_FINDINGS, accepted_twice
from coordinator.protocols.lock_domains import UNKNOWN_WRITERS, by_writers
from coordinator.protocols.log_view import LogView, ObjectPresence
from coordinator.protocols.mechanism import coordinator_store, registration_id
from coordinator.protocols.names import is_version, same_place, staged_file_version
from coordinator.protocols.verdict import Finding, unsafe
from coordinator.protocols.wording import counted, joined, runs_of, thousands
from lake.delta.facts import CoordinatorCommit, Registration, TableFacts
from lake.delta.wire import shown

OF_REGISTRATIONS = frozenset(
    {
        *(f"K{number}" for number in range(13)),
        "accepted-twice",
        "accepts-without-table",
        "bytes-differ",
        "half-dropped",
        "list-not-contiguous",
        "path-differs",
        "refuses-commits",
        "staged-size-differs",
        "two-coordinators",
        "unguarded-commit",
    }
)
"""Codes of findings that rest on what registrations say: without these, nothing shows that they are over."""


@dataclass(frozen=True, slots=True)
class SeenCommit:
    """A listed commit: `staged` is None where `fsName` is not the name of a staged file of its version."""

    commit: CoordinatorCommit
    version: int
    file: ObjectPresence
    staged: ObjectPresence | None

    @property
    def size_differs(self) -> bool:
        """Whether the staged file is not as long as the item says (`fsLength`)."""
        found = self.staged.size if self.staged else None
        return found is not None and self.commit.size is not None and found != self.commit.size

    @property
    def written_at(self) -> datetime | None:
        """When the staged file was written, else the published one."""
        return (self.staged.modified_at if self.staged else None) or self.file.modified_at


def current_registration(facts: TableFacts) -> Registration | None:
    """The registration that the newest metadata names: by its id, in the DynamoDB table that the metadata names."""
    table_id, store = registration_id(facts.protocol), coordinator_store(facts.protocol)
    named = (one for one in facts.registrations if one.table_id == table_id and (store is None or one.store == store))
    return next(named, None) if table_id else None


def seen_commits(view: LogView, registration: Registration) -> list[SeenCommit]:
    """The listed commits that can be looked up, ascending; of two with one version the first counts."""
    by_version: dict[int, CoordinatorCommit] = {}
    for commit in registration.commits:
        if is_version(commit.version):
            by_version.setdefault(commit.version, commit)
    return [
        SeenCommit(commit, v, view.file(v), view.staged(commit.file_name) if _is_staged(commit) else None)
        for v, commit in sorted(by_version.items())
    ]


def waiting_commits(view: LogView, registration: Registration) -> list[SeenCommit]:
    """Listed commits without a published file, ascending."""
    return [one for one in seen_commits(view, registration) if one.file.present is False]


def _is_staged(commit: CoordinatorCommit) -> bool:
    """Whether it names a staged file of its version."""
    return "/" not in commit.file_name and staged_file_version(commit.file_name) == commit.version


def unpublished_versions(view: LogView) -> list[int]:
    """Versions that registrations of this table list as accepted and that have no published file, ascending."""
    own = [one for one in view.facts.registrations if same_place(one.path, view.facts.uri)]
    seen = [one for registration in own for one in seen_commits(view, registration)]
    return sorted({one.version for one in seen if one.file.present is False and not view.is_cleaned(one.version)})


def element_problems(registration: Registration) -> list[str]:
    """What is wrong with the elements of `commits` that the reader of the item has not already said."""
    said = {problem.partition(" ")[0] for problem in registration.problems}
    return [problem for problem in _element_problems(registration) if problem.partition(" ")[0] not in said]


def _element_problems(registration: Registration) -> Iterator[str]:
    versions: set[int] = set()
    for index, commit in enumerate(registration.commits):
        place = f"commits[{index}]"
        if not is_version(commit.version):
            yield f"{place}.version {commit.version} is not a version that Delta can have"
        elif not _is_staged(commit):
            yield f"{place}.fsName {shown(commit.file_name)} is not a staged file of version {commit.version}"
        if commit.version in versions:
            yield f"{place}.version {commit.version} is listed twice"
        versions.add(commit.version)
        if registration.table_version is not None and commit.version > registration.table_version:
            yield f"{place}.version {commit.version} is above tableVersion {registration.table_version}"


def missing_runs(listed: Collection[int], published: int, table_version: int) -> list[tuple[int, int]]:
    """Runs of versions between the newest `published` (-1: none) and `table_version` that are not listed."""
    held = runs_of(v for v in listed if published < v < table_version)
    ends = [published, *(last for _, last in held)]
    starts = [*(first for first, _ in held), table_version]
    return [(end + 1, start - 1) for end, start in zip(ends, starts, strict=True) if start > end + 1]


def is_before_the_table(view: LogView, registration: Registration, timestamp: int | None) -> bool:
    """Whether a registration that the metadata does not name accepted this for a table that was dropped since.

    Its item outlives that table (K10), and its versions are not those of the one that was made in its place.
    """
    protocol = view.facts.protocol
    if protocol is None or protocol.created_at is None or timestamp is None:
        return False
    return registration.table_id != registration_id(protocol) and timestamp < protocol.created_at.timestamp() * 1_000


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
    """What is wrong where two coordinators accept commits (`is_split`), and each version that both gave away."""
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
    return unsafe(
        "two-coordinators",
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
    by = by_writers(writers_of(view, registration))
    version = registration.table_version
    return f"{registration.store} up to {thousands(version) if version is not None else UNKNOWN_WRITERS} {by}"


def _accepted_twice(accepting: Sequence[Registration]) -> list[Finding]:
    pairs = [(one, other) for one, other in combinations(accepting, 2) if one.store != other.store]
    found = {version: pair for pair in reversed(pairs) for version in _given_twice(*pair)}
    return [_twice(version, *found[version]) for version in sorted(found)[-MOST_FINDINGS:]]


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
    held = [{"store": each.store, "tableId": each.table_id} for each in (one, other)]
    return accepted_twice(version, f" by {one.store} and {other.store}.", {"registrations": held})
