"""spark-defaults.conf, and the box for Spark's configuration of a cluster: Java properties, a key and a value a line.

Read as `java.util.Properties.load` reads it; Spark then trims each value (`Utils.getPropertiesFromFile`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coordinator.coordination.pasting import properties_line
from coordinator.writers.pasted import Edit, PastedSetting, PasteRefused, difference, edited, line_of

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_KEY = re.compile(r"(?:\\.|[^\\\s=:])*")
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_TRIMMED = "".join(map(chr, range(33)))
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class PropertiesText:
    """`spans` are the lines of each entry, their ends included."""

    text: str
    entries: tuple[PastedSetting, ...]
    spans: tuple[tuple[int, int], ...]
    syntax: str = "spark-defaults.conf"
    platform: str = ""
    brings_delta: bool = False
    unread: tuple[str, ...] = ()

    def rewritten(self, entries: Sequence[PastedSetting]) -> str:
        found = difference(self.entries, entries)
        edits = [self._edit(at, entry) for at, entry in found.changed.items()]
        new = "".join(f"{properties_line(one.key, one.value)}\n" for one in found.added)
        lead = "" if not new or self.text.endswith(("\n", "\r")) or not self.text else "\n"
        return edited(self.text, edits) + lead + new

    def _edit(self, at: int, entry: PastedSetting | None) -> Edit:
        start, end = self.spans[at]
        if entry is None:
            return Edit(start, end, "")
        line_end = "\n" if self.text[start:end].endswith(("\n", "\r")) else ""
        return Edit(start, end, properties_line(entry.key, entry.value) + line_end)


def read_properties(text: str) -> PropertiesText:
    """Read every line; PasteRefused for an escape that Java refuses."""
    entries: list[PastedSetting] = []
    spans: list[tuple[int, int]] = []
    for start, end, line in _logical_lines(text):
        key, value = _pair(line, text, start)
        if key:
            entries.append(PastedSetting(key, value.strip(_TRIMMED), len(entries)))
            spans.append((start, end))
    return PropertiesText(text, tuple(entries), tuple(spans))


def _logical_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and content of each line that holds a setting, continuations joined."""
    at = 0
    while at < len(text):
        start = at
        parts: list[str] = []
        while True:
            natural = _LINE.match(text, at)
            end = natural.end() if natural else len(text)
            content, at = text[at:end].rstrip("\r\n"), end
            if not parts and content.lstrip().startswith(("#", "!")):
                break
            parts.append(content.lstrip(" \t\f"))
            if not _continues(content):
                break
            parts[-1] = parts[-1][:-1]
            if at >= len(text):
                break
        if "".join(parts).strip():
            yield start, at, "".join(parts)


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _pair(line: str, text: str, start: int) -> tuple[str, str]:
    found = _KEY.match(line)
    end = found.end() if found else 0
    separator = _SEPARATOR.match(line, end)
    rest = line[separator.end() if separator else end :]
    return _unescaped(line[:end], text, start), _unescaped(rest, text, start)


def _unescaped(part: str, text: str, start: int) -> str:
    if re.search(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})", part):
        raise PasteRefused(
            f"Line {line_of(text, start)} has a \\u without four hexadecimal digits after it: Java reads no such file."
        )
    written = _ESCAPE.sub(_character, part)
    try:
        return written.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise PasteRefused(
            f"Line {line_of(text, start)} has half a character (a lone surrogate): write it whole."
        ) from None


def _character(found: re.Match[str]) -> str:
    escaped = found[1]
    if len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    return _NAMED.get(escaped, escaped)
