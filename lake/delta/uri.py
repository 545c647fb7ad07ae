"""Where a Delta table is: its URI, the S3 key behind it, and the spellings under which log stores may hold it."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote, unquote

SCHEMES = ("s3a", "s3", "s3n")
LONGEST_KEY = 1_024
LONGEST_BUCKET = 63
"""Characters of a bucket's name, by S3's own rules."""

_KEPT_IN_URLS = "/!$&'()*+,;=:@~-._"
"""What delta-rs 1.6.0 leaves as it is in a path, beside letters and digits of ASCII."""

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL)
_SLASHES = re.compile(r"/+")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")


@dataclass(frozen=True, slots=True)
class TableUri:
    """A table root. `key` is the S3 key as it is, neither encoded nor decoded, without a trailing slash.

    An empty `key` is a table at the root of its bucket.
    """

    scheme: str
    bucket: str
    key: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `s3a://bucket/key` (or s3, s3n); user info and trailing slashes are dropped, the key stays literal.

        Raises ValueError with one sentence where the text names no place on S3.
        """
        match = _URI.fullmatch(text)
        if match is None:
            raise ValueError(f"{_shown(text)} is not a URI; write s3a://bucket/path.")
        scheme, authority, path = match[1].lower(), match[2], match[3]
        if scheme not in SCHEMES:
            raise ValueError(f"{_shown(text)} has the scheme {_shown(scheme)}; a table on S3 has s3a, s3 or s3n.")
        return cls(scheme, _bucket(authority.rpartition("@")[2]), _key(path))

    @classmethod
    def parse_url(cls, text: str) -> Self:
        """Read a URL as delta-rs does (verified on 1.6.0): `%20` stands for a space of the key, and `%2F` for a slash.

        What is no escape, such as `%zz`, is kept. Raises ValueError as `parse` does, and where the bytes are not UTF-8.
        """
        uri = cls.parse(text)
        return replace(uri, key=_key(f"/{unquote(uri.key, errors='strict')}"))

    @property
    def s3a(self) -> str:
        """The canonical spelling, as Hadoop writes it; only a bucket's root keeps its slash."""
        return self._spelled("s3a")

    @property
    def url(self) -> str:
        """As delta-rs takes it, which decodes it: percent-encoded."""
        return f"s3a://{self.bucket}/{quote(self.key, safe=_KEPT_IN_URLS)}"

    @property
    def log_key(self) -> str:
        """The key prefix of the log folder, slash included."""
        return f"{self.key}/_delta_log/" if self.key else "_delta_log/"

    @property
    def name(self) -> str:
        """A short name: the last two parts of the path, or the bucket for a table at its root."""
        return ".".join([part for part in self.key.split("/") if part][-2:]) or self.bucket

    def spellings(self) -> tuple[str, ...]:
        """The table under each scheme, as Hadoop writes it."""
        return tuple(self._spelled(scheme) for scheme in SCHEMES)

    def table_paths(self) -> tuple[str, ...]:
        """Each `tablePath` under which a log store may hold this table; every one is a lock of its own.

        Hadoop writes the key as it is, delta-rs percent-encoded; neither leaves a slash at the end, others may.
        """
        keys = dict.fromkeys((self.key, quote(self.key, safe=_KEPT_IN_URLS)))
        roots = [f"{scheme}://{self.bucket}/{key}".rstrip("/") for key in keys for scheme in SCHEMES]
        return (*roots, *(f"{root}/" for root in roots))

    def _spelled(self, scheme: str) -> str:
        return f"{scheme}://{self.bucket}/{self.key}"


def places_meant(text: str) -> tuple[TableUri, ...]:
    """The tables that a person may mean by a URI: the one to the letter first, then Hadoop's reading, then delta-rs'.

    Hadoop folds slashes into one, delta-rs decodes what is percent-encoded. Raises ValueError as `TableUri.parse` does.
    """
    literal = TableUri.parse(text)
    found = [literal, replace(literal, key=_SLASHES.sub("/", literal.key).strip("/"))]
    with suppress(ValueError):
        found.append(TableUri.parse_url(text))
    return tuple(dict.fromkeys(found))


def same_table(a: str | TableUri, b: str | TableUri) -> bool:
    """Whether both name the same place on S3, however spelled; a text that is no table URI names none."""
    try:
        first, second = _parsed(a), _parsed(b)
    except ValueError:
        return False
    return (first.bucket, first.key) == (second.bucket, second.key)


def _parsed(uri: str | TableUri) -> TableUri:
    return uri if isinstance(uri, TableUri) else TableUri.parse(uri)


def _bucket(name: str) -> str:
    if not name:
        raise ValueError("The URI names no bucket; write s3a://bucket/path.")
    if not _BUCKET.fullmatch(name):
        raise ValueError(f"{_shown(name)} is not a bucket name; it has letters, digits, dots, dashes and underscores.")
    return name


def _key(path: str) -> str:
    key = path[1:].rstrip("/")
    try:
        size = len(key.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"The path {_shown(path)} is not valid Unicode; S3 keys are UTF-8.") from error
    if size > LONGEST_KEY:
        raise ValueError(f"The path is {size} bytes long; an S3 key has at most {LONGEST_KEY}.")
    if "\0" in key:
        raise ValueError(f"The path {_shown(path)} holds a NUL character, which cannot be stored; rename the folder.")
    return key


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 80 else text[:79] + "…")


def table_uri(path: str) -> TableUri | None:
    """The place that a path names to the letter; None for one that Levee cannot look at."""
    try:
        return lookable(TableUri.parse(path))
    except ValueError:
        return None


def lookable(uri: TableUri) -> TableUri | None:
    """The place, or None where S3 has no bucket of so long a name."""
    return uri if len(uri.bucket) <= LONGEST_BUCKET else None
