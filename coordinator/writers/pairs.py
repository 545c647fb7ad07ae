"""Settings of a Spark session from any text in which they stand as key and value. None of it is run or kept.

What stands in another form than those of spark-defaults.conf, spark-submit, PySpark, Scala, JSON and YAML is not found,
and what a text takes from elsewhere is said in `unread`. Secrets are masked as they are read.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from coordinator.writers.session import NOTHING_OBSERVED, ObservedPlace, PastedSetting, WriterSession
from coordinator.writers.shell_words import shell_options
from lake.secrets import MASK, is_secret_key, without_secrets

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
_NO_TABLE = re.compile(r"\.(?:py|jar|zip|egg|whl|conf|json|sql|sh|txt|yaml|yml|properties|tar\.gz)$")
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
    """The session that a text of at most 256 KiB sets up, each secret masked, beside what was observed.

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
    uris = tuple(dict.fromkeys(_uris(without_secrets(text), entries)))
    return WriterSession(entries, syntax, platform, uris, brings_delta, observed, (*unread, *more))


def _uris(text: str, entries: Iterable[PastedSetting]) -> Iterator[str]:
    """Paths that may be tables': those in settings are of jars, logs and the like, but for the warehouse's."""
    aside = {uri for entry in entries if entry.key not in _TABLES_IN for uri in _PATH.findall(entry.value)}
    for uri in _PATH.findall(text):
        if uri not in aside and not _NO_TABLE.search(uri):
            yield uri.rstrip(".")


def _unread(text: str) -> Iterator[str]:
    for pattern, what in _FROM_ELSEWHERE:
        for found in pattern.finditer(text):
            yield f"Line {line_of(text, found.start())} {what}."


def line_of(text: str, position: int) -> int:
    """The line of a position, from 1."""
    return text.count("\n", 0, position) + 1


def _entries(text: str, syntax: str) -> tuple[tuple[PastedSetting, ...], tuple[str, ...]]:
    if syntax == "spark-submit":
        settings, stopped_at = shell_options(text, _OPTIONS)
        found = [PastedSetting(key, value if is_known else "", is_known) for key, value, is_known in settings]
        why = f"What the shell puts in on line {stopped_at}, and what stands behind it, are not judged."
        return tuple(map(_masked, found)), (why,) if stopped_at else ()
    lines = list(_of_lines(text, syntax)) if syntax in ("spark-defaults.conf", "SparkApplication") else []
    places = sorted(lines or chain(_of_strings(text), _of_options(text)), key=lambda one: one[0])
    return tuple(_masked(one) for _, one in places), ()


def _masked(one: PastedSetting) -> PastedSetting:
    is_secret = is_secret_key(one.key) and one.value
    value = MASK if is_secret else without_secrets(one.value)
    return PastedSetting(one.key, value, one.is_known, one.is_late)


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
