"""Finding Delta tables under a watched prefix: folders that hold a `_delta_log/`."""

from collections import deque
from collections.abc import Container
from dataclasses import dataclass

from coordinator.observation.workers import Workers
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.delta.uri import TableUri

MOST_LISTINGS = 20_000
"""Requests under one watched prefix in one pass; a prefix of more is not a lake's, and S3 bills each of them."""
MOST_PAGES = 50
"""Pages of one folder: a folder of that many files that shows no `_delta_log/` is left, and said."""
MOST_REFUSALS = 20
"""Refused folders named singly."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Tables found under one prefix; `problems` says what was not looked at: refused, too many, or without a place."""

    roots: tuple[TableUri, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Folder:
    name: str
    children: tuple[str, ...] = ()
    is_table: bool = False
    pages: int = 1
    cut_off: bool = False
    error: AwsError | None = None


def find_tables(s3: S3, prefix: TableUri, known_keys: Container[str], workers: Workers) -> Discovery:
    """List folder by folder below `prefix`, many at once; a folder that is a known table is not listed again.

    Hidden folders (`_x`, `.x`) and partition folders (`x=y`) are passed over: no table's root is named so, and a
    table that is not Delta may have many thousands of them. A folder that is refused is a problem, and the rest goes
    on. Raises AwsError when the prefix itself cannot be listed.
    """
    start = f"{prefix.key}/" if prefix.key else ""
    waiting = deque([start])
    roots: list[TableUri] = []
    problems: list[str] = []
    listings = left_out = 0

    def next_folder() -> str | None:
        return waiting.popleft() if waiting and listings < MOST_LISTINGS else None

    for folder in workers.each(lambda name: _list_folder(s3, prefix.bucket, name), next_folder):
        listings += folder.pages
        if folder.error is not None:
            if folder.name == start:
                raise folder.error
            problems.append(str(folder.error))
        elif folder.cut_off:
            problems.append(f"s3a://{prefix.bucket}/{folder.name} holds too many files to look through for tables.")
        if folder.is_table:
            _add_root(prefix.bucket, folder.name, roots, problems)
        new = [child for child in folder.children if child.rstrip("/") not in known_keys]
        room = max(0, MOST_LISTINGS - len(waiting))
        waiting.extend(new[:room])
        left_out += len(new[room:])
    return Discovery(tuple(roots), _bounded(problems, prefix, left_out + len(waiting)))


def _list_folder(s3: S3, bucket: str, name: str) -> _Folder:
    children: list[str] = []
    pages = 0
    try:
        for page in s3.list(bucket, name, delimiter="/"):
            pages += 1
            if f"{name}_delta_log/" in page.prefixes:
                return _Folder(name, is_table=True, pages=pages)
            children += filter(_may_hold_tables, page.prefixes)
            if pages == MOST_PAGES:
                return _Folder(name, tuple(children), pages=pages, cut_off=True)
    except AwsError as error:
        return _Folder(name, tuple(children), pages=pages + 1, error=error)
    return _Folder(name, tuple(children), pages=pages)


def _add_root(bucket: str, folder: str, roots: list[TableUri], problems: list[str]) -> None:
    # Parsed, so that a folder whose name no row can hold is refused as the same name in an item is.
    try:
        roots.append(TableUri.parse(f"s3a://{bucket}/{folder}"))
    except ValueError as error:
        problems.append(f"A table below s3a://{bucket}/ cannot be kept: {error}")


def _bounded(problems: list[str], prefix: TableUri, unlisted: int) -> tuple[str, ...]:
    named = problems[:MOST_REFUSALS]
    if len(problems) > len(named):
        named.append(f"{len(problems) - len(named):,} more folders could not be listed.")
    if unlisted:
        named.append(f"{unlisted:,} folders below {prefix.s3a} were left out after {MOST_LISTINGS:,} requests.")
    return tuple(named)


def _may_hold_tables(folder: str) -> bool:
    name = folder.rstrip("/").rsplit("/", 1)[-1]
    return bool(name) and name[0] not in "._" and "=" not in name
