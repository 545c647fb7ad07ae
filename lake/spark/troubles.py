"""Troubles that a person can end, told by what Spark, S3A and the executors' Python say of them. Pure."""

import re
from collections.abc import Callable

from lake.spark.messages import SparkError

REFUSED = "SparkRefused"
"""The type of what no second try would change."""
WITHOUT_MEMORY = "OUT_OF_MEMORY"
WITHOUT_ROOM = "DISK_FULL"

_WORKER = "An exception was thrown from the Python worker"
_PYTHON = re.compile(r"^(?:[a-z_][\w.]*\.)?([A-Z]\w*): (.+)$", re.MULTILINE)
_AWS_CODE = re.compile(r" \(([\w.]+)(?:, request [^)]*)?\)(?:; the permission \S+ is missing)?\.$")
# Keys may hold blanks, so that a place ends where a sentence does.
_PLACE = re.compile(r"s3[an]?://([^/\s`'\"]+)(/[^\n`'\"]*?)?(?=[`'\"\n]|: |\. |\.?$)", re.MULTILINE)

Tell = Callable[[str, str], SparkError]


def trouble_of(kind: str, text: str) -> SparkError | None:
    """The trouble behind an exception of the class `kind` with that whole text, traces included; None for another."""
    if _WORKER in text and (told := _of_python(text)) is not None:
        return told
    for pattern, tell in _TROUBLES:
        found = pattern.search(text)
        if found is not None:
            return tell(kind, text[found.start() :])
    return None


def _of_python(text: str) -> SparkError | None:
    """The last line of an executor's trace, which is what was raised there."""
    raised = _PYTHON.findall(text.partition("JVM stacktrace")[0].partition("\n\tat ")[0])
    if not raised:
        return None
    name, said = raised[-1]
    if "[Errno 28]" in said:
        return _disk_full(name, said)
    # What an AwsError says of itself ends with its code.
    code = _AWS_CODE.search(said.strip()) if name == "AwsError" else None
    return SparkError(name, code[1] if code else "", said.strip())


def _no_bucket(kind: str, text: str) -> SparkError:
    found = _PLACE.search(text)
    bucket = f"bucket {found[1]}" if found else "bucket that was named"
    return SparkError(kind, "NO_SUCH_BUCKET", f"The {bucket} does not exist: create it, or correct its name.")


def _denied(kind: str, text: str) -> SparkError:
    cure = "grant the role of the connection s3:ListBucket and s3:GetObject to read and s3:PutObject to write there."
    return SparkError(kind, "ACCESS_DENIED", f"S3 denies access to {_place(text)}: {cure}")


def _missing(kind: str, text: str) -> SparkError:
    cure = "restore it, or start anew without it."
    return SparkError(REFUSED, "FILE_MISSING", f"{_place(text)} is not there: {cure}")


def _unreadable(kind: str, text: str) -> SparkError:
    why = "it is cut off, damaged or of another format"
    return SparkError(
        REFUSED, "FILE_UNREADABLE", f"{_place(text)} cannot be read, as {why}: start anew with a whole one."
    )


def _disk_full(kind: str, text: str) -> SparkError:
    cure = "free some below LEVEE_HOME, or on the cluster's workers, then try again."
    return SparkError(kind, WITHOUT_ROOM, f"The disk that Spark works on has no space left: {cure}")


def out_of_memory(kind: str, text: str = "") -> SparkError:
    """The trouble of a Spark that has no memory left."""
    cure = "let it run on a machine or cluster with more, or split the work by prefixes."
    return SparkError(kind, WITHOUT_MEMORY, f"Spark ran out of memory: {cure}")


def _credentials(kind: str, text: str) -> SparkError:
    cure = "renew the credentials of the connection, then try again."
    return SparkError(kind, "CREDENTIALS_REFUSED", f"AWS does not take Spark's credentials, or no longer: {cure}")


def _place(text: str) -> str:
    found = _PLACE.search(text)
    return f"s3://{found[1]}{found[2] or ''}" if found else "A file"


# The first that is found is told, so what causes others comes before them.
_TROUBLES: tuple[tuple[re.Pattern[str], Tell], ...] = (
    (re.compile(r"No space left on device|Disk quota exceeded"), _disk_full),
    (re.compile(r"OutOfMemoryError|Java heap space|GC overhead limit|UNABLE_TO_ACQUIRE_MEMORY"), out_of_memory),
    (re.compile(r"`?s3[an]?://[^\n]{0,2000}?(?:NoSuchBucket|Bucket does not exist)"), _no_bucket),
    (re.compile(r"\b(?:ExpiredToken|InvalidAccessKeyId|SignatureDoesNotMatch)\b"), _credentials),
    (re.compile(r"AccessDeniedException: `?s3[an]?://"), _denied),
    (re.compile(r"\[PATH_NOT_FOUND\]|\[FAILED_READ_FILE\.FILE_NOT_EXIST\]"), _missing),
    (re.compile(r"FileNotFoundException: (?:No such file or directory: )?`?s3[an]?://"), _missing),
    (re.compile(r"\[FAILED_READ_FILE\b[^\]]*\]|\[CANNOT_READ_FILE_FOOTER\]"), _unreadable),
)
