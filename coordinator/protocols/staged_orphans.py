"""Staged files beside the registrations and the published log: which may be the last copy of an accepted commit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf

from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_version, same_place, staged_file_version
from coordinator.protocols.survivors import Fate, Proof, Staged, fate_of_staged, was_named
from lake.delta.facts import LogObject, Registration

Tells = Callable[[LogObject], bool]
"""Whether witnesses show that a staged file lost against the published one (`survivors.Witnesses.tell`)."""


def _nothing_tells(file: LogObject) -> bool:
    return False


def staged_fates(view: LogView, tells: Tells = _nothing_tells) -> list[tuple[LogObject, Fate]]:
    """Every listed staged file with what is known of it."""
    versions, accepted, listed = view.staged_by_version, accepted_version(view), _listed(view)
    shared = _shared_versions(view, versions)
    fates = []
    for file in view.facts.listing.staged or ():
        version = staged_file_version(file.name)
        if version is None:
            fates.append((file, fate_of_staged(Staged(file, None, None, None))))
            continue
        is_copy = view.is_copy(file)
        staged = Staged(
            file,
            version,
            view.file(version).object,
            is_copy,
            [view.is_copy(one) for one in versions[version] if one is not file],
            accepted,
            is_listed=_name(file) in listed,
            other_is_listed=version in listed.values(),
            provenance=view.facts.provenance.get(version),
            witnessed=is_copy is False and tells(file),
            one_coordinator=version not in shared,
        )
        fates.append((file, fate_of_staged(staged)))
    return fates


def losing_files(view: LogView, fates: Sequence[tuple[LogObject, Fate]]) -> list[tuple[LogObject, Fate]]:
    """Files of accepted versions that hold other bytes than the published one, where another staged file holds those.

    Or where the registration lists, or was seen to list, another. Whether one may go is for its fate to say.
    """
    copied = {staged_file_version(file.name) for file, _ in fates if view.is_copy(file)}
    return [
        (file, fate)
        for file, fate in fates
        if view.is_copy(file) is False
        and (
            fate.proof is Proof.NEVER_ACCEPTED
            or (fate.proof is Proof.UNPROVEN and staged_file_version(file.name) in copied)
        )
    ]


def unaccepted_files(view: LogView) -> list[LogObject]:
    """Files above the newest accepted version: their writers died, or are about to commit."""
    accepted = accepted_version(view)
    if accepted is None:
        return []
    return [file for version, file in _unlisted(view) if version > accepted and version not in view.published]


def uncompared_files(view: LogView) -> list[LogObject]:
    """Files of accepted and published versions that may or may not hold the published bytes."""
    accepted = accepted_version(view)
    if accepted is None:
        return []
    published = (file for version, file in _unlisted(view) if version <= accepted and version in view.published)
    return [file for file in published if view.is_copy(file) is None]


def _unlisted(view: LogView) -> Iterator[tuple[int, LogObject]]:
    """Staged files that no registration lists, with their versions."""
    listed = _listed(view)
    for version, files in view.staged_by_version.items():
        yield from ((version, file) for file in files if _name(file) not in listed)


def accepted_version(view: LogView) -> int | None:
    """The newest version that a registration of this path accepted a commit for."""
    versions = (one.table_version for one in _started(view))
    return max((version for version in versions if version is not None and is_version(version)), default=None)


def uncopied_versions(view: LogView) -> tuple[tuple[int, bool], ...]:
    """Accepted and published versions of which no staged file holds the published bytes, ascending.

    Beside each stands whether a coordinator accepted it for certain. A table that left its coordinator and came back
    has versions in between that none accepted, though staged files of refused commits may lie there. Only versions of
    the listing count: the folders are listed after the published files, and a file is staged before it is published.
    """
    accepted = accepted_version(view)
    if accepted is None:
        return ()
    files = view.staged_by_version
    copied = {version for version, of_it in files.items() if any(view.is_copy(one) for one in of_it)}
    elsewhere = {*copied, *_listed(view).values(), *(one.version for of in view.facts.entries.values() for one in of)}
    closed = [one.table_version or 0 for one in _started(view) if one.accepting_commits is False]
    found = []
    for version, of_it in sorted(files.items()):
        unknown = version in elsewhere or version > accepted or version not in view.facts.listing.commits
        if unknown or any(view.is_copy(one) is not False for one in of_it):
            continue
        seen = view.facts.provenance.get(version)
        if seen is not None and seen.disputed:
            continue  # more than one was accepted, which is a finding of its own
        named = [was_named(seen, one.name) for one in of_it]
        if not all(one is False for one in named):
            left = max((one for one in closed if one < version), default=-1)
            certain = left < 0 or True in named or any(left < one <= version for one in copied)
            found.append((version, certain))
    return tuple(found)


def _started(view: LogView) -> list[Registration]:
    here = [one for one in view.facts.registrations if same_place(one.path, view.facts.uri)]
    return [one for one in here if one.has_accepted_commits is not False]


def _shared_versions(view: LogView, versions: Iterable[int]) -> frozenset[int]:
    """Versions that more than one coordinator can have accepted, as far as registrations are or were seen.

    One that is closed accepted nothing above its version. One that is gone may have accepted anything: what Levee saw
    of it need not be all.
    """
    reach: dict[tuple[str, str], float] = {}
    for one in _started(view):
        closed_at = one.table_version if one.accepting_commits is False else None
        reach[one.store, one.table_id] = inf if closed_at is None else closed_at
    acceptances = (one for known in view.facts.provenance.values() for one in known.acceptances)
    for seen in acceptances:
        if not seen.is_of_log_store:
            reach.setdefault((seen.store, seen.lock_domain), inf)
    return frozenset(version for version in versions if sum(version <= last for last in reach.values()) > 1)


def _listed(view: LogView) -> dict[str, int]:
    """The files that any registration lists, with their versions."""
    return {
        commit.file_name: commit.version
        for one in view.facts.registrations
        for commit in one.commits
        if commit.file_name
    }


def _name(file: LogObject) -> str:
    return file.name.rpartition("/")[2]
