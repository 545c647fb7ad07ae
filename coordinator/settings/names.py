"""What AWS allows as a name: each check returns "" or one sentence that says what to write instead."""

import re
from collections.abc import Sequence

_STORE = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
_KEY_ARN = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(key|alias)/[A-Za-z0-9/_-]{1,250}")
_TAG = re.compile(r"[\w .:/=+@-]*")
MOST_TAGS = 50
LONGEST_PREFIX = 1024


def check_store(name: object) -> str:
    if isinstance(name, str) and _STORE.fullmatch(name):
        return ""
    return "The name of a DynamoDB table has 3 to 255 letters, digits, underscores, dots and hyphens."


def check_bucket(name: object) -> str:
    if isinstance(name, str) and _BUCKET.fullmatch(name):
        return ""
    return "The name of a bucket has 3 to 63 letters, digits, dots and hyphens."


def check_prefix(prefix: object) -> str:
    """A key prefix without slashes at its ends; "" is the root of the bucket."""
    if not isinstance(prefix, str) or prefix != prefix.strip("/"):
        return "Give the key prefix without slashes at its ends."
    try:
        size = len(prefix.encode())
    except UnicodeEncodeError:
        return "The prefix is not valid Unicode."
    if size > LONGEST_PREFIX - len("/_delta_log/.tmp/"):
        return f"A key has at most {LONGEST_PREFIX:,} bytes, and this prefix leaves no room for _delta_log/.tmp/."
    if any(ord(letter) < 32 for letter in prefix):
        return "A lifecycle rule cannot name a prefix with control characters."
    return ""


def check_key_arn(key: object) -> str:
    if key in ("", "aws") or (isinstance(key, str) and _KEY_ARN.fullmatch(key)):
        return ""
    return "Give the ARN of a KMS key, `aws` for the account's own, or nothing for the key of DynamoDB."


def check_tags(tags: Sequence[tuple[object, object]]) -> str:
    """AWS's rules for tags: at most 50, keys of 1 to 128, values of up to 256 characters, none of them twice."""
    if len(tags) > MOST_TAGS:
        return f"A DynamoDB table has at most {MOST_TAGS} tags."
    for key, value in tags:
        if not isinstance(key, str) or not isinstance(value, str):
            return "Tags are text."
        if not 1 <= len(key) <= 128 or len(value) > 256 or not _TAG.fullmatch(key) or not _TAG.fullmatch(value):
            return f"The tag {key[:40]!r} is not one that AWS takes: letters, digits, spaces and . : / = + @ - _."
        if key.lower().startswith("aws:"):
            return "Tags that begin with aws: belong to AWS."
    return "" if len({key for key, _ in tags}) == len(tags) else "A tag is named twice."
