"""Commits listed by a registration beside the two files each of them speaks of."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from coordinator.protocols.log_view import LogView, ObjectPresence
from coordinator.protocols.mechanism import coordinator_store, registration_id
from coordinator.protocols.names import is_version, same_place, staged_file_version
from coordinator.protocols.wording import runs_of
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
        SeenCommit(commit, version, view.file(version), _staged(view, commit))
        for version, commit in sorted(by_version.items())
    ]


def waiting_commits(view: LogView, registration: Registration) -> list[SeenCommit]:
    """Listed commits without a published file, ascending."""
    return [one for one in seen_commits(view, registration) if one.file.present is False]


def _staged(view: LogView, commit: CoordinatorCommit) -> ObjectPresence | None:
    if "/" in commit.file_name or staged_file_version(commit.file_name) != commit.version:
        return None
    return view.staged(commit.file_name)


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
        elif "/" in commit.file_name or staged_file_version(commit.file_name) != commit.version:
            yield f"{place}.fsName {shown(commit.file_name)} is not a staged file of version {commit.version}"
        if commit.version in versions:
            yield f"{place}.version {commit.version} is listed twice"
        versions.add(commit.version)
        if registration.table_version is not None and commit.version > registration.table_version:
            yield f"{place}.version {commit.version} is above tableVersion {registration.table_version}"


def missing_runs(listed: Collection[int], published: int, table_version: int) -> list[tuple[int, int]]:
    """Runs of versions between the newest `published` (-1: none) and `table_version` that are not listed."""
    start = published
    held = runs_of(v for v in listed if start < v < table_version)
    missing = []
    for first, last in held:
        if first > start + 1:
            missing.append((start + 1, first - 1))
        start = last
    if start + 1 < table_version:
        missing.append((start + 1, table_version - 1))
    return missing


def is_before_the_table(view: LogView, registration: Registration, timestamp: int | None) -> bool:
    """Whether a registration that the metadata does not name accepted this for a table that was dropped since.

    Its item outlives that table (K10), and its versions are not those of the one that was made in its place.
    """
    protocol = view.facts.protocol
    if protocol is None or protocol.created_at is None or timestamp is None:
        return False
    return registration.table_id != registration_id(protocol) and timestamp < protocol.created_at.timestamp() * 1_000
