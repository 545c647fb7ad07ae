"""What has to be read besides the listing and the items before a table's state can be decided."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from coordinator.protocols.foreign_writers import untimed_versions
from coordinator.protocols.lock_domains import contested_versions, domains_in_use
from coordinator.protocols.log_store_entries import SeenEntry, seen_entries
from coordinator.protocols.log_view import LogView, ObjectPresence
from coordinator.protocols.mechanism import registration_id
from coordinator.protocols.names import STAGED_FOLDERS, is_version
from coordinator.protocols.overwritten import accepted_file, changed_versions, is_what_was_seen
from coordinator.protocols.registrations import SeenCommit, accepting_registrations, is_split, seen_commits
from coordinator.protocols.remembered import MOST_LOOKED_UP, gone_versions
from lake.delta.facts import LogObject, Mechanism, TableFacts
from lake.delta.names import commit_name

MOST_LOOKUPS = 200
"""Objects looked up singly for one table in one pass; the newest versions come first."""

MOST_BETWEEN = 50
"""Versions that a writer may have made between the listing and the items; more of them take a second look."""
MOST_COPIES = 20
"""Temp and staged files compared with the published file of their version in one pass."""
MOST_COPY_BYTES = 64 << 20
"""Bytes of these files that are read for it; the published files come on top."""

MOST_CHECKSUMS = 20
"""Checksum files read for one table in one pass; the newest come first."""

MOST_COMMITS = 50
"""Commit files read for one table in one pass because diagnosis asks for them; the newest come first."""


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


def wanted_commits(facts: TableFacts) -> tuple[int, ...]:
    """Versions whose published files have to be read: was one overwritten, and when was it committed, newest first."""
    view = LogView(facts)
    changed = (version for version in changed_versions(view) if is_what_was_seen(view, version) is None)
    wanted = (*changed, *untimed_versions(view), *wanted_checksums(facts))
    unread = {version for version in wanted if view.info(version) is None}
    return tuple(sorted(unread, reverse=True)[:MOST_COMMITS])


def wanted_checksums(facts: TableFacts) -> tuple[int, ...]:
    """Versions whose `.crc` has to be read beside the commit file, newest first: is it of the same transaction?

    A writer puts the `.crc` after its commit, so a commit file that is newer was put again. Without a commit store two
    writers can meet within the second that S3 tells, so there each new commit is looked at too.
    """
    view = LogView(facts)
    checksums = facts.listing.checksums
    changed = set(changed_versions(view))
    if facts.mechanism is Mechanism.SINGLE_DRIVER and facts.provenance:
        changed |= facts.commit_infos.keys() - facts.provenance.keys()
    wanted = (
        version
        for version, file in view.published.items()
        if version in checksums and (version in changed or file.modified_at > checksums[version].modified_at)
    )
    return tuple(sorted(wanted, reverse=True)[:MOST_CHECKSUMS])


def wanted_comparisons(facts: TableFacts) -> tuple[tuple[int, str, str], ...]:
    """Pairs of objects whose bytes decide a state (C4, C9, K4, overwritten): version, accepted copy, published file.

    Of a version that several locks gave to different commits each copy is compared, complete or not.
    """
    view = LogView(facts)
    seen = seen_entries(view)
    contested = contested_versions(seen)
    pairs = [
        (one.version, one.temp, one.file)
        for one in seen
        if one.temp is not None and (one.entry.complete is False or one.version in contested)
    ]
    pairs += [(one.version, one.staged, one.file) for one in _listed(view) if one.staged is not None]
    pairs += [(version, copy, view.file(version)) for version, copy in _copies_of_changed(view)]
    wanted = [
        (version, copy.name, file.name)
        for version, copy, file in pairs
        if copy.present and file.present and not _is_compared(view, version, copy, file)
    ]
    return tuple(sorted(set(wanted), reverse=True)[:MOST_LOOKUPS])


def wanted_infos(facts: TableFacts) -> tuple[tuple[int, str], ...]:
    """Versions and names of accepted copies to be read for who wrote them: the newest of each lock domain and of each
    coordinator, where there are several.
    """
    view = LogView(facts)
    newest: dict[object, tuple[int, str]] = {}
    if len(domains_in_use(view)) > 1:
        for one in seen_entries(view):
            if one.temp and one.has_temp:
                newest[one.domain] = max(newest.get(one.domain, (-1, "")), (one.version, one.temp.name))
    for registration in accepting_registrations(facts) if is_split(facts) else ():
        for listed in seen_commits(view, registration):
            if listed.staged and listed.staged.present:
                newest[registration.store, registration.table_id] = (listed.version, listed.staged.name)
    return tuple(sorted(newest.values()))


def wanted_copies(facts: TableFacts) -> tuple[tuple[str, str], ...]:
    """Temp and staged files of published versions to be compared, each with the name of the published file.

    Wanted are those that their size and ETag leave in doubt and that nothing else compares: rivals first, because one
    of them may be about to be deleted, then the newest. What the bounds leave out stays undecided, and nobody deletes
    it.
    """
    view = LogView(facts)
    named = {one.version for one in seen_entries(view)}
    listed = {one.commit.file_name for one in _listed(view)}
    doubtful = [
        *_doubtful(view, {v: of_it for v, of_it in view.temp_by_version.items() if v >= facts.entries_from}, named),
        *_doubtful(view, view.staged_by_version, ()),
        *_doubtful_entries(view),
    ]
    taken, left = [], MOST_COPY_BYTES
    for _, version, file in sorted(doubtful, key=lambda one: (one[0] < 2, -one[1], one[2].name)):
        if file.name.rpartition("/")[2] in listed or file.size > left:
            continue
        taken.append((file.name, commit_name(version)))
        left -= file.size
        if len(taken) == MOST_COPIES:
            break
    return tuple(taken)


def _doubtful(
    view: LogView, files: Mapping[int, Sequence[LogObject]], decided: Collection[int]
) -> Iterator[tuple[int, int, LogObject]]:
    """Files that may or may not hold the published bytes, with the number of files of their version and the version.

    Where one file is known to hold them, another still matters: it may be a rival that nobody accepted.
    """
    for version, of_it in files.items():
        if version in view.published and version not in decided:
            yield from ((len(of_it), version, file) for file in of_it if view.is_copy(file) is None)


def _doubtful_entries(view: LogView) -> Iterator[tuple[int, int, LogObject]]:
    """The temp files of complete entries, which nobody compares: the published file may have been replaced since."""
    for one in seen_entries(view):
        file = one.temp.object if one.temp else None
        if one.entry.complete and file and one.version in view.published and view.is_copy(file) is None:
            yield 1, one.version, file


def _is_compared(view: LogView, version: int, copy: ObjectPresence, file: ObjectPresence) -> bool:
    """Whether the bytes are known to be equal, or to differ at a known place; other sizes alone do not tell where."""
    equal = view.equal(version, copy, file)
    return equal is True or (equal is False and copy.name in view.facts.equal_bytes)


def _newest_first(named: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Names by version, and of each version its published file last."""
    by_version: defaultdict[int, list[str]] = defaultdict(list)
    for version, name in named:
        by_version[version].append(name)
    for version, names in sorted(by_version.items(), reverse=True):
        yield from sorted(names, key=lambda name: name == commit_name(version))


