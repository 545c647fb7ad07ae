"""Which files a finding leaves as the last copies of a commit, and which it says are lost or misses.

Each finding carries them in its evidence, so that the settings of the bucket are judged by what the findings say and
not by the items that happen to be left (docs/decisions/008): a rule that deletes a last copy has a deadline.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from coordinator.protocols.absence import COMMIT_FILE
from coordinator.protocols.log_store_entries import seen_entries
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import STAGED_FOLDERS, commit_name, is_temp_of, staged_file_version, written_for
from coordinator.protocols.orphans import doubtful_orphans
from coordinator.protocols.overwritten import accepted_look, is_published
from coordinator.protocols.provenance import is_same_file
from coordinator.protocols.remembered import vanished_versions
from coordinator.protocols.verdict import LOUD, Absence, Finding, State, Verdict
from lake.delta.facts import LogObject, Provenance

LAST_COPIES = "last_copies"
"""Key of the evidence: [{version, file, size, written_at}], `written_at` in ISO 8601."""
LOST_FILES = "lost_files"
"""Key of the evidence: [{version, files}]: names under which an S3 version may be kept."""
MOST_COPIES = 200
MOST_LOST = 100

OLDER_VERSIONS = "older_versions"
"""Where the evidence of a finding has what was found: a list with one document a file."""
OF_A_FILE_THAT_IS_THERE = ("overwritten", "empty-commit", "unreadable-commit")
"""Findings of a commit file that is not what it was, or never was whole."""
MOST_FILES = 4
"""Versions of one finding, and files of one table, that are looked for."""

_WEIGHS = (State.BLOCKED, State.UNSAFE, State.NOT_CHECKED)
_REPLACED = ("overwritten", "bytes-differ", "accepted-twice", "C4", "K4")
"""Codes of findings that say, where they are unsafe, that a published file stands where another belongs."""


def with_last_copies(view: LogView, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, each with the files that it leaves and those that it says are lost, where there are any."""
    if not any(one.state in _WEIGHS or one.absent or one.code == "C1" for one in findings):
        return tuple(findings)
    files = _uncopied_files(view)
    return tuple(_with_copies(view, finding, files) for finding in findings)


def _with_copies(view: LogView, finding: Finding, files: Mapping[int, Sequence[LogObject]]) -> Finding:
    kept = _kept(view, finding, files)
    lost = _lost(view, finding, {version for version, _ in kept})
    told: dict[str, object] = {}
    if kept:
        told[LAST_COPIES] = [
            {"version": v, "file": file.name, "size": file.size, "written_at": file.modified_at.isoformat()}
            for v, file in kept
        ]
    if lost:
        told[LOST_FILES] = [{"version": version, "files": names} for version, names in lost]
    return replace(finding, evidence={**finding.evidence, **told}) if told else finding


def _kept(view: LogView, finding: Finding, files: Mapping[int, Sequence[LogObject]]) -> list[tuple[int, LogObject]]:
    """Temp and staged files of its versions that are not known to be what is published; the oldest go first."""
    if finding.code == "C1" and finding.state is State.ATTENTION:
        found = [(written_for(file.name) or 0, file) for file in doubtful_orphans(view, seen_entries(view))]
    elif finding.state in _WEIGHS:
        spoken_of = _versions(view, finding)
        told = [version for version in files if any(version in run for run in spoken_of)]
        found = [(version, file) for version in told for file in files[version]]
    else:
        found = []
    return sorted(found, key=lambda one: (one[1].modified_at, one[1].name))[:MOST_COPIES]


def _uncopied_files(view: LogView) -> Mapping[int, Sequence[LogObject]]:
    found: defaultdict[int, list[LogObject]] = defaultdict(list)
    for version, files in (*view.temp_by_version.items(), *view.staged_by_version.items()):
        found[version] += [file for file in files if view.is_copy(file) is not True]
    for known in view.facts.provenance.values():
        found[known.version] += _accepted_without_version(view, known)
    return {version: files for version, files in found.items() if files}


