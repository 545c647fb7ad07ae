"""A SparkApplication of the Kubernetes operator: sparkConf, hadoopConf and deps.packages of its YAML, as plain scalars.

Only these blocks are read, and only the forms in which such files are written: a line of YAML's own devices (anchors,
folded text, flow style) within them is refused rather than guessed.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coordinator.writers.json_text import HADOOP
from coordinator.writers.pasted import PACKAGES, Edit, PastedSetting, PasteRefused, difference, edited, line_of

_BLOCK = re.compile(r"(?P<indent> *)(?P<name>sparkConf|hadoopConf|packages):[ \t]*(?:#.*)?$")
_DOUBLE = r'"(?:[^"\\]|\\.)*"'
_SINGLE = r"'(?:[^']|'')*'"
_PLAIN = r"[^\s'\"#&*!|>%@`{}\[\],?-][^\s#]*"
_SCALAR = rf"(?:{_DOUBLE}|{_SINGLE}|{_PLAIN}|-?[0-9][^\s#]*)"
_PAIR = re.compile(
    rf"(?P<indent> +)(?P<key>{_DOUBLE}|{_SINGLE}|[A-Za-z0-9_.-]+):[ \t]+(?P<value>{_SCALAR})?[ \t]*(?:#.*)?$"
)
_ITEM = re.compile(rf"(?P<indent> *)-[ \t]+(?P<value>{_SCALAR})[ \t]*(?:#.*)?$")
_PREFIXES = {"sparkConf": "", "hadoopConf": HADOOP}


@dataclass(frozen=True, slots=True)
class Line:
    """The lines of one entry: `block` is what they stand in."""

    start: int
    end: int
    indent: str
    block: str


@dataclass(frozen=True, slots=True)
class YamlText:
    """`lines` belong to `entries` one by one; new settings go to `room`, behind the line sparkConf."""

    text: str
    entries: tuple[PastedSetting, ...]
    lines: tuple[Line, ...]
    room: tuple[int, str]
    syntax: str = "SparkApplication"
    platform: str = "kubernetes"
    brings_delta: bool = False
    unread: tuple[str, ...] = ()

    def rewritten(self, entries: Sequence[PastedSetting]) -> str:
        found = difference(self.entries, entries)
        edits = [Edit(line.start, line.end, _written(entry, line)) for line, entry in self._changed(found.changed)]
        at, indent = self.room
        new = [Edit(at, at, _written(entry, Line(at, at, indent, "sparkConf"))) for entry in found.added]
        return edited(self.text, [*edits, *new])

    def _changed(self, changed: dict[int, PastedSetting | None]) -> Iterator[tuple[Line, PastedSetting | None]]:
        return ((self.lines[at], entry) for at, entry in changed.items())


def read_yaml(text: str) -> YamlText:
    """Read one SparkApplication; PasteRefused for a form that is not read, or for two of them."""
    entries: list[PastedSetting] = []
    lines: list[Line] = []
    room: tuple[int, str] | None = None
    for block, indent, start, content in _blocks(text):
        found = list(_items(text, block, start, content))
        if block == "sparkConf":
            if room:
                raise PasteRefused("There are two blocks of sparkConf here: paste one application.")
            room = (start, found[0][1].indent if found else f"{indent}  ")
        entries += [PastedSetting(one.key, one.value, len(entries) + at) for at, (one, _) in enumerate(found)]
        lines += [line for _, line in found]
    if room is None:
        raise PasteRefused("This YAML has no block sparkConf: paste a SparkApplication whose settings stand there.")
    return YamlText(text, tuple(entries), tuple(lines), room)


def _blocks(text: str) -> Iterator[tuple[str, str, int, str]]:
    """Name, indent, start and text of each block's content: the lines below that stand further right."""
    at = 0
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        at += len(line)
        if not (found := _BLOCK.match(line.rstrip("\r\n"))):
            continue
        inner: list[str] = []
        for following in lines[number + 1 :]:
            if following.strip() and not _belongs(following, found["indent"], found["name"]):
                break
            inner.append(following)
        yield found["name"], found["indent"], at, "".join(inner)


def _belongs(line: str, indent: str, name: str) -> bool:
    deeper = line.startswith(f"{indent} ")
    return deeper or (name == "packages" and line.startswith(f"{indent}- "))


def _items(text: str, block: str, start: int, content: str) -> Iterator[tuple[PastedSetting, Line]]:
    if block == "packages":
        yield from _packages(text, start, content)
        return
    for at, line in _lines(start, content):
        if not (found := _PAIR.match(line.rstrip("\r\n"))):
            raise _unread(text, at)
        key, value = _scalar(found["key"]), _scalar(found["value"] or "")
        yield PastedSetting(_PREFIXES[block] + key, value), Line(at, at + len(line), found["indent"], block)


def _packages(text: str, start: int, content: str) -> Iterator[tuple[PastedSetting, Line]]:
    """All coordinates as one entry, as Spark gets them."""
    lines = list(_lines(start, content))
    found = [_ITEM.match(line.rstrip("\r\n")) for _, line in lines]
    for (at, _), one in zip(lines, found, strict=True):
        if one is None:
            raise _unread(text, at)
    items = [one for one in found if one]
    if items:
        names = ",".join(_scalar(one["value"]) for one in items)
        end = lines[-1][0] + len(lines[-1][1])
        yield PastedSetting(PACKAGES, names), Line(lines[0][0], end, items[0]["indent"], "packages")


def _lines(start: int, content: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their places in the whole text."""
    for line in content.splitlines(keepends=True):
        if line.strip() and not line.lstrip().startswith("#"):
            yield start, line
        start += len(line)


def _unread(text: str, at: int) -> PasteRefused:
    return PasteRefused(f"Line {line_of(text, at)} is no plain `key: value`: write its value in double quotes.")


def _scalar(text: str) -> str:
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(re.sub(r"\\U([0-9a-fA-F]{8})", _pair_of_units, text)))
    except ValueError:
        raise PasteRefused("A text in double quotes has an escape that JSON does not have: write it plainly.") from None


def _pair_of_units(found: re.Match[str]) -> str:
    units = chr(int(found[1], 16)).encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _written(entry: PastedSetting | None, line: Line) -> str:
    if entry is None:
        return ""
    if line.block == "packages":
        return "".join(f"{line.indent}- {yaml_text(name)}\n" for name in entry.value.split(","))
    key = entry.key.removeprefix(_PREFIXES[line.block])
    return f"{line.indent}{yaml_text(key)}: {yaml_text(entry.value)}\n"


def yaml_text(text: str) -> str:
    """A scalar in double quotes: what cannot be printed is escaped, as YAML would fold or refuse it."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else _escape(one) for one in written)


def _escape(one: str) -> str:
    return f"\\u{ord(one):04x}" if ord(one) < 0x10000 else f"\\U{ord(one):08x}"
