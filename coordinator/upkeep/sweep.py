"""Deleting finished temp files without a lifecycle rule: which are finished, and the deletion of just those.

A temp file of version N is finished once no entry may need it again: each entry of N is complete or gone, and N is
published, or was cleaned out of the log behind a checkpoint. A published version is never prepared anew (step 0 of a
write looks for its file), so a file once finished stays so.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from coordinator.protocols.names import temp_file_version
from coordinator.upkeep.calls import SweepTable
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.s3 import ObjectSummary
from lake.delta.log_store import read_entry
from lake.delta.names import NameKind, commit_name, parse_name

FINISHED = "finished"
_CHECKPOINTS = (NameKind.CHECKPOINT, NameKind.CHECKPOINT_PART, NameKind.CHECKPOINT_V2)
KEPT = {
    "no-version": "its name tells no version",
    "unpublished": "its version is not published",
    "incomplete": "an entry of its version is incomplete",
    "malformed": "an entry of its version cannot be read",
    "contested": "several locks gave its version to different commits",
}


MOST_SHOWN = 500
"""Files for which a plan writes out a command."""


@dataclass(frozen=True, slots=True)
class TempFile:
    """One temp file older than the limit: `verdict` is FINISHED, or why it is kept (a key of KEPT)."""

    key: str
    size: int
    etag: str
    version: int | None
    verdict: str


@dataclass(slots=True)
class Tally:
    """What a sweep found and did: files by verdict, bytes and files deleted, files that changed under its hands."""

    verdicts: Counter[str] = field(default_factory=Counter)
    finished_bytes: int = 0
    deleted: int = 0
    deleted_bytes: int = 0
    changed: int = 0
    shown: list[TempFile] = field(default_factory=list)

    def note(self, file: TempFile) -> None:
        self.verdicts[file.verdict] += 1
        if file.verdict == FINISHED:
            self.finished_bytes += file.size
            if len(self.shown) < MOST_SHOWN:
                self.shown.append(file)


def judge(version: int | None, published: bool, older_than_log: bool, items: Sequence[Mapping[str, Any] | None]) -> str:
    """FINISHED or why it is kept. `items` are the entries of its version, one for each lock domain, None: gone."""
    if version is None:
        return "no-version"
    entries = [read_entry(item) for item in items if item is not None]
    for entry in entries:
        if entry.complete is None or entry.version != version:
            return "malformed"
        if not entry.complete:
            return "incomplete"
    if len({entry.temp_path for entry in entries}) > 1:
        return "contested"
    return FINISHED if published or older_than_log else "unpublished"


def temp_files(call: SweepTable, lake: Lake) -> Iterator[TempFile]:
    """Temp files of one table last written before the limit, each judged by what is there now. Raises AwsError."""
    before = datetime.fromisoformat(call.before)
    pages = lake.s3.list(call.bucket, f"{call.folder}.tmp/")
    old = [one for page in pages for one in page.objects if one.modified_at < before and not one.key.endswith("/")]
    if not old:
        return
    versions = {_version(call, one) for one in old}
    published, cleaned_to = _published(call, lake, versions)
    entries: dict[int, list[Any]] = {}
    for one in old:
        version = _version(call, one)
        if version is not None and version not in entries:
            entries[version] = [_entry(lake, *domain, version) for domain in call.lock_domains]
        older = version is not None and version < cleaned_to
        verdict = judge(version, version in published, older, entries.get(version, []) if version is not None else [])
        yield TempFile(one.key, one.size, one.etag, version, verdict)


def sweep_table(
    call: SweepTable, lake: Lake, *, delete: bool, tally: Tally, check_cancelled: Callable[[], None]
) -> None:
    """Count the table's temp files, and with `delete` delete the finished ones, each if it still has its ETag.

    Raises AwsError; what was deleted until then is in the tally.
    """
    for file in temp_files(call, lake):
        tally.note(file)
        if not delete or file.verdict != FINISHED:
            continue
        check_cancelled()
        try:
            lake.s3.delete(call.bucket, file.key, etag=file.etag)
        except AwsError as error:
            if not error.is_condition_failed:
                raise
            tally.changed += 1
        else:
            tally.deleted += 1
            tally.deleted_bytes += file.size


def _version(call: SweepTable, file: ObjectSummary) -> int | None:
    return temp_file_version(file.key.removeprefix(call.folder))


def _entry(lake: Lake, store: str, table_path: str, version: int) -> Mapping[str, Any] | None:
    key = {"tablePath": {"S": table_path}, "fileName": {"S": commit_name(version)}}
    return lake.dynamodb.get_item(store, key)


def _published(call: SweepTable, lake: Lake, versions: set[int | None]) -> tuple[set[int], int]:
    """Which of the versions have a commit file, and the version below which clean-up has removed all.

    Clean-up removes commits only behind a checkpoint: where none lies at or above a missing version, that one is lost.
    """
    wanted = {version for version in versions if version is not None}
    last = max(wanted, default=-1)
    found: set[int] = set()
    first: int | None = None
    checkpoint = -1
    for page in lake.s3.list(call.bucket, call.folder, delimiter="/"):
        for one in page.objects:
            name = parse_name(one.key.removeprefix(call.folder))
            if name.version is not None and name.kind in _CHECKPOINTS:
                checkpoint = max(checkpoint, name.version)
            if name.version is None or name.kind is not NameKind.COMMIT:
                continue
            first = name.version if first is None else first
            if name.version in wanted:
                found.add(name.version)
            if name.version > last:
                return found, min(first, checkpoint + 1)
    return found, min(first if first is not None else 0, checkpoint + 1)