def _accepted_without_version(view: LogView, known: Provenance) -> Iterator[LogObject]:
    """Accepted files whose names say no version, as those of delta-rs."""
    for one in known.acceptances:
        look = accepted_look(view, known.version, one.file_name)
        file = look.object if look else None
        if file is not None and written_for(file.name) is None and not is_published(view, known, one):
            yield file


def _versions(view: LogView, finding: Finding) -> list[range]:
    """All versions of which it speaks, or says that something of theirs is not there, in runs, which may be long."""
    listed = finding.evidence.get("all_versions")  # of one that was drawn together, where they are no run
    singly = [one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, int)]
    return [finding.versions, *_gone(view, finding), *(range(one, one + 1) for one in singly)]


def _gone(view: LogView, finding: Finding) -> list[range]:
    """The versions whose commit files it says are not there."""
    if finding.code == "vanished":
        return [range(version, version + 1) for version in vanished_versions(view)]
    return [_run(absence) for absence in finding.absent if absence.what == COMMIT_FILE]


def _run(absence: Absence) -> range:
    return range(absence.first, absence.last + 1)


def _lost(view: LogView, finding: Finding, kept: set[int]) -> list[tuple[int, list[str]]]:
    """Files of which an old S3 version may be the last copy, by version, of very many the newest."""
    newest_first = sorted(_gone(view, finding), key=lambda run: -run.stop)
    versions = chain.from_iterable(reversed(run) for run in newest_first)
    found = {version: [commit_name(version)] for version in islice(versions, MOST_LOST)}
    for absence in finding.absent:
        if names := _in_the_log(absence.what, absence.first):
            found.setdefault(absence.first, []).extend(names)
    replaced = finding.version if finding.state is State.UNSAFE and finding.code in _REPLACED else None
    if replaced is not None and replaced not in kept:
        found[replaced] = [commit_name(replaced)]
    return [(version, list(dict.fromkeys([*names, *_accepted(view, version)]))) for version, names in found.items()]


def _accepted(view: LogView, version: int) -> Iterator[str]:
    """Files that were seen to be accepted as the version and are gone too."""
    known = view.facts.provenance.get(version)
    for one in known.acceptances if known else ():
        look = accepted_look(view, version, one.file_name)
        if look is not None and look.present is False:
            yield look.name


def lost_files(finding: Finding, verdict: Verdict) -> Iterator[tuple[int, str]]:
    """Version and name, relative to `_delta_log/`: the commit's own file, and the temp or staged one accepted as it."""
    if finding.state not in LOUD:
        return
    if finding.code in OF_A_FILE_THAT_IS_THERE:
        yield from ((version, commit_name(version)) for version in finding.versions[:MOST_FILES])
    for absence in finding.absent:
        for version in range(absence.first, min(absence.last, absence.first + MOST_FILES - 1) + 1):
            accepted = (one.file for one in verdict.entries if one.version == version and one.file_present is False)
            names = [name for named in (absence.what, *accepted) for name in _in_the_log(named, version)]
            if names or absence.what == COMMIT_FILE:
                yield from ((version, name) for name in (commit_name(version), *names))


def was_seen(known: Provenance | None, name: str, size: int, etag: str) -> bool:
    """Whether a file is the very one that an earlier reading found under this name, and nothing disputes that."""
    if known is None or known.disputed:
        return False
    if name == commit_name(known.version):
        return known.differs_etag is None and is_same_file(known, size, etag)
    accepted = [one for one in known.acceptances if _bare(one.file_name or "") == _bare(name)]
    return any(one.size in (None, size) and one.etag == etag for one in accepted)


def _in_the_log(name: str, version: int) -> tuple[str, ...]:
    """The names that a temp or staged file may have in the log: a coordinator names a staged one without its folder."""
    if is_temp_of(name, version):
        return (name,)
    if staged_file_version(name) != version:
        return ()
    return (name,) if "/" in name else tuple(f"{folder}/{name}" for folder in STAGED_FOLDERS)


def _bare(name: str) -> str:
    return name.rpartition("/")[2]
