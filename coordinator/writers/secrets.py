"""Secrets in pasted texts: taken out before anything else looks, so that nothing can show or keep them."""

import re
from dataclasses import replace

from coordinator.writers.pasted import PastedSetting, PastedText, PasteRefused
from coordinator.writers.python_secrets import with_masks
from coordinator.writers.reading_texts import read_text

MASK = "********"
_SECRET_KEY = re.compile(
    r"secret|passw|passphrase|session[._-]?token|(?<!web[._-]identity[._-])token(?![._-]?(file|service|provider))"
    r"|access[._-]?key|private[._-]?key|sas[._-]?key|encryption[._-]key|account[._-]key"
    r"|(?<![a-z])pwd|(?<![a-z])pass(?![a-z])|api[._-]?key",
    re.IGNORECASE,
)
_CLASS_OR_PLACE = re.compile(r"(?:[Pp]rovider|[Cc]lass|[Pp]ath|[Ff]ile|[Ee]nabled|[Aa]lgorithm)$")
# Bounded, and begun only where a word begins: the time a text takes must not grow faster than the text.
_WORDS = r"secret|passw|passphrase|token|access[._-]?key|private[._-]?key|api[._-]?key|(?<![a-z])(?:pwd|pass(?![a-z]))"
_NAME = rf"(?<![\w.-])[\w.-]{{0,120}}(?:{_WORDS})[\w.-]{{0,60}}"
_VALUE = r"([\"'])((?:(?!\2)[^\\\n]|\\.)*)\2"
_QUOTED = (
    re.compile(rf"(?i)({_NAME}[\"']?\s{{0,9}}\]?\s{{0,9}}[=:]\s{{0,9}}){_VALUE}"),
    re.compile(rf"(?i)([(\[]\s{{0,99}}[\"']{_NAME}[\"']\s{{0,99}},\s{{0,99}}){_VALUE}"),
    re.compile(rf"(?i)([\"'](?=--){_NAME}[\"']\s{{0,99}},\s{{0,99}}){_VALUE}"),
    re.compile(rf"(?i)((?=--){_NAME}[ \t]{{1,9}}){_VALUE}"),
    re.compile(rf"(?i)([\"']{_NAME}[\"']\s{{0,99}},\s{{0,99}}[\"']value[\"']\s{{0,9}}:\s{{0,9}}){_VALUE}"),
)
_BARE = (
    re.compile(rf"(?i)({_NAME}(?:=|[ \t]{{1,9}})\\\\?\")([^\"\\\n]{{1,400}})(?=\\)"),
    re.compile(rf"(?i)({_NAME}=\$')([^'\n]+)"),
    re.compile(rf"(?i)({_NAME}=)([^\s\"'\\;&]+)"),
    re.compile(rf"(?i)((?=--){_NAME}[ \t]{{1,9}})([^\s\"'\\;&-][^\s\"'\\;&]*)"),
    re.compile(rf"(?im)^([ \t]{{0,99}}[#!].{{0,200}}?{_NAME}[ \t]{{0,9}}(?:[=:]|\bis\b)?[ \t]{{1,9}})([^\s=:]\S*)"),
    re.compile(r"(?i)([?&;](?:x-amz-signature|sig)=)([^\s\"'\\;&]+)"),
    re.compile(
        r"(?i)(\bauthorization[\"']?[ \t]{0,9}[:=,][ \t]{0,9}[\"']?(?:bearer|basic|token)[ \t]{1,9})([^\s\"']+)"
    ),
)
# In JSON and Python a word behind a name is no value of it.
_IN_LINES = (
    re.compile(rf"(?im)^([ \t]{{0,99}}{_NAME}[ \t]{{1,9}}=[ \t]{{1,9}})([^\s\"'=(\[{{]\S*)$"),
    re.compile(rf"(?im)^([ \t]{{0,99}}{_NAME}[ \t]{{1,99}})([^\s=:]\S*)"),
    re.compile(rf"(?i)({_NAME}[\"']?:[ \t]{{1,9}})([^\s\"'{{\[,&*]+)"),
    re.compile(rf"(?i)({_NAME}[\"']?(?:\s{{1,99}}|,\s{{0,99}})value:[ \t]{{1,9}}[\"']?)([^\s\"'}}]+)"),
    re.compile(rf"(?i)((?=--){_NAME}[\"']?[ \t]{{0,9}}\r?\n[ \t]{{0,99}}-[ \t]{{1,9}}[\"']?)([^\s\"']+)"),
    re.compile(rf"(?i)(\bset[ \t]{{1,9}}{_NAME}[ \t]{{1,9}}[\"']?)([^\s\"';&|]+)"),
)
_IN_URL = re.compile(r"(://)[^/\s:@\"']*:[^/\s\"']+(@)")
_TOKEN_IN_URL = re.compile(r"(\bhttps?://)[^/\s:@\"'?#]+(@)")
_OF_ORACLE = re.compile(r"(\bjdbc:oracle:[a-z0-9]{1,9}:)[^/\s@\"']{1,99}/[^\s@\"']{1,99}(@)")
# AWS's secret access keys have 40 letters, and no name beside them where they are one of several arguments.
_KEY = re.compile(
    r"(?<![A-Za-z0-9/+=._-])(?=[A-Za-z/+]{0,40}[0-9])(?=[a-z0-9/+]{0,40}[A-Z])(?=[A-Z0-9/+]{0,40}[a-z])"
    r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=._-])"
)
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")


