"""Copies inside S3: one request up to 5 GiB, parts above; the bytes never leave S3, and the source's ETag pins them."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import escape, unescape
from typing import Any
from urllib.parse import quote, urlencode

from lake.aws.answers import AwsResponse, malformed, read_error, xml_text
from lake.aws.errors import AwsError
from lake.aws.list_page import bare_etag
from lake.aws.s3 import S3, encrypted_by

COPY_LIMIT = 5 * 1024**3
"""The most bytes that one CopyObject or one part takes (S3 User Guide, "Copying, moving, and renaming objects")."""
MOST_PARTS = 10_000
PART_BYTES = 512 * 1024**2

_DESCRIBING = frozenset(
    {"cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires"}
)
_USER_METADATA = "x-amz-meta-"
_TAG = re.compile(r"<Tag>\s*<Key>([^<]*)</Key>\s*<Value(?:\s*/>|>([^<]*)</Value>)")


@dataclass(frozen=True, slots=True)
class Copy:
    """One object to copy. `etag` is the source's, without quotes: where it has another by now, nothing is copied.

    Tags come along only `with_tags`, and reading them needs a permission of its own.
    """

    source_bucket: str
    source_key: str
    bucket: str
    key: str
    size: int
    etag: str = ""
    storage_class: str = ""
    encryption_key: str = ""
    with_tags: bool = True

    @property
    def target(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def copied(s3: S3, copy: Copy) -> str:
    """Copy in one request, or in parts where it is too large for one; the new ETag. Raises AwsError as those do."""
    return copy_object(s3, copy) if copy.size <= COPY_LIMIT else copy_in_parts(s3, copy)


def copy_object(s3: S3, copy: Copy) -> str:
    """Copy by one CopyObject and return the new ETag; metadata and tags come along.

    Raises AwsError: is_condition_failed where the source changed, NoSuchKey where it is gone, is_archived. S3 may tell
    of a failure in an answer with status 200, which is raised alike.
    """
    headers = _source(s3, copy) | _kept_as(copy) | _tagged_as(copy)
    answer = _ask(s3, copy, "s3:CopyObject", method="PUT", headers=headers)
    return _copied_etag(answer, "s3:CopyObject", copy)


def copy_in_parts(s3: S3, copy: Copy, *, part_bytes: int = PART_BYTES) -> str:
    """Copy by UploadPartCopy and return the new ETag, which is one of parts; metadata and tags come along.

    S3 brings them along by itself only in CopyObject, so they are asked for first. A part is at least `part_bytes`, and
    larger where 10,000 of them would not do. Raises AwsError as `copy_object`; the upload is then taken back.
    """
    headers = _described(s3, copy) | _kept_as(copy)
    started = _ask(s3, copy, "s3:CreateMultipartUpload", method="POST", query={"uploads": ""}, headers=headers)
    upload = xml_text(started.body, b"UploadId")
    if not upload:
        raise malformed(started, "the answer names no upload", "s3:CreateMultipartUpload", copy.target)
    try:
        etags = [_copy_part(s3, copy, upload, number, span) for number, span in _spans(copy.size, part_bytes)]
        return _complete(s3, copy, upload, etags)
    except AwsError:
        with suppress(AwsError):
            _ask(s3, copy, "s3:AbortMultipartUpload", method="DELETE", query={"uploadId": upload})
        raise


def _spans(size: int, part_bytes: int) -> Iterator[tuple[int, str]]:
    step = max(part_bytes, -(-size // MOST_PARTS))
    for number, first in enumerate(range(0, size, step), start=1):
        yield number, f"bytes={first}-{min(first + step, size) - 1}"


def _copy_part(s3: S3, copy: Copy, upload: str, number: int, span: str) -> str:
    query = {"partNumber": str(number), "uploadId": upload}
    headers = _source(s3, copy) | {"x-amz-copy-source-range": span}
    answer = _ask(s3, copy, "s3:UploadPartCopy", method="PUT", query=query, headers=headers)
    return _copied_etag(answer, "s3:UploadPartCopy", copy)


def _complete(s3: S3, copy: Copy, upload: str, etags: list[str]) -> str:
    parts = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>&quot;{escape(etag)}&quot;</ETag></Part>"
        for number, etag in enumerate(etags, start=1)
    )
    body = f'<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{parts}</CompleteMultipartUpload>'
    query, headers = {"uploadId": upload}, {"Content-Type": "application/xml"}
    answer = _ask(
        s3, copy, "s3:CompleteMultipartUpload", method="POST", query=query, headers=headers, body=body.encode()
    )
    return _copied_etag(answer, "s3:CompleteMultipartUpload", copy)


def _ask(s3: S3, copy: Copy, operation: str, **request: Any) -> AwsResponse:
    """Ask S3 of the key that is copied to."""
    return s3.ask(operation, copy.bucket, copy.key, target=copy.target, **request)


def _source(s3: S3, copy: Copy) -> dict[str, str]:
    headers = {"x-amz-copy-source": f"/{copy.source_bucket}/{quote(copy.source_key, safe='/-_.~')}"}
    if owner := s3.owner_of(copy.source_bucket):
        headers["x-amz-source-expected-bucket-owner"] = owner
    return headers | ({"x-amz-copy-source-if-match": f'"{copy.etag}"'} if copy.etag else {})


def _kept_as(copy: Copy) -> dict[str, str]:
    headers = {"x-amz-storage-class": copy.storage_class} if copy.storage_class else {}
    return headers | encrypted_by(copy.encryption_key)


def _tagged_as(copy: Copy) -> dict[str, str]:
    return {} if copy.with_tags else {"x-amz-tagging-directive": "REPLACE"}


def _described(s3: S3, copy: Copy) -> dict[str, str]:
    """What describes the source, as headers that describe the copy alike."""
    target = f"s3://{copy.source_bucket}/{copy.source_key}"
    head = s3.ask("s3:HeadObject", copy.source_bucket, copy.source_key, method="HEAD", target=target)
    headers = {
        name: value
        for name, value in head.headers.items()
        if name.lower() in _DESCRIBING or name.lower().startswith(_USER_METADATA)
    }
    if copy.with_tags and int(head.headers.get("x-amz-tagging-count", "0")):
        headers["x-amz-tagging"] = _tags(s3, copy, target)
    return headers


def _tags(s3: S3, copy: Copy, target: str) -> str:
    """The source's tags as a query string."""
    query = {"tagging": ""}
    answer = s3.ask("s3:GetObjectTagging", copy.source_bucket, copy.source_key, query=query, target=target)
    found = _TAG.findall(answer.body.decode())
    return urlencode([(unescape(key), unescape(value)) for key, value in found], quote_via=quote)


def _copied_etag(answer: AwsResponse, operation: str, copy: Copy) -> str:
    etag = bare_etag(xml_text(answer.body, b"ETag"))
    if etag:
        return etag
    if xml_text(answer.body, b"Code"):
        raise read_error(answer, operation, copy.target)
    raise malformed(answer, "the answer states no ETag", operation, copy.target)
