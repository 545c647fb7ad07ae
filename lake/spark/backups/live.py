"""Which objects the logs of a bucket's tables name: read by the executors, one row for each file action."""

import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from lake.aws.access import Access
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.delta.checkpoint import read_checkpoint_state
from lake.delta.checksum import read_checksum
from lake.delta.facts import LogListing, LogObject
from lake.delta.file_actions import (
    FileAction,
    LogAction,
    LogUnreadable,
    Sidecar,
    checkpoint_files,
    commit_files,
    located,
    vector_id,
    vector_path,
)
from lake.delta.listing import read_listing
from lake.delta.live_files import FileReads, newest_checkpoint, plan_file_reads, retention_of
from lake.delta.names import SIDECAR_FOLDER
from lake.spark.backups.places import s3_of
from lake.spark.backups.stored import ObjectFile
from lake.spark.backups.tasks import Batches, batches_of

ACTIONS = (
    "table string, name string, vector_id string, keys array<string>, version bigint, is_add boolean, "
    "removed_at bigint, is_absolute boolean, counted bigint, problem string"
)
"""A file action: `keys` are of this bucket, `name` and `vector_id` tell files apart. Or, with a null `name`, what a
`.crc` counts as live at `version` (`counted`), or why a table's log cannot be read (`problem`)."""
READS = "table string, name string, size bigint, version bigint, kind string, problem string"
TABLES_AT_ONCE = 16
COMMITS_AT_ONCE = 64
BUFFER = 1024**2
COMMITS_BYTES = 64 * 1024**2
MOST_COMMIT_BYTES = 512 * 1024**2
"""A commit is held in memory while it is read; one above this is none that a writer makes."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Logs:
    """Where the logs lie, and the moment since which files count that were live."""

    access: Access
    bucket: str
    since: datetime

    @property
    def s3(self) -> S3:
        return s3_of(self.access)


def file_actions(roots: Any, logs: Logs, *, parallel: int) -> Any:
    """The rows of ACTIONS for the tables of `roots`, those of `table_roots`.

    First a task plans for a share of the tables what of their logs is to be read, then all of that is shared out anew,
    so that one large table is not one task's. Evaluated once: S3 is asked for every object each time.
    """
    reads = roots.select("root").repartition(parallel * 4).mapInArrow(_planning(logs), READS)
    return reads.repartition(parallel * 4).mapInArrow(_reading(logs), ACTIONS)


def _planning(logs: Logs) -> Callable[[Batches], Batches]:
    def plan(batches: Batches) -> Batches:
        with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
            for batch in batches:
                for rows in pool.map(lambda root: _reads(logs, root), batch.column("root").to_pylist()):
                    yield from batches_of(rows, READS)

    return plan


def _reads(logs: Logs, root: str) -> list[Row]:
    """What is to be read of one table's log, or one row with its problem."""
    try:
        reads = _planned(logs, root)
    except (LogUnreadable, AwsError) as error:
        return [(root, None, None, None, "problem", _sentence(error))]
    rows = [(root, found.name, found.size, reads.base, "checkpoint", None) for found in reads.checkpoint]
    rows += [(root, found.name, found.size, version, "commit", None) for version, found in reads.commits]
    rows += [(root, found.name, found.size, reads.newest + 1, "proposed", None) for found in reads.proposed]
    if reads.checksum is not None:
        rows.append((root, reads.checksum.name, reads.checksum.size, reads.newest, "checksum", None))
    return rows


def _planned(logs: Logs, root: str) -> FileReads:
    folder = _log(root)
    objects = (found for page in logs.s3.list(logs.bucket, folder) for found in page.objects)
    listing = read_listing(objects, folder, folders_listed=True)
    return plan_file_reads(listing, since=logs.since, retention=_retention(logs, folder, listing))


def _retention(logs: Logs, folder: str, listing: LogListing) -> timedelta:
    """How long the newest checkpoint kept tombstones by its own metaData; not at all where it cannot be read."""
    for found in newest_checkpoint(listing):
        state = read_checkpoint_state(_ranges(logs, folder, found), found.size, found.name)
        if state.metadata is not None:
            return retention_of(state.metadata.properties)
    return timedelta(0)


def _ranges(logs: Logs, folder: str, found: LogObject) -> Callable[[int, int], bytes]:
    return lambda first, last: logs.s3.get(logs.bucket, folder + found.name, first=first, last=last).data


