"""A spark-submit command for a POSIX shell: its words are taken apart as a shell does; nothing is run or expanded."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from coordinator.writers.pasted import (
    DRIVER_CLASS_PATH,
    JARS,
    PACKAGES,
    Edit,
    PastedSetting,
    PasteRefused,
    SettingDifference,
    difference,
    edited,
    line_of,
)

COMMANDS = frozenset({"spark-submit", "spark-shell", "spark-sql", "pyspark", "spark-submit.cmd"})
_OPTIONS = {"--packages": PACKAGES, "--jars": JARS, "--driver-class-path": DRIVER_CLASS_PATH}
_KEYS = {key: option for option, key in _OPTIONS.items()}
_SWITCHES = frozenset(
    {"--verbose", "-v", "--supervise", "--help", "-h", "--version", "--usage-error", "-S", "--silent"}
)
_GAP = re.compile(r"(?:[ \t]|\\\r?\n)+")
_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`;|&<>()]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the command as the shell hands it over; `is_known` is False where it expands something."""

    text: str
    start: int
    end: int
    is_known: bool


@dataclass(frozen=True, slots=True)
class _Option:
    """A setting with the words that hold it: `before` is where the word in front of it ends."""

    before: int
    end: int
    written_as: Literal["conf", "option"]


@dataclass(frozen=True, slots=True)
class ShellText:
    """`options` belong to `entries` one by one; new ones follow at `last`."""

    text: str
    entries: tuple[PastedSetting, ...]
    options: tuple[_Option, ...]
    last: int
    syntax: str = "spark-submit"
    platform: str = ""
    brings_delta: bool = False
    unread: tuple[str, ...] = ()

    def rewritten(self, entries: Sequence[PastedSetting]) -> str:
        found = difference(self.entries, entries)
        return edited(self.text, [*self._changes(found), *self._additions(found)])

    def _changes(self, found: SettingDifference) -> Iterator[Edit]:
        for at, entry in found.changed.items():
            option = self.options[at]
            new = "" if entry is None else self._gap() + _written(entry, option.written_as)
            yield Edit(option.before, option.end, new.lstrip() if option.before == 0 else new)

    def _additions(self, found: SettingDifference) -> Iterator[Edit]:
        for entry in found.added:
            new = self._gap() + _written(entry, "option" if entry.key in _KEYS else "conf")
            yield Edit(self.last, self.last, new)

    def _gap(self) -> str:
        return " \\\n  " if "\\\n" in self.text else " "


def _written(entry: PastedSetting, written_as: str) -> str:
    if written_as == "option" and entry.key in _KEYS:
        return f"{_KEYS[entry.key]} {shlex.quote(entry.value)}"
    return f"--conf {shlex.quote(f'{entry.key}={entry.value}')}"


def read_shell(text: str) -> ShellText:
    """Read the options of one command, up to the application; PasteRefused for quotes left open or a second command."""
    words = _command(text)
    entries: list[PastedSetting] = []
    options: list[_Option] = []
    last = words[0].end if words and _is_command(words[0]) else 0
    for before, last, written_as, key, value, is_known in _settings(words):
        entries.append(PastedSetting(key, value if is_known else "", len(entries), is_known))
        options.append(_Option(before, last, written_as))
    return ShellText(text, tuple(entries), tuple(options), last, unread=tuple(_unread(text, words)))


def _unread(text: str, words: Sequence[Word]) -> Iterator[str]:
    """A file with more settings, and what the shell puts in among the options."""
    at = 1 if words and _is_command(words[0]) else 0
    options, rest = _options(words, at)
    if any(name == "--properties-file" for name, *_ in options):
        yield "The file of --properties-file sets more, and is not in this text."
    if rest < len(words) and not words[rest].is_known:
        line = line_of(text, words[rest].start)
        yield f"What the shell puts in on line {line}, and what stands behind it, are not judged."


_Setting = tuple[int, int, Literal["conf", "option"], str, str, bool]


