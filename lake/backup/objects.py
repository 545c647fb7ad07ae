"""Places and objects in S3 as backups speak of them, and the form in which files of S3 hold keys."""

from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

POINTS = "_levee/points/"
"""Where restore points lie below the place of a backup. VACUUM passes over what begins with an underscore."""
RESTORED = "restored/"
"""Where in a bucket tables are restored to, unless a path is named."""
SET_ASIDE = "before-restore-"
"""How the name of what is set aside goes on after the table's, before the table is put back in place."""
CLAIM = "_levee_restore.json"
"""What claims a path for one restore. VACUUM passes over what begins with an underscore."""
ARCHIVE_CLASSES = ("GLACIER", "DEEP_ARCHIVE")
"""Storage classes whose objects S3 has to restore before it reads or copies them."""


@dataclass(frozen=True, slots=True)
class BucketPrefix:
    """A part of a bucket; `prefix` is empty or ends in "/". A bucket may hold "{date}": one for each snapshot."""

    bucket: str
    prefix: str = ""

    @property
    def uri(self) -> str:
        return f"s3a://{self.bucket}/{self.prefix}"

    def below(self, path: str) -> "BucketPrefix":
        """What begins with `path` in it."""
        return BucketPrefix(self.bucket, f"{self.prefix}{path}")


def place_of(uri: str) -> BucketPrefix:
    """The place that an s3a:// URI names; its prefix gets the final slash that it lacks. A dated bucket stays so."""
    bucket, _, prefix = uri.partition("://")[2].partition("/")
    return BucketPrefix(bucket, f"{prefix}/" if prefix and not prefix.endswith("/") else prefix)


class FileUnreadable(ValueError):
    """A file that is not what it should be; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class ManifestObject:
    """One line of a manifest; `key` is decoded."""

    bucket: str
    key: str


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What became of one task. `status` is an HTTP status; `code` is S3's error code, "" after a success."""

    bucket: str
    key: str
    succeeded: bool
    status: int
    code: str = ""
    message: str = ""


def encoded_key(key: str) -> str:
    """A key as manifests hold it: percent-encoded UTF-8, slashes as they are, a blank as %20."""
    return quote(key, safe="/")


def decoded_key(text: str) -> str:
    """The key that an encoded one stands for; a plus sign is a blank, as S3 Inventory writes it.

    Raises FileUnreadable where the bytes are no UTF-8.
    """
    try:
        return unquote_to_bytes(text.replace("+", " ").encode(errors="surrogatepass")).decode()
    except UnicodeDecodeError as error:
        raise FileUnreadable(f"The key {text!a} does not decode to UTF-8: {error.reason}.") from error