def _reading(logs: Logs) -> Callable[[Batches], Batches]:
    def read(batches: Batches) -> Batches:
        with ThreadPoolExecutor(COMMITS_AT_ONCE) as pool:
            for batch in batches:
                small, large = _by_size(batch.to_pylist())
                for together in small:
                    bodies = pool.map(lambda row: _body(logs, row), together)
                    for row, body in zip(together, bodies, strict=True):
                        yield from batches_of(_told(logs, row, body), ACTIONS)
                for row in large:
                    yield from batches_of(_told(logs, row, b""), ACTIONS)

    return read


def _by_size(rows: list[dict[str, Any]]) -> tuple[list[list[dict[str, Any]]], list[dict[str, Any]]]:
    """Groups whose objects may be in memory together, and those that are read in pieces, or not at all."""
    groups: list[list[dict[str, Any]]] = [[]]
    large, held = [], 0
    for row in rows:
        if row["kind"] in {"checkpoint", "problem"}:
            large.append(row)
            continue
        if held + row["size"] > COMMITS_BYTES or len(groups[-1]) >= COMMITS_AT_ONCE:
            groups.append([])
            held = 0
        groups[-1].append(row)
        held += row["size"]
    return groups, large


def _body(logs: Logs, row: dict[str, Any]) -> bytes | AwsError | LogUnreadable:
    try:
        if row["size"] > MOST_COMMIT_BYTES:
            raise LogUnreadable(f"{row['name']} has {row['size']:,} bytes, and at most {MOST_COMMIT_BYTES:,} are read.")
        return logs.s3.get(logs.bucket, _log(row["table"]) + row["name"]).data
    except (AwsError, LogUnreadable) as error:
        return error


def _told(logs: Logs, row: dict[str, Any], body: bytes | AwsError | LogUnreadable) -> Iterator[Row]:
    """The rows of one object of a log; its table's problem, after what was read so far, where it cannot be read."""
    table = row["table"]
    try:
        if row["problem"] is not None:
            raise LogUnreadable(row["problem"])
        if isinstance(body, LogUnreadable):
            raise body
        if isinstance(body, AwsError):
            # An unpublished commit goes as soon as it is published, or has lost.
            if row["kind"] != "proposed" or body.code != "NoSuchKey":
                raise body
        elif row["kind"] == "checksum":
            yield from _counted(table, row["version"], body)
        else:
            for action in _actions(logs, row, body):
                if action.is_add or row["kind"] != "proposed":
                    yield _row(logs, table, action)
    except (LogUnreadable, AwsError) as error:
        yield (table, None, None, None, None, None, None, None, None, _sentence(error))


def _actions(logs: Logs, row: dict[str, Any], body: bytes) -> Iterator[FileAction]:
    version, name = row["version"], row["name"]
    if row["kind"] != "checkpoint":
        yield from (one for one in commit_files(version, body) if isinstance(one, FileAction))
        return
    for found in _of_checkpoint(logs, row["table"], name, row["size"], version):
        if isinstance(found, FileAction):
            yield found
        elif isinstance(found, Sidecar):
            sidecar = found.path.rpartition("/")[2]
            below = _of_checkpoint(logs, row["table"], f"{SIDECAR_FOLDER}{sidecar}", None, version)
            yield from (one for one in below if isinstance(one, FileAction))


def _of_checkpoint(logs: Logs, table: str, name: str, size: int | None, version: int) -> Iterator[LogAction]:
    key = _log(table) + name
    if name.endswith(".json"):
        return commit_files(version, logs.s3.get(logs.bucket, key).data)
    return checkpoint_files(version, io.BufferedReader(ObjectFile(logs.s3, logs.bucket, key, size), BUFFER))


def _counted(table: str, version: int, body: bytes) -> Iterator[Row]:
    counted = read_checksum(version, body).num_files
    if counted is not None:
        yield (table, None, None, None, version, None, None, None, counted, None)


def _row(logs: Logs, table: str, action: FileAction) -> Row:
    place = located(action.path, table, logs.bucket)
    keys, vector = place.keys, vector_path(action.vector)
    if vector:
        keys += located(vector, table, logs.bucket).keys
    return (
        table,
        place.name,
        vector_id(action.vector),
        list(keys),
        action.version,
        action.is_add,
        action.removed_at,
        place.is_absolute,
        None,
        None,
    )


def _sentence(error: LogUnreadable | AwsError) -> str:
    """Why a log cannot be read. Raises what is no trouble of one table alone: nothing can be said then."""
    if isinstance(error, AwsError) and not (error.is_access_denied or error.code in {"NoSuchKey", "InvalidRange"}):
        raise error
    return str(error)


def _log(root: str) -> str:
    return f"{root}/_delta_log/" if root else "_delta_log/"
