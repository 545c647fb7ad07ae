"""Which files of the log a loud finding misses, so that older versions of them can be looked for. Pure."""

from collections.abc import Iterator

from coordinator.protocols.absence import COMMIT_FILE
from coordinator.protocols.names import STAGED_FOLDERS, commit_name, is_temp_of, staged_file_version
from coordinator.protocols.provenance import is_same_file
from coordinator.protocols.verdict import LOUD, Finding, Verdict
from lake.delta.facts import Provenance

OLDER_VERSIONS = "older_versions"
"""Where the evidence of a finding has what was found: a list with one document a file."""
OF_A_FILE_THAT_IS_THERE = ("overwritten", "empty-commit", "unreadable-commit")
"""Findings of a commit file that is not what it was, or never was whole."""
MOST_FILES = 4
"""Versions of one finding, and files of one table, that are looked for."""


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
    if is_temp_of(name, version) or (name.startswith(STAGED_FOLDERS) and staged_file_version(name) == version):
        return (name,)
    return tuple(f"{folder}/{name}" for folder in STAGED_FOLDERS) if staged_file_version(name) == version else ()


def _bare(name: str) -> str:
    return name.rpartition("/")[2]
