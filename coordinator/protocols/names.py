"""Names under `_delta_log/` that items of a commit store may hold, and paths that spell one table differently.

Values come from items that anybody may have edited, so each is tested before it is looked up.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from lake.delta.facts import LogStoreEntry
from lake.delta.log_store import place_of
from lake.delta.names import MAX_VERSION, NameKind, parse_name
from lake.delta.uri import TableUri, same_table

STAGED_FOLDERS = ("_staged_commits", "_commits")
"""Folder of staged commits: Delta 4.0.0 to 4.4.0, and 3.3.x."""

Written = TypeVar("Written")

_SCHEME = re.compile(r"s3[an]?:/+", re.IGNORECASE)


def is_version(value: int | None) -> bool:
    """Whether a Delta version (a Java long, 0 or above) can have this value."""
    return value is not None and 0 <= value <= MAX_VERSION


def temp_file_version(name: str) -> int | None:
    """The version in the name of a temp file; None for delta-rs' `_commit_<uuid>.json.tmp`, which holds none."""
    parsed = parse_name(name)
    return parsed.version if parsed.kind is NameKind.TEMP else None


def is_temp_of(name: str, version: int) -> bool:
    """Whether `name` is a temp file that an entry of `version` may name."""
    parsed = parse_name(name)
    return parsed.kind is NameKind.TEMP and parsed.unique != "" and parsed.version in (None, version)


def is_moved_temp(name: str) -> bool:
    """Whether the temp file is one of delta-rs, which moves it to the published name and leaves nothing behind."""
    return name.startswith("_commit_")


def commit_name(version: int) -> str:
    """The name of a version's published file, relative to `_delta_log/`, of a number that is none as well."""
    return f"{version:020d}.json"


def staged_file_version(name: str) -> int | None:
    """The version in the name of a staged file, with or without its folder; None where it is not one."""
    parsed = parse_name(f"{STAGED_FOLDERS[0]}/{name.rpartition('/')[2]}")
    return parsed.version if parsed.kind is NameKind.STAGED else None


def written_for(name: str) -> int | None:
    """The version that a temp or staged file was written for, by its name; None where that holds none."""
    version = temp_file_version(name)
    return version if version is not None else staged_file_version(name)


def same_place(one: str, other: str) -> bool:
    """Whether two paths mean one place on S3, whatever their scheme and the slashes at their ends."""
    return _place(one) == _place(other)


def names_place(path: str, uri: str) -> bool:
    """Whether a `tablePath` may mean the table: to the letter, as Hadoop stores it, or as a URL of delta-rs."""
    return same_place(path, uri) or ("%" in path and _is_at(TableUri.parse_url, path, uri))


def is_entry_of(entry: LogStoreEntry, uri: str) -> bool:
    """Whether an entry speaks of the table, by how its writer stores paths."""
    return _is_at(place_of, entry, uri)


def _is_at(read: Callable[[Written], TableUri], written: Written, uri: str) -> bool:
    try:
        return same_table(read(written), uri)
    except ValueError:
        return False


def _place(path: str) -> str:
    return _SCHEME.sub("", path).strip("/")
