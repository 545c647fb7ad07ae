"""The data files of a version that can be restored, by its log in the backup."""

import io
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import unquote

import orjson

from lake.aws.s3 import S3
from lake.delta.file_actions import LogUnreadable, checkpoint_rows, commit_rows, located, vector_id
from lake.delta.fingerprint import FileMark, Fingerprint, LiveFile, fingerprint, mark
from lake.delta.names import NameKind, parse_name
from lake.points.reading import LogCopy, NotRestorable, RestorableVersion

_ADD = ("path", "size", "partitionValues", "deletionVector", "stats", "stats_parsed.numRecords")
_COLUMNS = (*(f"add.{name}" for name in _ADD), "remove.path", "remove.deletionVector")


def files_of(s3: S3, found: RestorableVersion, *, is_open: bool) -> Fingerprint:
    """What a reader has to see of the files, `is_open`: where they lie in the backup, named in full. Raises
    NotRestorable, AwsError."""
    live: dict[tuple[str, str], FileMark] = {}
    place = partial(_in_backup, found) if is_open else unquote
    for one in sorted(found.log, key=_in_order_of_reading):
        data, added = s3.get(found.point.place.bucket, one.key).data, dict[tuple[str, str], FileMark]()
        try:
            for row in _rows(one.name, data):
                if remove := row.get("remove"):
                    live.pop(_identity(remove), None)
                if add := row.get("add"):
                    added[_identity(add)] = mark(_live_file(add), place)
        except (LogUnreadable, LookupError, TypeError, ValueError, AttributeError) as error:
            raise NotRestorable(f"{one.name} has an action that is none of Delta: {error}") from error
        live |= added  # what a commit removes goes before what it adds, in whichever order they stand
    return fingerprint(live.values())


def _in_backup(found: RestorableVersion, path: str) -> str:
    """The URI of a file in the backup by its path in the log."""
    source = found.point.source
    keys = located(path, source.prefix, source.bucket).keys
    return found.point.place.below(keys[0]).uri if keys else path


def _in_order_of_reading(one: LogCopy) -> tuple[int, bool]:
    """Sidecars, which have no version, then the checkpoint, then commits."""
    name = parse_name(one.name)
    return (-1 if name.version is None else name.version, name.kind is NameKind.COMMIT)


def _rows(name: str, data: bytes) -> Iterator[Mapping[str, Any]]:
    parsed = parse_name(name)
    is_json = parsed.kind is NameKind.COMMIT or parsed.format == "json"
    version = parsed.version or 0
    return commit_rows(version, data) if is_json else checkpoint_rows(version, io.BytesIO(data), _COLUMNS)


def _identity(action: Mapping[str, Any]) -> tuple[str, str]:
    return action["path"], vector_id(action.get("deletionVector"))


def _live_file(add: Mapping[str, Any]) -> LiveFile:
    rows = (add.get("stats_parsed") or {}).get("numRecords")
    with suppress(ValueError):
        rows = orjson.loads(add.get("stats") or "{}").get("numRecords", rows)
    return LiveFile(add["path"], add["size"], dict(add.get("partitionValues") or ()), add.get("deletionVector"), rows)
