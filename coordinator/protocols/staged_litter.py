"""Staged files that are not the accepted copy of any commit."""

from collections.abc import Collection, Sequence

from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import staged_file_version
from lake.delta.facts import LogObject


def unaccepted_files(
    view: LogView, files: Sequence[LogObject], accepted: int, named: Collection[str]
) -> list[LogObject]:
    """Files above the newest accepted version: their writers died, or are about to commit. `named` are file names."""
    return [
        file
        for file in files
        if _name(file) not in named
        and (version := staged_file_version(file.name)) is not None
        and version > accepted
        and version not in view.published
    ]


def losing_files(view: LogView, files: Sequence[LogObject], accepted: int, named: Collection[str]) -> list[LogObject]:
    """Files of backfilled versions that are certainly not the accepted copy.

    The accepted copy has the published file's length. An equal ETag proves equal bytes, but an unequal one proves
    nothing where S3 encrypts with a key of its own for each object; so it counts only beside a copy whose ETag is
    equal.
    """
    copied = {staged_file_version(file.name) for file in files if _is_copy(view, file)}
    return [
        file
        for file in files
        if _name(file) not in named
        and (version := staged_file_version(file.name)) is not None
        and version <= accepted
        and (published := view.file(version).object) is not None
        and (file.size != published.size or (version in copied and not _is_copy(view, file)))
    ]


def _is_copy(view: LogView, file: LogObject) -> bool:
    version = staged_file_version(file.name)
    published = view.file(version).object if version is not None else None
    return published is not None and (file.size, file.etag) == (published.size, published.etag)


def _name(file: LogObject) -> str:
    return file.name.rpartition("/")[2]
