"""S3: listings, objects and their ranges, heads, conditional writes. A bucket elsewhere is followed there once."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from lake.aws.answers import AwsResponse, malformed, read_error, request_id, xml_text
from lake.aws.endpoints import Endpoints
from lake.aws.errors import AwsError
from lake.aws.list_page import ListingError, ListPage, ObjectSummary, bare_etag, read_list_page
from lake.aws.wire import Request, Wire

__all__ = ["S3", "ListPage", "ObjectBody", "ObjectSummary", "ObjectWrite"]

WRONG_REGION_STATUSES = frozenset({301, 307, 400})
OBJECT_OPERATIONS = frozenset({"s3:DeleteObject", "s3:GetObject", "s3:HeadObject", "s3:PutObject"})
OWNER_HEADER = "x-amz-expected-bucket-owner"
REGION_NAME = re.compile(r"[a-z0-9-]+")
CONTENT_RANGE = re.compile(r"bytes \d+-\d+/(\d+)")


@dataclass(frozen=True, slots=True)
class ObjectBody:
    """What a GET brought: `data` is the bytes asked for, `size` the bytes of the whole object."""

    data: bytes
    size: int
    etag: str
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class ObjectWrite:
    """What S3 said of a write: `etag` is the new object's, "" after a delete; `request_id` is what AWS support asks."""

    request_id: str
    etag: str = ""