def _names(view: LogView) -> Iterator[tuple[int, str]]:
    accepted, seen = [-1], seen_entries(view)
    contested = contested_versions(seen)
    for entry in seen:
        accepted.append(entry.version)
        names = _names_of_entry(view, entry, is_contested=entry.version in contested)
        yield from ((entry.version, name) for name in names)
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
    yield from ((version, copy.name) for version, copy in _copies_of_changed(view) if not copy.present)
    yield from ((version, commit_name(version)) for version in gone_versions(view)[:MOST_LOOKED_UP])


def _between(view: LogView, accepted: int) -> range:
    """Versions above the listing and below the newest accepted one, of which no item need speak any more: a
    coordinator clears its list, and TTL takes entries.
    """
    listed = view.facts.listing.newest_version
    start = view.facts.listing.from_version if listed is None else listed + 1
    return range(start, accepted) if accepted - start <= MOST_BETWEEN else range(0)


def _copies_of_changed(view: LogView) -> Iterator[tuple[int, ObjectPresence]]:
    """The accepted file of each version whose published file was put again, newest first."""
    for version in reversed(changed_versions(view)):
        copy = accepted_file(view, view.facts.provenance[version])
        if copy is not None and is_what_was_seen(view, version) is None:
            yield version, copy


def _names_of_entry(view: LogView, seen: SeenEntry, *, is_contested: bool) -> Iterator[str]:
    if seen.file.present is None and seen.entry.complete and not (seen.newest or is_contested):
        return
    if view.is_cleaned(seen.version) and seen.file.present is False:
        return
    is_settled = seen.entry.complete and seen.file.present and not is_contested  # whatever became of its temp file
    if seen.temp and not seen.temp.present and not is_settled:
        yield seen.temp.name
    if not seen.file.present:
        yield seen.file.name


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
