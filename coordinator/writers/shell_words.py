"""The options of a spark-submit command for a POSIX shell: its words are taken apart, and nothing is expanded."""

import re
import shlex
from collections.abc import Mapping

_COMMANDS = frozenset({"spark-submit", "spark-shell", "spark-sql", "pyspark"})
_SWITCHES = frozenset({"--verbose", "-v", "--supervise", "--help", "-h", "--version", "-S", "--silent"})
_PIECES = r"[^\s\"'\\;|&<>()]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$'[^']*'"
_TOKEN = re.compile(rf"(?P<word>(?:{_PIECES})+)|(?P<end>[\n;|&<>()]|\"|')", re.DOTALL)
_SAFE = re.compile(r"\\.|'[^']*'", re.DOTALL)

Setting = tuple[str, str, bool]
"""Key, value and whether the shell puts nothing into it."""


def shell_options(text: str, options: Mapping[str, str]) -> tuple[list[Setting], int]:
    """What the options of the first Spark command set, up to its application; `options` name keys by option.

    The number is the line on which the shell puts in what may be more options, 0 where it does not.
    """
    words = _command([*_TOKEN.finditer(text.replace("\\\r\n", "\\\n").replace("\\\n", "  "))])
    settings: list[Setting] = []
    while words and words[0][0].startswith("-"):
        text_of, known, _ = words.pop(0)
        name, glued, value = text_of.partition("=") if text_of.startswith("--") else (text_of, "", "")
        if not glued and name not in _SWITCHES and words:
            value, is_known, _ = words.pop(0)
            known = known and is_known
        if name in ("--conf", "-c") and "=" in value:
            key, _, value = value.partition("=")
            settings.append((key, value, known))
        elif name in options:
            settings.append((options[name], value, known))
    stopped = words[0] if words else ("", True, 0)
    return settings, 0 if stopped[1] else text.count("\n", 0, stopped[2]) + 1


def _command(tokens: list[re.Match[str]]) -> list[tuple[str, bool, int]]:
    """The words of the first command that starts Spark, without it; from the first option on where none is named."""
    commands: list[list[tuple[str, bool, int]]] = [[]]
    for token in tokens:
        if token["end"]:
            commands.append([])
        else:
            commands[-1].append(_word(token))
    for words in commands:
        for place, (name, _, _) in enumerate(words):
            if name.rpartition("/")[2] in _COMMANDS:
                return words[place + 1 :]
    every = [word for words in commands for word in words]
    first = next((place for place, (name, _, _) in enumerate(every) if name.startswith("-")), len(every))
    return every[first:]


def _word(token: re.Match[str]) -> tuple[str, bool, int]:
    """A word as the shell hands it over, whether it is that without the shell's doing, and where it begins."""
    raw = token["word"]
    expands = re.search(r"[$`]", _SAFE.sub("", raw))
    try:
        return "".join(shlex.split(raw)), not expands, token.start()
    except ValueError:
        return raw, False, token.start()
