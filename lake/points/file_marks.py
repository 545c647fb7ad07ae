"""The data files of a version that can be restored, by its log in the backup."""

import io
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import unquote

import orjson

from lake.aws.s3 import S3
from lake.delta.file_actions import LogUnreadable, checkpoint_rows, commit_rows, located, vector_id
from lake.delta.fingerprint import FileMark, LiveFile, mark
from lake.delta.names import LogName, NameKind, parse_name
from lake.points.copies import StoredLog
from lake.points.reading import RestorableVersion

_ADD = ("path", "size", "partitionValues", "deletionVector", "stats", "stats_parsed.numRecords")
_COLUMNS = tuple(f"add.{name}" for name in _ADD)


def file_marks(s3: S3, found: RestorableVersion, pool: ThreadPoolExecutor, *, is_open: bool) -> Collection[FileMark]:
    """The marks that a reader must see; with `is_open`, places are the whole URIs in the backup. Raises LogUnreadable,
    AwsError."""
    names = {one.key: parse_name(one.name) for one in found.log}
    base = max((name.version or 0 for name in names.values() if name.format), default=-1)
    # Readers take a checkpoint, with its sidecars, and the commits above it.
    ordered = sorted((name.version or 0, key) for key, name in names.items() if name.kind is NameKind.COMMIT)
    commits = [key for version, key in ordered if version > base]
    large = [key for key, name in names.items() if name.kind is not NameKind.COMMIT]
    log = StoredLog(s3, found.point.place.bucket, "", pool)
    live: dict[tuple[str, str], FileMark] = {}
    place = partial(_in_backup, found, frozenset(one.key for one in found.files)) if is_open else unquote
    for key, body in zip((*large, *commits), chain(map(log.body, large), log.bodies(commits)), strict=True):
        if isinstance(body, LogUnreadable):
            raise body
        added: dict[tuple[str, str], FileMark] = {}
        try:
            for row in _rows(names[key], body):
                if (remove := row.get("remove")) and names[key].kind is NameKind.COMMIT:
                    live.pop(_identity(remove), None)
                if add := row.get("add"):
                    added[_identity(add)] = _mark(add, place)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise LogUnreadable(f"{key} has an action that is none of Delta: {error}.") from error
        live |= added  # what a commit removes goes before what it adds, in whichever order they stand
    return live.values()


def _rows(name: LogName, body: bytes) -> Iterator[Mapping[str, Any]]:
    version = name.version or 0
    is_json = name.kind is NameKind.COMMIT or name.format == "json"
    return commit_rows(version, body) if is_json else checkpoint_rows(version, io.BytesIO(body), _COLUMNS)


def _identity(action: Mapping[str, Any]) -> tuple[str, str]:
    return action["path"], vector_id(action.get("deletionVector"))


def _in_backup(found: RestorableVersion, proven: Collection[str], path: str) -> str:
    """The URI in the backup of a file by its path in the log, which stays where it leads to no `proven` key."""
    source, place = found.point.source, found.point.place
    key = next(iter(located(path, source.prefix, source.bucket).keys), "")
    return place.below(key).uri if place.prefix + key in proven else path


def _mark(add: Mapping[str, Any], place: Callable[[str], str]) -> FileMark:
    file = LiveFile(add["path"], add["size"], dict(add.get("partitionValues") or ()), add.get("deletionVector"))
    stats = add.get("stats")
    try:
        rows = orjson.loads(stats)["numRecords"] if stats else add["stats_parsed"]["numRecords"]
    except (ValueError, LookupError, TypeError):
        rows = None
    return mark(file, place, rows if type(rows) is int else None)
