"""What is known of one version, by name and value: of a file that is there what it says, else what was seen of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from coordinator.models import Commit, DeltaTable, ProvenanceRow
from coordinator.versions import VersionRow
from dashboard.web import text


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """`file` are facts of the published file, `info` what it says or, where it is gone, what was seen before. What is
    not known is left out.
    """

    file: list[tuple[str, str]]
    info: list[tuple[str, str]]


def known_version(table: DeltaTable, row: VersionRow) -> KnownVersion:
    commit = row.commit
    if row.file_present:
        return KnownVersion(_known(_of_file(commit)), _known(_of_commit(commit)))
    seen = ProvenanceRow.objects.select_related("identity").filter(table=table, version=row.version).first()
    return KnownVersion([], _known((*_of_what_was_seen(seen), *_of_commit(commit))))


def _known(facts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in facts if value]


def _of_file(commit: Commit | None) -> Iterator[tuple[str, str]]:
    if commit is not None:
        yield "Size", "" if commit.size is None else text.file_size(commit.size)
        yield "Modified", _moment(commit.modified_at)
        yield "ETag", commit.etag
        yield "Checkpoint", "At this version" if commit.has_checkpoint else "None at this version"


def _of_commit(commit: Commit | None) -> Iterator[tuple[str, str]]:
    if commit is not None:
        yield "Committed", _moment(commit.committed_at)
        yield "Operation", commit.operation
        yield "Writer", commit.engine
        yield "Files added", "" if commit.added_files is None else text.thousands(commit.added_files)
        yield "Files removed", "" if commit.removed_files is None else text.thousands(commit.removed_files)


def _of_what_was_seen(seen: ProvenanceRow | None) -> Iterator[tuple[str, str]]:
    if seen is None:
        return
    yield "Seen accepted", _moment(seen.accepted_at)
    yield "Accepted by", f"{seen.identity.lock_domain} in {seen.identity.store}" if seen.identity else ""
    yield "Accepted file", seen.file_name
    yield "Its size", "" if seen.accepted_size is None else text.file_size(seen.accepted_size)
    yield "Seen published", _moment(seen.seen_at)
    yield "Size when seen", "" if seen.size is None else text.file_size(seen.size)
    yield "ETag when seen", seen.etag


def _moment(at: datetime | None) -> str:
    return text.exact(at) if at else ""
