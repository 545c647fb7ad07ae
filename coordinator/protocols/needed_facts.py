"""What has to be read besides the listing and the items before a table's state can be decided."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from coordinator.protocols.log_store_entries import SeenEntry, seen_entries
from coordinator.protocols.log_view import LogView, Look
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.names import STAGED_FOLDERS, is_version
from coordinator.protocols.registrations import SeenCommit, seen_commits
from lake.delta.facts import TableFacts
from lake.delta.names import commit_name

MOST_LOOKUPS = 200
"""Objects looked up singly for one table in one pass; the newest versions come first."""

MOST_BETWEEN = 50
"""Versions that a writer may have made between the listing and the items; more of them take a second look."""


def wanted_heads(facts: TableFacts) -> tuple[str, ...]:
    """Names under `_delta_log/` to be looked up (HEAD), newest version first, each temp or staged file before its
    published one: a file that is published meanwhile is then seen, and so are all that were published before it.

    Wanted is what the listing does not show: it is older than the items. Of complete entries below a partial
    listing only the newest is asked for, because neither readers nor writers look at the others. Only names that the
    protocols can produce are given, so an edited item cannot point elsewhere.
    """
    view = LogView(facts)
    names = (name for name in _newest_first(_names(view)) if name not in facts.heads)
    return tuple(islice(dict.fromkeys(names), MOST_LOOKUPS))


def wanted_comparisons(facts: TableFacts) -> tuple[tuple[int, str, str], ...]:
    """Pairs of objects whose bytes decide a state (C4, C9, K4): version, accepted copy, published file."""
    view = LogView(facts)
    pairs = [
        (one.version, one.temp, one.file)
        for one in seen_entries(view)
        if one.entry.complete is False and one.temp is not None
    ]
    pairs += [(one.version, one.staged, one.file) for one in _listed(view) if one.staged is not None]
    wanted = [
        (version, copy.name, file.name)
        for version, copy, file in pairs
        if copy.present and file.present and not _is_compared(view, version, copy, file)
    ]
    return tuple(sorted(set(wanted), reverse=True)[:MOST_LOOKUPS])


def _is_compared(view: LogView, version: int, copy: Look, file: Look) -> bool:
    """Whether the bytes are known to be equal, or to differ at a known place; other sizes alone do not tell where."""
    equal = view.equal(version, copy, file)
    return equal is True or (equal is False and version in view.facts.equal_bytes)


def _newest_first(named: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Names by version, and of each version its published file last."""
    by_version: defaultdict[int, list[str]] = defaultdict(list)
    for version, name in named:
        by_version[version].append(name)
    for version, names in sorted(by_version.items(), reverse=True):
        yield from sorted(names, key=lambda name: name == commit_name(version))


def _names(view: LogView) -> Iterator[tuple[int, str]]:
    accepted = [-1]
    for entry in seen_entries(view):
        accepted.append(entry.version)
        yield from ((entry.version, name) for name in _names_of_entry(view, entry))
    named = registration_id(view.facts.protocol)
    for registration in view.facts.registrations:
        version = registration.table_version
        unused = registration.has_accepted_commits is False and registration.table_id != named
        if version is None or not is_version(version) or unused:
            continue
        accepted.append(version)
        if not view.file(version).present:
            yield version, commit_name(version)
    for commit in _listed(view):
        accepted.append(commit.version)
        yield from ((commit.version, name) for name in _names_of_commit(view, commit))
    yield from ((version, commit_name(version)) for version in _between(view, max(accepted)))


def _between(view: LogView, accepted: int) -> range:
    """Versions above the listing and below the newest accepted one, of which no item need speak any more: a
    coordinator clears its list, and TTL takes entries.
    """
    listed = view.facts.listing.newest_version
    start = view.facts.listing.from_version if listed is None else listed + 1
    return range(start, accepted) if accepted - start <= MOST_BETWEEN else range(0)


def _names_of_entry(view: LogView, seen: SeenEntry) -> Iterator[str]:
    if seen.file.present is None and seen.entry.complete and not seen.newest:
        return
    if view.is_cleaned(seen.version) and seen.file.present is False:
        return
    if seen.temp and not seen.temp.present and _matters(seen.file, seen.entry.complete):
        yield seen.temp.name
    if not seen.file.present:
        yield seen.file.name


def _matters(file: Look, complete: bool | None) -> bool:
    """Whether the temp file decides anything: it does unless the entry is complete and its file is there."""
    return not (complete and file.present)


def _listed(view: LogView) -> list[SeenCommit]:
    return [one for registration in view.facts.registrations for one in seen_commits(view, registration)]


def _names_of_commit(view: LogView, seen: SeenCommit) -> Iterator[str]:
    if view.is_cleaned(seen.version):
        return
    if seen.staged and not seen.staged.present:
        for folder in STAGED_FOLDERS:
            yield f"{folder}/{seen.commit.file_name}"
    if not seen.file.present:
        yield seen.file.name