BESIDE = "what stands beside the settings"


def without_secrets(text: str) -> tuple[PastedText, tuple[str, ...]]:
    """The text with every secret masked, read anew, and the keys whose values were masked, BESIDE for others.

    Raises PasteRefused for a text that cannot be read, before or after.
    """
    pasted = read_text(text)
    secret = [entry for entry in pasted.entries if _is_secret(entry)]
    keys = tuple(dict.fromkeys(entry.key for entry in secret))
    masked = pasted.rewritten([replace(one, value=MASK) if _is_secret(one) else one for one in pasted.entries])
    if pasted.syntax == "PySpark":
        masked = with_masks(masked, is_secret_key, MASK)
    masked = _masked_elsewhere(masked, in_lines=pasted.syntax not in ("JSON", "PySpark"))
    if masked == text:
        return pasted, keys
    if masked.count(MASK) - text.count(MASK) > len(secret):
        keys = (*keys, BESIDE)
    try:
        return read_text(masked), keys
    except PasteRefused:
        raise PasteRefused("The text cannot be read once its secrets are masked: take them out first.") from None


def is_secret_key(key: str) -> bool:
    """Whether a key's value is a secret, and not a class, a file or a switch that is about secrets."""
    return bool(_SECRET_KEY.search(key)) and not _CLASS_OR_PLACE.search(key)


def _is_secret(entry: PastedSetting) -> bool:
    return entry.is_known and bool(entry.value) and is_secret_key(entry.key)


def _masked_elsewhere(text: str, *, in_lines: bool) -> str:
    """What stands outside settings: variables of a shell, assignments, options, comments, addresses."""
    for pattern in _QUOTED:
        text = pattern.sub(lambda found: f"{found[1]}{found[2]}{_shown(found[1], found[3])}{found[2]}", text)
    for pattern in (*_BARE, *(_IN_LINES if in_lines else ())):
        text = pattern.sub(lambda found: f"{found[1]}{_shown(found[1], found[2])}", text)
    for pattern in (_IN_URL, _TOKEN_IN_URL, _OF_ORACLE):
        text = pattern.sub(rf"\1{MASK}\2", text)
    return _KEY.sub(MASK, _KEY_ID.sub(MASK, text))


def _shown(name: str, value: str) -> str:
    """The mask; the value of a name that means a class, a file or a switch stays."""
    return value if _CLASS_OR_PLACE.search(name.rstrip(" \t\r\n\"'=:,]")) else MASK
