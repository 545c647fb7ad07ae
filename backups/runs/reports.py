"""Completion reports of S3 Batch Operations, believed file by file: where the manifest names it and has its MD5.

Layout: S3 User Guide, "Examples: S3 Batch Operations completion reports".
"""

import re
from collections.abc import Iterable, Iterator

from backups.models import CopyJob, Plan
from backups.runs.copies import report_of
from backups.runs.ports import ReportFile, Reports
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.completion_report import (
    ReportManifest,
    ResultFile,
    read_report_manifest,
    report_folder,
    verify_result_file,
)
from lake.backup.objects import FileUnreadable

_CHUNK = 16 * 1024 * 1024


def reports_of(s3: S3, rows: Iterable[CopyJob]) -> Reports:
    """What the copy jobs of a run report, with a sentence for each thing that is not believed. Raises AwsError.

    The Spark engine writes no manifest: its files are read where they lie.
    """
    places, files, doubts = [], [], []
    for row in rows:
        if row.engine == Plan.Engine.S3_BATCH:
            told = _Report(s3, row)
            files += told.files()
            doubts += told.doubts
        else:
            places.append(report_of(row))
    return Reports(tuple(places), tuple(files), tuple(doubts))


class _Report:
    """The report of one job of S3; `doubts` fills while its files are looked at."""

    def __init__(self, s3: S3, row: CopyJob) -> None:
        place = report_of(row)
        self._s3 = s3
        self._row = row
        self._bucket = place.bucket
        self._folder = report_folder(place.prefix.removesuffix("/"), row.aws_job_id)
        self.doubts: list[str] = []

    def files(self) -> list[ReportFile]:
        """The files that are as the manifest says; none of a job that ran no task, of which S3 writes no report."""
        if not self._row.done + self._row.failed:
            return []
        try:
            named = self._manifest().results
        except FileUnreadable as error:
            self._doubt(error)
            return []
        return [file for file in map(self._believed, named) if file is not None]

    def _manifest(self) -> ReportManifest:
        key = f"{self._folder}manifest.json"
        body = b"".join(_pieces(self._s3, self._bucket, key))
        beside = f"{key}.md5"
        checksum = self._s3.get(self._bucket, beside).data if self._s3.head(self._bucket, beside) else b""
        return read_report_manifest(body, checksum)

    def _believed(self, file: ResultFile) -> ReportFile | None:
        try:
            if file.bucket != self._bucket or not re.fullmatch(re.escape(self._folder) + r"results/[^/]+", file.key):
                raise FileUnreadable(f"its manifest names s3://{file.bucket}/{file.key}, which is not of this report.")
            head = self._s3.head(file.bucket, file.key)
            if head is None:
                raise FileUnreadable(f"s3://{file.bucket}/{file.key} is not there.")
            verify_result_file(file, _pieces(self._s3, file.bucket, file.key))
        except FileUnreadable as error:
            self._doubt(error)
            return None
        return ReportFile(file.bucket, file.key, head.size, head.etag)

    def _doubt(self, error: FileUnreadable) -> None:
        self.doubts.append(f"The report of copy job {self._row.number} is not believed: {error}")


def _pieces(s3: S3, bucket: str, key: str) -> Iterator[bytes]:
    """The bytes of an object, a range at a time, so that memory stays small however long it is."""
    read, size = 0, 1
    try:
        while read < size:
            body = s3.get(bucket, key, first=read, last=read + _CHUNK - 1)
            read, size = read + len(body.data), body.size
            yield body.data
    except AwsError as error:
        if error.is_missing or error.code == "InvalidRange":
            raise FileUnreadable(f"s3://{bucket}/{key} is not there, or became shorter while it was read.") from error
        raise
