"""Names under `_delta_log/` that items of a commit store may hold, and paths that spell one table differently.

Values come from items that anybody may have edited, so each is tested before it is looked up.
"""

import re

from lake.delta.names import MAX_VERSION, NameKind, parse_name

STAGED_FOLDERS = ("_staged_commits", "_commits")
"""Folder of staged commits: Delta 4.0.0 to 4.4.0, and 3.3.x."""

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


def look_alike(one: str, other: str) -> bool:
    """Whether two paths differ at most in scheme, letter case and slashes, so that a writer may have meant the same."""
    return _loosely(one) == _loosely(other)


def _place(path: str) -> str:
    return _SCHEME.sub("", path).strip("/")


def _loosely(path: str) -> str:
    return re.sub(r"/+", "/", _place(path.strip())).casefold()