def _settings(words: Sequence[Word]) -> Iterator[_Setting]:
    """What the options say, until the application; its own arguments are nothing of Spark's."""
    for name, text, before, final, is_known in _options(words, 1 if words and _is_command(words[0]) else 0)[0]:
        if name in ("--conf", "-c") and "=" in text:
            key, _, value = text.partition("=")
            yield before, final, "conf", key, value, is_known
        elif name in _OPTIONS:
            yield before, final, "option", _OPTIONS[name], text, is_known


def _options(words: Sequence[Word], at: int) -> tuple[list[tuple[str, str, int, int, bool]], int]:
    """Name and value of each option, where they begin and end, and the place of the word that is none."""
    found = []
    while at < len(words) and words[at].text.startswith("-"):
        first = words[at]
        name, glued, value = first.text.partition("=") if first.text.startswith("--") else (first.text, "", "")
        takes_next = not glued and name not in _SWITCHES
        final = words[at + 1] if takes_next and at + 1 < len(words) else first
        text = value if glued else final.text if final is not first else ""
        is_known = first.is_known and final.is_known
        before = words[at - 1].end if at else 0
        at += 2 if takes_next else 1
        found.append((name, text, before, final.end, is_known))
    return found, at


def _command(text: str) -> list[Word]:
    """The words from the command on, without what stands before it; all of them where none is named."""
    commands = [list(one) for one in _commands(text)]
    named = [words for words in commands if any(_is_command(word) for word in words)]
    if len(named) > 1:
        raise PasteRefused("Two commands start Spark here: paste one of them.")
    words = named[0] if named else [word for words in commands for word in words]
    start = next((at for at, word in enumerate(words) if _is_command(word)), 0)
    if not named:
        start = next((at for at, word in enumerate(words) if word.text.startswith("-")), 0)
    return words[start:]


def _is_command(word: Word) -> bool:
    return word.text.rpartition("/")[2] in COMMANDS


def _commands(text: str) -> Iterator[list[Word]]:
    words: list[Word] = []
    at = 0
    while at < len(text):
        if gap := _GAP.match(text, at):
            at = gap.end()
        elif text[at] == "#":
            line_end = text.find("\n", at)
            at = line_end if line_end >= 0 else len(text)
        elif text[at] in "\r\n;|&<>()":
            yield words
            words, at = [], at + 1
        else:
            words.append(_word(text, at))
            at = words[-1].end
    yield words


def _word(text: str, start: int) -> Word:
    parts, at, is_known = [], start, True
    while at < len(text) and text[at] not in " \t\r\n;|&<>()":
        if found := _PLAIN.match(text, at):
            part, at = found[0], found.end()
        elif text[at] == "'":
            part, at = _single_quoted(text, at)
        elif text[at] == '"':
            part, at, known = _double_quoted(text, at)
            is_known &= known
        elif text[at] == "\\":
            part, at = _escaped(text, at)
        else:
            part, at, is_known = text[at], at + 1, False
        parts.append(part)
    return Word("".join(parts), start, at, is_known)


def _escaped(text: str, at: int) -> tuple[str, int]:
    if text.startswith("\\\r\n", at):
        return "", at + 3
    following = text[at + 1 : at + 2]
    return ("" if following == "\n" else following), at + 2


def _single_quoted(text: str, at: int) -> tuple[str, int]:
    end = text.find("'", at + 1)
    if end < 0:
        raise PasteRefused(f"The quote that opens on line {line_of(text, at)} is never closed.")
    return text[at + 1 : end], end + 1


def _double_quoted(text: str, start: int) -> tuple[str, int, bool]:
    parts, at, is_known = [], start + 1, True
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in tuple('$`"\\\n'):
            parts.append("" if text[at + 1] == "\n" else text[at + 1])
            at += 2
            continue
        is_known &= text[at] not in "$`"
        parts.append(text[at])
        at += 1
    if at >= len(text):
        raise PasteRefused(f"The quote that opens on line {line_of(text, start)} is never closed.")
    return "".join(parts), at + 1, is_known
