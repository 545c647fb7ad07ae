"""Settings of a Spark session from any text in which they stand as key and value. None of it is run or kept.

What stands in another form than those of spark-defaults.conf, spark-submit, PySpark, Scala, JSON and YAML is not found,
and what a text takes from elsewhere is said in `unread`. A value is kept only where no secret can be in it.
"""

import ast
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from coordinator.writers.session import NOTHING_OBSERVED, ObservedPlace, PastedSetting, WriterSession

PACKAGES, JARS, DRIVER_CLASS_PATH = "spark.jars.packages", "spark.jars", "spark.driver.extraClassPath"
MOST_BYTES = 256 * 1024
_KEY = r"(?i:spark|delta|io\.delta|databricks|fs)\.[\w.*-]+"
_STRING = r'(?:"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
_SCALAR = re.compile(rf"(?P<prefix>[rRbBuUfF]{{0,2}})(?P<string>{_STRING})|(?P<plain>(?i:true|false|null|-?\d[\d.]*))")
_PAIR = re.compile(rf"(?P<key>{_STRING})\s{{0,99}}[,:=]\s{{0,99}}(?:value\s?=\s?)?")
_LINE = re.compile(rf"^[ \t]*(?P<key>[\"']?{_KEY}[\"']?)(?:[ \t]*[=:][ \t]*|[ \t]+|$)(?P<value>.*)$", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]*-[ \t]+[\"']?([\w.-]+:[\w.-]+:[\w.-]+)[\"']?[ \t]*$", re.MULTILINE)
_EXTRA = re.compile(r"extra_packages\s*=\s*\[([^\]]*)\]")
_COORDINATES = re.compile(rf'"coordinates"\s*:\s*({_STRING})')
_CHAIN = re.compile(r"(?:^|\s)--conf(?:\s+|=)")
_COMMENT = re.compile(r"^[ \t]*(?:[#!]|//).*$", re.MULTILINE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_BLOCK = re.compile(r"core-site|hadoopConf|spark-defaults|sparkConf")
_PATH = re.compile(r"\bs3[an]?://[^\s\"'`,;)\\<>|&]+")
_USER = re.compile(r"//[^/]*@")
_NO_TABLE = re.compile(r"\.(?:py|jar|zip|egg|whl|conf|json|sql|sh|txt|yaml|yml|properties|tar\.gz)$")
_SECRET = re.compile(
    r"(?i)secret|passw|passphrase|token|credential|authorization|(?:access|private|api|account|sas|encryption)[._-]?key|"
    r"(?<![a-z])pwd|(?<![a-z])pass(?![a-z])"
)
_CLASS_OR_PLACE = re.compile(r"(?:[Pp]rovider(?:Name)?|[Cc]lass|[Pp]ath|[Ff]ile|[Ee]nabled|[Aa]lgorithm)$")
# AWS's secret access keys have 40 letters, and no name beside them where they are one of several parts.
_MAY_BE_SECRET = re.compile(r"[=@?&]|(?<![\w/+.-])(?=[a-z/+]*[A-Z0-9])[A-Za-z0-9/+]{40}(?![\w/+.-])")
_TABLES_IN = ("spark.sql.warehouse.dir",)
_LATE = re.compile(r"\.conf\s*\.\s*set\s*\(\s*$")
_OF_HADOOP = re.compile(r"adoopConfiguration\(\)\s*\.\s*set\s*\(\s*$")
_FORMS = (
    ("JSON", re.compile(r"\A\s*[{\[]")),
    ("PySpark", re.compile(r"\.\s*config\s*\(|\bSparkConf\s*\(|\.conf\.set\s*\(|configure_spark_with_delta_pip")),
    ("SparkApplication", re.compile(r"^[ \t]*(?:sparkConf|kind|spark_conf)[ \t]*:", re.MULTILINE)),
    (
        "spark-submit",
        re.compile(
            r"(?:^|\s)(?:\S*/)?(?:spark-(?:submit|shell|sql)|pyspark)(?:\s|$)|(?:^|\s)--(?:conf|packages|jars)\b"
        ),
    ),
)
_WORD = r"(?:[^\s\"'\\;|&<>()]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\")+"
_COMMAND = re.compile(
    rf"(?:(?:^|[\s/])(?:spark-(?:submit|shell|sql)|pyspark)(?=\s))(?P<words>(?:[^\S\n]*{_WORD})*)", re.DOTALL
)
_SWITCHES = ("--verbose", "-v", "--supervise", "--help", "-h", "--version", "-S", "--silent")
_OPTIONS = {
    "--packages": PACKAGES,
    "--jars": JARS,
    "--extra-jars": JARS,
    "--driver-class-path": DRIVER_CLASS_PATH,
}
_PLATFORMS = (
    ("databricks", re.compile(r"\bspark_conf\b")),
    ("emr", re.compile(r'"[Cc]lassification"')),
    ("glue", re.compile(r'"--conf"\s*:')),
    ("kubernetes", re.compile(r"^[ \t]*(?:sparkConf|kind)[ \t]*:", re.MULTILINE)),
)
_FROM_ELSEWHERE = (
    (re.compile(r"--properties-file"), "names a file of properties that sets more, and is not in this text"),
    (re.compile(r"PYSPARK_SUBMIT_ARGS"), "names PYSPARK_SUBMIT_ARGS, whose options are not judged"),
    (
        re.compile(r"adoopConfiguration\(\)\s*\.\s*set\s*\("),
        "sets what Hadoop has on a session that runs already, which is not judged",
    ),
    (
        re.compile(
            r"\.(?:config|setIfMissing)\(\s*(?:[fF][\"']|(?![\s\"'rRuU)]|key\s*=\s*[\"']|map\s*=\s*\{))"
            r"|map\s*=\s*\{[^}]*\*\*|\.setAll\(\s*(?![\s\[(])"
        ),
        "takes settings that are made when the text runs, which are not judged",
    ),
)


class PasteRefused(ValueError):
    """A text that cannot be read, in a sentence that quotes nothing of it: it may hold secrets."""


Found = tuple[int, PastedSetting]
"""Where a setting stands in the text, and what it is."""


def read_pairs(text: str, observed: ObservedPlace = NOTHING_OBSERVED) -> WriterSession:
    """The session that a text of at most 256 KiB sets up, beside what was observed.

    Raises PasteRefused, without quoting it, for what holds no setting that is found.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise PasteRefused("The text is larger than 256 KiB: paste the part with the settings alone.")
    if found := _CONTROLS.search(text):
        raise PasteRefused(f"The text holds the control character {ord(found[0]):#04x}, which no such file has.")
    if text.startswith("\ufeff"):
        raise PasteRefused("The text begins with a byte order mark, which Spark reads as a letter: save it without.")
    unread = tuple(dict.fromkeys(_unread(text)))
    text = _COMMENT.sub("", text)
    syntax = next((name for name, pattern in _FORMS if pattern.search(text)), "spark-defaults.conf")
    entries, more = _entries(text, syntax)
    brings_delta = "configure_spark_with_delta_pip" in text
    if not entries and not brings_delta:
        raise PasteRefused("No setting of Spark was found: paste spark-defaults.conf, spark-submit, JSON or PySpark.")
    platform = next((name for name, pattern in _PLATFORMS if pattern.search(text)), "")
    uris = tuple(dict.fromkeys(_uris(text, entries)))
    kept = tuple(map(_without_secret, entries))
    return WriterSession(kept, syntax, platform, uris, brings_delta, observed, (*unread, *more))


def _uris(text: str, entries: Iterable[PastedSetting]) -> Iterator[str]:
    """Paths that may be tables': those in settings are of jars, logs and the like, but for the warehouse's."""
    aside = {uri for entry in entries if entry.key not in _TABLES_IN for uri in _PATH.findall(entry.value)}
    for uri in (_USER.sub("//", found) for found in _PATH.findall(text)):
        if uri not in aside and not _NO_TABLE.search(uri) and not _MAY_BE_SECRET.search(uri):
            yield uri.rstrip(".")


def _unread(text: str) -> Iterator[str]:
    for pattern, what in _FROM_ELSEWHERE:
        for found in pattern.finditer(text):
            yield f"Line {_line_of(text, found.start())} {what}."


def _line_of(text: str, position: int) -> int:
    """The line of a position, from 1."""
    return text.count("\n", 0, position) + 1


def _entries(text: str, syntax: str) -> tuple[tuple[PastedSetting, ...], tuple[str, ...]]:
    if syntax == "spark-submit":
        return _of_command(text)
    lines = list(_of_lines(text, syntax)) if syntax in ("spark-defaults.conf", "SparkApplication") else []
    places = sorted(lines or chain(_of_strings(text), _of_options(text)), key=lambda one: one[0])
    return tuple(one for _, one in places), ()


def _without_secret(one: PastedSetting) -> PastedSetting:
    """Without its value where that is a secret by its key, names one, or looks as if one were in it."""
    is_secret = _SECRET.search(one.key) and not _CLASS_OR_PLACE.search(one.key)
    names_one = _SECRET.search(one.value) and not re.fullmatch(r"(?:[\w.$-]|,\s*)*", one.value)
    if is_secret or names_one or _MAY_BE_SECRET.search(one.value):
        return replace(one, value="", is_known=False)
    return one


# Options of a command


def _of_command(text: str) -> tuple[tuple[PastedSetting, ...], tuple[str, ...]]:
    """What the first Spark command for a POSIX shell sets up to its application; nothing of it is expanded.

    Where no command is named, every option counts.
    """
    joined = text.replace("\\\r\n", "\\\n").replace("\\\n", "  ")
    named, first = _COMMAND.search(joined), re.search(r"(?:^|\s)-", joined)
    start, end = named.span("words") if named else (first.start() if first else len(joined), len(joined))
    words = [
        (*_read_word(found[0]), found.start()) for found in re.compile(_WORD, re.DOTALL).finditer(joined, start, end)
    ]
    entries: list[PastedSetting] = []
    while words and words[0][0].startswith("-"):
        option, known, _ = words.pop(0)
        name, glued, value = option.partition("=") if option.startswith("--") else (option, "", "")
        if not glued and name not in _SWITCHES and words:
            value, is_known, _ = words.pop(0)
            known = known and is_known
        key, is_set, set_to = (_OPTIONS[name], "=", value) if name in _OPTIONS else value.partition("=")
        if is_set and (name in _OPTIONS or name in ("--conf", "-c")):
            entries.append(PastedSetting(key, set_to if known else "", known))
    if not words or words[0][1]:
        return tuple(entries), ()
    line = _line_of(text, words[0][2])
    return tuple(entries), (f"What the shell puts in on line {line}, and what stands behind it, are not judged.",)


def _read_word(raw: str) -> tuple[str, bool]:
    """A word as the shell hands it over, and whether it is that without the shell's doing."""
    expands = re.search(r"[$`]", re.sub(r"\\.|'[^']*'", "", raw, flags=re.DOTALL))
    return "".join(shlex.split(raw)), not expands


# Lines of a key and a value


def _of_lines(text: str, syntax: str) -> Iterator[Found]:
    is_yaml = syntax == "SparkApplication"
    joined = text if is_yaml else re.sub(r"\\\r?\n[ \t]*|\\\Z", "", text)
    for found in _LINE.finditer(joined):
        key, value = found["key"].strip("\"'"), found["value"].strip(" \t\r\f")
        if key != found["key"] and not is_yaml:
            continue
        known = True
        if is_yaml:
            value, known = _of_yaml(value)
            key = _of_hadoop(joined, found.start(), key)
        else:
            value = _ESCAPE.sub(_character, value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        yield found.start(), PastedSetting(key, value, known)
    if is_yaml and (names := _ITEM.findall(text)):
        yield 0, PastedSetting(PACKAGES, ",".join(names))


def _character(found: re.Match[str]) -> str:
    escaped = found[1]
    named = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
    return chr(int(escaped[1:], 16)) if len(escaped) == 5 else named.get(escaped, escaped)


def _of_yaml(written: str) -> tuple[str, bool]:
    """A plain or quoted scalar, and whether it is known: YAML's other devices are not read."""
    if found := re.match(r"'((?:[^']|'')*)'", written):
        return found[1].replace("''", "'"), True
    if found := re.match(_STRING, written):
        return _literal(found[0])
    plain = re.split(r"\s#", written)[0].strip()
    return ("", False) if plain[:1] in tuple("&*!|>%@`{[") else (plain, True)


def _of_hadoop(text: str, place: int, key: str) -> str:
    """A key of a block of Hadoop's settings as Spark has it."""
    blocks = _BLOCK.findall(text[:place])
    return f"spark.hadoop.{key}" if blocks and blocks[-1] in ("core-site", "hadoopConf") else key


# Strings beside each other, as in programs and JSON


def _of_strings(text: str) -> Iterator[Found]:
    for start, key, value, known in _strings_beside(text, lambda key: bool(re.fullmatch(_KEY, key))):
        before = text[max(0, start - 200) : start]
        if not _OF_HADOOP.search(before):
            yield start, PastedSetting(_of_hadoop(text, start, key), value, known, bool(_LATE.search(before)))


def _strings_beside(text: str, is_key: Callable[[str], bool]) -> Iterator[tuple[int, str, str, bool]]:
    """Where each such key stands, the key, the value behind it, and whether that is known; no value is a key too."""
    place = 0
    while found := _PAIR.search(text, place):
        key, place = found["key"][1:-1], found.end("key")
        if is_key(key):
            value, known, place = _value_at(text, found.end())
            yield found.start(), key, value, known


def _value_at(text: str, place: int) -> tuple[str, bool, int]:
    """The literal that begins at a place, and where it ends; not known where something is added to it, or put in."""
    found = _SCALAR.match(text, place)
    if found is None:
        return "", False, place
    end = found.end()
    if not re.match(r"\s{0,99}(?:[,;)\]}]|\Z|\n)", text[end : end + 100]):
        return "", False, end
    if found["plain"]:
        return found["plain"].lower().replace("null", ""), True, end
    if "f" in found["prefix"].lower() and "{" in found["string"]:
        return "", False, end
    return (found["string"][1:-1], True, end) if "r" in found["prefix"].lower() else (*_literal(found["string"]), end)


def _literal(quoted: str) -> tuple[str, bool]:
    for read in (json.loads, ast.literal_eval):
        try:
            return str(read(quoted)).encode("utf-16", "surrogatepass").decode("utf-16", "replace"), True
        except (ValueError, SyntaxError):
            continue
    return "", False


def _of_options(text: str) -> Iterator[Found]:
    """Options in lists and maps of strings, packages of Delta's helper for the wheel, and libraries of a cluster."""
    for start, name, value, known in _strings_beside(text, lambda key: key == "--conf" or key in _OPTIONS):
        if name in _OPTIONS:
            yield start, PastedSetting(_OPTIONS[name], value, known)
        elif known:
            for one in _CHAIN.split(f"--conf {value}")[1:]:
                key, _, set_to = one.strip().partition("=")
                yield start, PastedSetting(key, set_to)
    for found in _EXTRA.finditer(text):
        names = [one[1:-1] for one in re.findall(_STRING, found[1])]
        yield found.start(), PastedSetting(PACKAGES, ",".join(names))
    if libraries := list(_COORDINATES.finditer(text)):
        yield libraries[0].start(), PastedSetting(PACKAGES, ",".join(one[1][1:-1] for one in libraries))
