"""Jobs that make a file of a list too long to be answered at once, and what becomes of their files.

A file lies in the database, in pieces: web processes and workers may share nothing else. It is there once its job has
succeeded: the UPDATE that ends the job stores its length and digest as well.
"""

import gzip
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

from django.utils import timezone

from dashboard.audit.queries import AuditFilter, export_rows
from dashboard.jobs.context import JobContext
from dashboard.jobs.models import ACTIVE, FINISHED, ExportPiece, Job, JobState
from dashboard.jobs.registry import job_kind
from dashboard.web.exports import lines
from dashboard.web.text import file_size

FORMS = {"csv": "CSV", "jsonl": "JSON lines"}
PIECE_BYTES = 512 * 1024
KEPT_FOR = timedelta(hours=24)
KEPT_OF_A_PERSON = 5
"""Files; no more are made for a person at a time."""
QUEUE = "aws"
"""Its worker has threads; that of the default queue has one, which the clock and the alerts need."""


class ExportParams(TypedDict):
    wanted: Mapping[str, Any]  # The filter of the list
    form: str  # One of FORMS


@job_kind("export-audit", queue=QUEUE, verb="list.export", changes_lake=False)
def export_audit(context: JobContext, params: ExportParams) -> str:
    return make_file(context, export_rows(AuditFilter(**params["wanted"])), params["form"])


def make_file(context: JobContext, rows: Iterable[Mapping[str, Any]], form: str) -> str:
    """Write `rows` as the file of the job, each piece in a transaction of its own; returns the job's final sentence."""
    digest, length, count = hashlib.sha256(), 0, 0
    with context.step("Write the file") as step:
        for piece, count in _pieces(lines(rows, form, "")):
            context.check_cancelled()
            ExportPiece.objects.create(job=context.job, content=gzip.compress(piece))
            digest.update(piece)
            length += len(piece)
            step.detail = f"{count:,} rows"
            context.progress(count, None)
    context.result({"rows": count, "bytes": length, "sha256": digest.hexdigest()})
    return f"{count:,} rows, {file_size(length)}."


def _pieces(rows: Iterable[str]) -> Iterator[tuple[bytes, int]]:
    """Yield the rows together until they are PIECE_BYTES or more, with how many have been yielded by then."""
    waiting, count = bytearray(), 0
    for count, row in enumerate(rows, 1):
        waiting += row.encode()
        if len(waiting) >= PIECE_BYTES:
            yield bytes(waiting), count
            waiting.clear()
    if waiting or not count:  # also a file without a row is one
        yield bytes(waiting), count


def others_under_way(kind: str, person: int | None, target: str) -> int:
    """How many files of a kind are being made for a person, beside that of a target."""
    return Job.objects.filter(kind=kind, requested_by=person, state__in=ACTIVE).exclude(target_id=target).count()


def kept_until(job: Job) -> datetime | None:
    """Return when the file of a job will be removed; None where it has none, or none that is whole."""
    until = job.finished_at + KEPT_FOR if job.finished_at and job.state == JobState.SUCCEEDED else None
    return until if until and until > timezone.now() and job.pieces.exists() else None


def content_of(job: Job) -> Iterator[bytes]:
    """The bytes of a file; each piece is a query of its own, so that nothing is open while a client is slow."""
    pieces = list(job.pieces.order_by("pk").values_list("pk", flat=True))
    return (gzip.decompress(job.pieces.values_list("content", flat=True).get(pk=piece)) for piece in pieces)


def prune_files(now: datetime) -> None:
    """Remove what jobs wrote that did not succeed, files of a day ago, and those before the newest of a person."""
    whole: Counter[int | None] = Counter()
    ended = Job.objects.filter(pk__in=ExportPiece.objects.values("job"), state__in=FINISHED)
    for job in ended.order_by("-finished_at"):
        is_whole = job.state == JobState.SUCCEEDED and (job.finished_at or now) > now - KEPT_FOR
        whole[job.requested_by_id] += is_whole
        if not is_whole or whole[job.requested_by_id] > KEPT_OF_A_PERSON:
            job.pieces.all().delete()
