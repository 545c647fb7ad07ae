"""Reading the XML of ListObjectsV2: a regular expression for pages of the usual shape, a tree for every other.

One page holds up to 1,000 objects. The usual shape is Amazon's: no name-space prefix, keys URL-encoded, Key,
LastModified, ETag and Size in this order. MinIO, Ceph and moto answer in it too; what does not is read more slowly.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from itertools import repeat
from urllib.parse import unquote_plus
from xml.etree import ElementTree

CONTENTS = re.compile(
    r"<Contents>\s*<Key>([^<]*)</Key>\s*<LastModified>([^<]+)</LastModified>\s*<ETag>([^<]*)</ETag>"
    r"[^<]*(?:<(?!Size>|/?Contents>)[^<]*)*<Size>(\d+)</Size>"
)
CLASSES = re.compile(r"<StorageClass>([^<]*)</StorageClass>")
PREFIXES = re.compile(r"<CommonPrefixes>\s*<Prefix>([^<]*)</Prefix>\s*</CommonPrefixes>")
TRUNCATED = re.compile(r"<IsTruncated>\s*true\s*</IsTruncated>", re.IGNORECASE)
TOKEN = re.compile(r"<NextContinuationToken>([^<]*)</NextContinuationToken>")
ENCODED = re.compile(r"<EncodingType>\s*url\s*</EncodingType>")


@dataclass(frozen=True, slots=True)
class ObjectSummary:
    """One object: `size` in bytes, `modified_at` in UTC, `etag` without its quotes.

    `storage_class` is S3's word ("STANDARD", "INTELLIGENT_TIERING"), "" where the answer names none.
    """

    key: str
    size: int
    modified_at: datetime
    etag: str
    storage_class: str = ""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a listing, in the order of the keys' UTF-8 bytes. `prefixes` end in the delimiter."""

    objects: tuple[ObjectSummary, ...]
    prefixes: tuple[str, ...]


class ListingError(ValueError):
    """The XML is cut off or is not a listing; the text is a clause that says how."""


def read_list_page(body: bytes) -> tuple[ListPage, str]:
    """One page, and the continuation token of the next or "". Raises ListingError."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ListingError(f"the listing is not UTF-8 at byte {error.start}") from error
    if not text.rstrip().endswith("ListBucketResult>"):
        raise ListingError("the listing is cut off or is no ListBucketResult")
    page = _read_usual(text) or _read_any(body)
    try:
        return page.finish()
    except (ValueError, OverflowError) as error:
        raise ListingError(f"the listing holds a value that cannot be read: {error}") from error


@dataclass(slots=True)
class _RawPage:
    """A page's texts, XML escapes undone; keys and prefixes still URL-encoded where `encoded`.

    `classes` are the storage classes of the objects in their order; empty where the page names none.
    """

    objects: list[tuple[str, str, str, str]] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    encoded: bool = False
    truncated: bool = False
    token: str = ""

    def finish(self) -> tuple[ListPage, str]:
        if self.truncated and not self.token:
            raise ListingError("the listing says that it goes on but names no continuation token")
        decode = _decode_url if self.encoded else str
        objects = tuple(
            ObjectSummary(decode(key), int(size), read_time(modified), bare_etag(etag), storage_class)
            for (key, modified, etag, size), storage_class in zip(
                self.objects, self.classes or repeat("", len(self.objects)), strict=True
            )
        )
        return ListPage(objects, tuple(map(decode, self.prefixes))), self.token if self.truncated else ""


def read_time(text: str) -> datetime:
    """An ISO 8601 time, whole or fractional seconds, as an aware datetime in UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def bare_etag(text: str) -> str:
    return text.replace("&quot;", "").replace("&#34;", "").strip('"')


def _decode_url(text: str) -> str:
    return unquote_plus(text, errors="strict") if "%" in text or "+" in text else text


def _read_usual(text: str) -> _RawPage | None:
    """The page by regular expression, or None where its shape is another and a match could miss something."""
    if not ENCODED.search(text):
        return None
    objects = CONTENTS.findall(text)
    prefixes = PREFIXES.findall(text)
    if len(objects) != text.count("<Contents") or len(prefixes) != text.count("<CommonPrefixes"):
        return None
    if any("&" in key for key, *_ in objects) or any("&" in prefix for prefix in prefixes):
        return None
    classes = CLASSES.findall(text)
    if classes and len(classes) != len(objects):
        return None
    token = TOKEN.search(text)
    following = unescape(token.group(1)) if token else ""
    return _RawPage(objects, classes, prefixes, True, bool(TRUNCATED.search(text)), following)


def _read_any(body: bytes) -> _RawPage:
    try:
        root = ElementTree.fromstring(body)  # noqa: S314 - expat bounds what entities may grow to
    except ElementTree.ParseError as error:
        raise ListingError(f"the listing is not well-formed XML: {error}") from error
    page = _RawPage(
        prefixes=[found.text or "" for found in root.iterfind("{*}CommonPrefixes/{*}Prefix")],
        encoded=root.findtext("{*}EncodingType", "").strip() == "url",
        truncated=root.findtext("{*}IsTruncated", "").strip().lower() == "true",
        token=root.findtext("{*}NextContinuationToken", ""),
    )
    for found in root.iterfind("{*}Contents"):
        texts = {child.tag.rpartition("}")[2]: child.text or "" for child in found}
        try:
            page.objects.append((texts["Key"], texts["LastModified"], texts.get("ETag", ""), texts["Size"]))
        except KeyError as error:
            raise ListingError(f"the listing has an object without {error.args[0]}") from error
        page.classes.append(texts.get("StorageClass", ""))
    return page
