"""Completion reports of S3 Batch Operations: their manifest.json and the CSV files of their results.

The schema line of a report says "... TaskStatus, ErrorCode, HTTPStatusCode, ResultMessage"; its rows carry the HTTP
status before the error code (S3 User Guide, "Examples: S3 Batch Operations completion reports"): the real order is
written. Rows are read in lake.spark.backups.reports.
"""

import base64
import csv
import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from lake.backup.objects import FileUnreadable, TaskResult, encoded_key

FORMAT = "Report_CSV_20180820"
SCHEMA = "Bucket, Key, VersionId, TaskStatus, ErrorCode, HTTPStatusCode, ResultMessage"
SUCCEEDED, FAILED = "succeeded", "failed"


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One CSV file of a report: all its rows succeeded, or all failed. `md5` is hexadecimal."""

    succeeded: bool
    bucket: str
    key: str
    md5: str


def report_folder(prefix: str, job_id: str) -> str:
    """The key below which S3 writes the report of a job; `prefix` is that of the job's request."""
    return f"{prefix}/job-{job_id}/" if prefix else f"job-{job_id}/"


def read_report_manifest(data: bytes, checksum: bytes) -> tuple[ResultFile, ...]:
    """The files that manifest.json names, read beside its manifest.json.md5, b"" where there is none.

    Raises FileUnreadable.
    """
    _check_sum(data, checksum)
    try:
        said = json.loads(data)
        if said["Format"] != FORMAT:
            raise FileUnreadable(f"The report has the unknown format {said['Format']!r}; only {FORMAT} can be read.")
        return tuple(_result_file(one) for one in said["Results"])
    except FileUnreadable:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise FileUnreadable(f"manifest.json of the report cannot be read: {error!r}.") from error


def write_report_manifest(files: Iterable[ResultFile], created_at: datetime) -> bytes:
    moment = created_at.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    results = [
        {
            "TaskExecutionStatus": SUCCEEDED if one.succeeded else FAILED,
            "Bucket": one.bucket,
            "MD5Checksum": one.md5,
            "Key": one.key,
        }
        for one in files
    ]
    said = {"Format": FORMAT, "ReportCreationDate": f"{moment}Z", "Results": results, "ReportSchema": SCHEMA}
    return json.dumps(said, ensure_ascii=False).encode()


def verify_result_file(file: ResultFile, pieces: Iterable[bytes]) -> None:
    """Raises FileUnreadable where the bytes, in pieces of any size, are not those whose MD5 the manifest states."""
    digest = hashlib.md5(usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    if digest.hexdigest() != file.md5.lower():
        raise FileUnreadable(
            f"s3://{file.bucket}/{file.key} has the MD5 {digest.hexdigest()}, and its manifest says {file.md5!r}."
        )


def write_results(results: Iterable[TaskResult]) -> bytes:
    """One file in the real order of columns, each in quotation marks, keys URL-encoded as in the manifest."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for one in results:
        word = SUCCEEDED if one.succeeded else FAILED
        writer.writerow([one.bucket, encoded_key(one.key), "", word, one.status, one.code, one.message])
    return text.getvalue().encode()


def _check_sum(data: bytes, checksum: bytes) -> None:
    """No document of S3's says how the digest is written: in hexadecimal or in base64, either is taken."""
    said = checksum.decode("ascii", "replace").strip().strip('"')
    digest = hashlib.md5(data, usedforsecurity=False)
    if said and said.lower() != digest.hexdigest() and said != base64.b64encode(digest.digest()).decode():
        raise FileUnreadable(
            f"manifest.json of the report has the MD5 {digest.hexdigest()}, and manifest.json.md5 says {said[:32]!r}."
        )


def _result_file(said: dict[str, object]) -> ResultFile:
    word = said["TaskExecutionStatus"]
    if word not in {SUCCEEDED, FAILED}:
        raise FileUnreadable(f"The report lists a file of tasks that are {word!r}: neither succeeded nor failed.")
    return ResultFile(word == SUCCEEDED, str(said["Bucket"]), str(said["Key"]), str(said["MD5Checksum"]))