class S3:
    """S3 of one connection; remembers the region of each bucket that turned out to lie elsewhere."""

    def __init__(self, wire: Wire, endpoints: Endpoints, region: str, owners: Mapping[str, str] | None = None) -> None:
        """`owners` are accounts by bucket: S3 refuses every request to one of these that another account owns."""
        self._wire = wire
        self._owners = owners or {}
        self._endpoints = endpoints
        self._region = region
        self._regions: dict[str, str] = {}

    def list(
        self, bucket: str, prefix: str, *, start_after: str = "", delimiter: str = "", max_keys: int = 1000
    ) -> Iterator[ListPage]:
        """Pages of keys under `prefix`, each asked for when it is wanted (ListObjectsV2).

        `start_after` is an exclusive bound on the key, `max_keys` the size of a page. Raises AwsError.
        """
        options = {
            "delimiter": delimiter,
            "encoding-type": "url",
            "list-type": "2",
            "max-keys": str(max_keys),
            "prefix": prefix,
            "start-after": start_after,
        }
        query = {name: value for name, value in options.items() if value}
        target = f"s3://{bucket}/{prefix}"
        token = ""
        while True:
            answer = self.ask("s3:ListObjectsV2", bucket, "", query=query, target=target)
            try:
                page, following = read_list_page(answer.body)
            except ListingError as reason:
                raise malformed(answer, str(reason), "s3:ListObjectsV2", target) from reason
            yield page
            if not following:
                return
            if following == token:
                raise malformed(answer, "the listing repeats its continuation token", "s3:ListObjectsV2", target)
            token = following
            query["continuation-token"] = token

    def get(self, bucket: str, key: str, *, first: int | None = None, last: int | None = None) -> ObjectBody:
        """The object, or its bytes `first` to `last` (both included); `first=-n` means the last n bytes.

        A range of an empty object is empty. Raises AwsError: NoSuchKey where it is absent, InvalidRange where `first`
        lies behind its end.
        """
        span = _range(first, last)
        headers = {"Range": span} if span else {}
        target = f"s3://{bucket}/{key}"
        try:
            answer = self.ask("s3:GetObject", bucket, key, headers=headers, target=target)
        except AwsError as error:
            # No byte of an empty object can be asked for: S3 answers 416 even to its last n bytes.
            if error.code != "InvalidRange" or (first or 0) > 0:
                raise
            answer = self.ask("s3:GetObject", bucket, key, target=target)
        return ObjectBody(
            data=answer.body,
            size=_whole_size(answer),
            etag=bare_etag(answer.headers.get("etag", "")),
            modified_at=_modified_at(answer, "s3:GetObject", target),
        )

    def head(self, bucket: str, key: str) -> ObjectSummary | None:
        """The object's summary, or None where it or its bucket is absent. Raises AwsError.

        Without s3:ListBucket, S3 says AccessDenied of an absent object.
        """
        target = f"s3://{bucket}/{key}"
        try:
            answer = self.ask("s3:HeadObject", bucket, key, method="HEAD", target=target)
        except AwsError as error:
            if error.code in {"NotFound", "NoSuchKey"}:
                return None
            raise
        size = answer.headers.get("content-length", "")
        if not size.isdecimal():
            raise malformed(answer, "the answer does not state the object's size", "s3:HeadObject", target)
        modified_at = _modified_at(answer, "s3:HeadObject", target)
        storage_class = answer.headers.get("x-amz-storage-class", "")
        return ObjectSummary(key, int(size), modified_at, bare_etag(answer.headers.get("etag", "")), storage_class)

    def put(self, bucket: str, key: str, data: bytes, *, encryption_key: str = "") -> ObjectWrite:
        """Write an object where none is (If-None-Match: *); nothing is ever overwritten. At most 5 GiB.

        `encryption_key` is the ARN of a KMS key, "" for what the bucket encrypts with.

        Raises AwsError: is_condition_failed where the key exists, which may be this very write, sent again because its
        first answer was lost; ConditionsUnsupported where the endpoint does not know the condition.
        """
        # A bucket with a default retention (Object Lock) takes no object without its digest.
        digest = b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        more = {"Content-MD5": digest} | encrypted_by(encryption_key)
        return self._write("s3:PutObject", "PUT", bucket, key, "If-None-Match", "*", data=data, more=more)

    def delete(self, bucket: str, key: str, *, etag: str) -> ObjectWrite:
        """Delete an object of that ETag, given without quotes (If-Match); an absent one counts as deleted.

        Raises AwsError: is_condition_failed where it has another ETag; ConditionsUnsupported as `put`.
        """
        if not etag:
            raise AwsError(
                "InvalidName", "no ETag was given to delete it by", "", "s3:DeleteObject", "", f"s3://{bucket}/{key}"
            )
        try:
            return self._write("s3:DeleteObject", "DELETE", bucket, key, "If-Match", f'"{etag}"')
        except AwsError as error:
            if error.code in {"NotFound", "NoSuchKey"}:
                return ObjectWrite(error.request_id)
            raise

    def _write(
        self,
        operation: str,
        method: str,
        bucket: str,
        key: str,
        header: str,
        condition: str,
        *,
        data: bytes = b"",
        more: Mapping[str, str] | None = None,
    ) -> ObjectWrite:
        target = f"s3://{bucket}/{key}"
        headers = {header: condition, **(more or {})}
        try:
            answer = self.ask(operation, bucket, key, method=method, headers=headers, body=data, target=target)
        except AwsError as error:
            if _is_unknown_condition(error, header):
                raise _conditions_unsupported(error, header) from error
            raise
        return ObjectWrite(request_id(answer), bare_etag(answer.headers.get("etag", "")))

    def ask(
        self,
        operation: str,
        bucket: str,
        key: str,
        *,
        target: str,
        method: str = "GET",
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> AwsResponse:
        """One S3 request, in the bucket's own region. Raises AwsError for every answer outside 2xx.

        An OWNER_HEADER among the headers takes the place of the account that is known; an empty one asks for none.
        """
        _check_names(operation, bucket, key, target, query or {})
        region, owner = self.region_of(bucket), self.owner_of(bucket)
        sent = {OWNER_HEADER: owner, **(headers or {})}
        request = Request(
            operation=operation,
            target=target,
            place=self._endpoints.bucket(bucket, key, region),
            region=region,
            method=method,
            query=tuple((query or {}).items()),
            headers={name: value for name, value in sent.items() if name != OWNER_HEADER or value},
            body=body,
        )
        answer = self._wire.send(request)
        named = _named_region(answer)
        if named and named != region:
            answer = self._follow(request, bucket, key, named)
        if 200 <= answer.status < 300:
            return answer
        if answer.status in {301, 307}:
            raise _redirected(answer, operation, target, named or region)
        error = read_error(answer, operation, target)
        raise _with_owner(error, owner) if owner and error.is_access_denied else error

    def owner_of(self, bucket: str) -> str:
        """The account that has to own the bucket, "" for any."""
        return self._owners.get(bucket, "")

    def owners_of(self, *buckets: str) -> dict[str, str]:
        """The accounts of those that a certain one has to own."""
        return {bucket: owner for bucket in buckets if (owner := self.owner_of(bucket))}

    def region_of(self, bucket: str) -> str:
        """The region in which the bucket last answered; that of the connection before it was asked."""
        return self._regions.get(bucket, self._region)

    def _follow(self, request: Request, bucket: str, key: str, named: str) -> AwsResponse:
        place = self._endpoints.bucket(bucket, key, named)
        answer = self._wire.send(replace(request, place=place, region=named))
        again = _named_region(answer)
        if again and again != named:
            raise _wrong_region(answer, request, again)
        self._regions[bucket] = named
        return answer


def encrypted_by(key: str) -> dict[str, str]:
    """The headers that let S3 encrypt what is written with a KMS key; none for ""."""
    name = "x-amz-server-side-encryption"
    return {name: "aws:kms", f"{name}-aws-kms-key-id": key} if key else {}


def _check_names(operation: str, bucket: str, key: str, target: str, query: Mapping[str, str]) -> None:
    """Refuse what S3 would take for another question, such as an empty key for the bucket itself."""
    if not bucket:
        raise AwsError("InvalidName", "the name of a bucket is empty", "", operation, "", target)
    if not key and operation in OBJECT_OPERATIONS:
        raise AwsError("InvalidName", "the key of an object is empty", "", operation, "", target)
    try:
        "".join((bucket, key, *query.values())).encode()
    except UnicodeEncodeError as error:
        raise AwsError(
            "InvalidName", f"it is not valid Unicode: {error.reason}", "", operation, "", ascii(target)
        ) from error


def _range(first: int | None, last: int | None) -> str:
    if first is not None and first < 0:
        return f"bytes={first}"
    if first is None and last is None:
        return ""
    return f"bytes={first or 0}-{'' if last is None else last}"


def _whole_size(answer: AwsResponse) -> int:
    ranged = CONTENT_RANGE.fullmatch(answer.headers.get("content-range", ""))
    return int(ranged.group(1)) if ranged else len(answer.body)


def _modified_at(answer: AwsResponse, operation: str, target: str) -> datetime:
    try:
        return parsedate_to_datetime(answer.headers["last-modified"]).astimezone(UTC)
    except (KeyError, ValueError, OverflowError) as error:
        raise malformed(answer, "the answer does not state when the object was modified", operation, target) from error


def _with_owner(error: AwsError, owner: str) -> AwsError:
    message = f"{error.message or 'it was refused'}, or the bucket no longer belongs to the account {owner}"
    return AwsError(error.code, message, error.request_id, error.operation, error.permission, error.target)


def _is_unknown_condition(error: AwsError, header: str) -> bool:
    """Amazon's own word for it, or a refusal that names the header, as S3-compatible stores say it."""
    if error.is_condition_failed or error.is_access_denied:
        return False
    return error.code in {"NotImplemented", "HTTP501"} or header.lower() in error.message.lower()


def _conditions_unsupported(error: AwsError, header: str) -> AwsError:
    message = (
        f"the endpoint does not support conditional writes ({header}), and without them a write could replace a "
        f"commit: nothing was written; use an S3 that supports them. It said: {error.message}"
    )
    return AwsError("ConditionsUnsupported", message, error.request_id, error.operation, "", error.target)


def _named_region(answer: AwsResponse) -> str:
    """The region that an answer of the wrong one names; HEAD answers name it in a header alone."""
    if answer.status not in WRONG_REGION_STATUSES:
        return ""
    named = answer.headers.get("x-amz-bucket-region", "") or xml_text(answer.body, b"Region")
    return named if REGION_NAME.fullmatch(named) else ""


def _wrong_region(answer: AwsResponse, request: Request, again: str) -> AwsError:
    error = read_error(answer, request.operation, request.target)
    message = (
        f"{request.region} refers to another region, and that one to {again}; "
        f"set the region and endpoint of the connection to those of the bucket"
    )
    return AwsError("WrongRegion", message, error.request_id, request.operation, "", request.target)


def _redirected(answer: AwsResponse, operation: str, target: str, asked: str) -> AwsError:
    error = read_error(answer, operation, target)
    elsewhere = answer.headers.get("location", "") or xml_text(answer.body, b"Endpoint") or "an unnamed endpoint"
    message = f"{asked} refers to {elsewhere}, and without another region's name that is not followed"
    return AwsError("WrongRegion", message, error.request_id, operation, "", target)
