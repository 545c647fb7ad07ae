"""Secrets in texts that are shown again, as pasted settings and logs are: masked as they are read."""

import re

MASK = "********"
_WORDS = r"secret|passw|passphrase|token|credential|access[._-]?key|private[._-]?key|api[._-]?key|account[._-]key"
_SECRET_KEY = re.compile(
    rf"{_WORDS}|sas[._-]?key|encryption[._-]key|(?<![a-z])pwd|(?<![a-z])pass(?![a-z])", re.IGNORECASE
)
_CLASS_OR_PLACE = re.compile(r"(?:[Pp]rovider(?:Name)?|[Cc]lass|[Pp]ath|[Ff]ile|[Ee]nabled|[Aa]lgorithm)$")
# Bounded, and begun only where a word begins: the time a text takes must not grow faster than the text.
_ASSIGNED = re.compile(
    rf"(?i)((?<![\w.-])[\w.-]{{0,120}}(?:{_WORDS}|(?<![a-z])pwd)[\w.-]{{0,60}}[\"']?"
    r"(?:\s{0,9}[=:]\s{0,9}|[ \t]{1,9})[\"']?)"
    r"([^\s\"',;&]+)"
)
_IN_URL = re.compile(r"(://)[^/\s:@\"']*:[^/\s\"']+(@)")
_TOKEN_IN_URL = re.compile(r"(\bhttps?://)[^/\s:@\"'?#]+(@)")
_OF_ORACLE = re.compile(r"(\bjdbc:oracle:[a-z0-9]{1,9}:)[^/\s@\"']{1,99}/[^\s@\"']{1,99}(@)")
_SIGNED = re.compile(
    r"(?i)([?&;](?:x-amz-signature|sig)=|\bauthorization[\"']?[ \t]{0,9}[:=,][ \t]{0,9}[\"']?"
    r"(?:bearer|basic|token)[ \t]{1,9})([^\s\"'&]+)"
)
# AWS's secret access keys have 40 letters, and no name beside them where they are one of several arguments.
_KEY = re.compile(
    r"(?<![A-Za-z0-9/+=._-])(?=[A-Za-z/+]{0,40}[0-9])(?=[a-z0-9/+]{0,40}[A-Z])(?=[A-Z0-9/+]{0,40}[a-z])"
    r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=._-])"
)
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")


def is_secret_key(key: str) -> bool:
    """Whether a key's value is a secret, and not a class, a file or a switch that is about secrets."""
    return bool(_SECRET_KEY.search(key)) and not _CLASS_OR_PLACE.search(key)


def without_secrets(text: str) -> str:
    """The text without what is a secret by its form, or by the name in front of it."""
    text = _ASSIGNED.sub(lambda found: f"{found[1]}{_shown(found[1], found[2])}", text)
    for pattern in (_IN_URL, _TOKEN_IN_URL, _OF_ORACLE):
        text = pattern.sub(rf"\1{MASK}\2", text)
    text = _SIGNED.sub(rf"\1{MASK}", text)
    return _KEY.sub(MASK, _KEY_ID.sub(MASK, text))


def _shown(name: str, value: str) -> str:
    return value if _CLASS_OR_PLACE.search(name.rstrip(" \t\r\n\"'=:")) else MASK
