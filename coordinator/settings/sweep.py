"""Deleting temp files without a lifecycle rule: which are proven to be needed by nobody, and their deletion alone.

What proves it is rule 1 of docs/decisions/007 (`coordinator.protocols.survivors`). A published version is never
prepared anew (step 0 of a write looks for its file), so what is proven stays so while the published file is there.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from changes.calls import Answer, LakeCall, Permission, Result, Sending, bucket_arn, objects_of, table_arn
from coordinator.protocols.wording import counted
from coordinator.settings.sweep_reading import SweptVersion, swept_versions
from lake.aws.errors import AwsError

if TYPE_CHECKING:
    from lake.aws.access import Lake
    from lake.delta.facts import Provenance

FINISHED = "finished"
Recall = Callable[[int], "Provenance | None"]


MOST_SHOWN = 3
"""Files that a plan names."""


@dataclass(frozen=True, slots=True)
class SweepTable(LakeCall):
    """Delete temp files of one table that no commit needs, last written before `before` (ISO 8601), each by its ETag.

    `folder` is the key of its `_delta_log/`; `lock_domains` are the tablePaths, each with its DynamoDB table, whose
    entries may name such a file. `is_guarded` says that one lock domain is known to guard the table: without it a file
    goes only where the published one holds its bytes. `recall` tells what was seen of versions before; it is asked as
    the call is sent, and no digest rests on it.
    """

    operation: ClassVar[str] = "s3:DeleteObject"
    bucket: str
    folder: str
    before: str
    lock_domains: tuple[tuple[str, str], ...]
    says: str
    is_guarded: bool = True
    recall: Recall = field(default=lambda version: None, repr=False, compare=False)

    @property
    def condition(self) -> str:
        return (
            "its bytes are those of the published file, or its version's entry or checksum shows that another was "
            "accepted; and its ETag is as read"
        )

    @property
    def permissions(self) -> tuple[Permission, ...]:
        objects, stores = objects_of(self.bucket), sorted({store for store, _ in self.lock_domains})
        return (
            Permission("s3:DeleteObject", objects),
            Permission("s3:GetObject", objects),
            Permission("s3:ListBucket", bucket_arn(self.bucket)),
            *(Permission("dynamodb:GetItem", table_arn(store)) for store in stores),
        )

    def send(self, sending: Sending) -> Answer:
        tally = Tally()
        try:
            sweep_table(self, sending.lake, delete=True, tally=tally, check_cancelled=sending.check_cancelled)
        except AwsError as error:
            sending.note(error.request_id)
            return Answer(Result.FAILED, str(error), error.code, tally.counts)
        more = f", {tally.changed:,} changed meanwhile and stay" if tally.changed else ""
        sentence = f"{self.folder}.tmp/: {counted(tally.deleted, 'file')} deleted{more}."
        return Answer(Result.DONE, sentence, counts=tally.counts)


@dataclass(frozen=True, slots=True)
class TempFile:
    """One temp file older than the limit: `verdict` is FINISHED, or completes "It is kept, for …"."""

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
    shown: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {"deleted": self.deleted, "deleted_bytes": self.deleted_bytes, "changed": self.changed}

    def note(self, file: TempFile) -> None:
        self.verdicts[file.verdict] += 1
        if file.verdict == FINISHED:
            self.finished_bytes += file.size
            if len(self.shown) < MOST_SHOWN:
                self.shown.append(file.key)


def temp_files(call: SweepTable, lake: "Lake") -> Iterator[TempFile]:
    """Temp files of one table last written before the limit, each judged by what is there now. Raises AwsError."""
    before = datetime.fromisoformat(call.before)
    for one in swept_versions(call, lake, before):
        yield from _judged(call, one, before)


def _judged(call: SweepTable, one: SweptVersion, before: datetime) -> Iterator[TempFile]:
    """The old files of one version. A copy stays beside a rival of which nothing shows that it lost."""
    fates = one.fates()
    rival = any(not fate.may_go for _, fate in fates)
    for file, fate in fates:
        if file.modified_at < before:
            verdict = fate.why or (FINISHED if not rival else "it tells which file of its version was published")
            yield TempFile(call.folder + file.name, file.size, file.etag, one.version, verdict)


def sweep_table(
    call: SweepTable, lake: "Lake", *, delete: bool, tally: Tally, check_cancelled: Callable[[], None]
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
