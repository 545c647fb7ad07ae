"""Settings as text to paste: each syntax has its own way to escape, and no value may break out of it."""

import json
import re
import shlex
from collections.abc import Sequence

from coordinator.coordination.session_conf import Setting

Pairs = Sequence[tuple[str, str]]


def pairs_of(settings: Sequence[Setting]) -> list[tuple[str, str]]:
    return [(one.key, one.value) for one in settings]


def spark_submit(pairs: Pairs, packages: Sequence[str]) -> str:
    """For a POSIX shell; also the arguments of spark-shell, spark-sql and pyspark."""
    lines = ["spark-submit", f"--packages {shlex.quote(','.join(packages))}"]
    lines += [f"--conf {shlex.quote(f'{key}={value}')}" for key, value in pairs]
    return " \\\n  ".join([*lines, "job.py"])


def pyspark(pairs: Pairs, packages: Sequence[str]) -> str:
    """Python; the session must not be running yet, as jars and catalogues are read at its start."""
    lines = ["from pyspark.sql import SparkSession", "", "spark = (", "    SparkSession.builder"]
    every = [("spark.jars.packages", ",".join(packages)), *pairs]
    lines += [f"    .config({python_literal(key)}, {python_literal(value)})" for key, value in every]
    return "\n".join([*lines, "    .getOrCreate()", ")"])


def cluster_conf(pairs: Pairs, packages: Sequence[str]) -> str:
    """Lines of spark-defaults.conf, which is read as Java properties."""
    every = [("spark.jars.packages", ",".join(packages)), *pairs]
    return "\n".join(properties_line(key, value) for key, value in every)


def properties_line(key: str, value: str) -> str:
    """One line of spark-defaults.conf."""
    escaped = "".join(f"\\{one}" if one in " :=#!" else _java_character(one) for one in key)
    return f"{escaped} {_java(value)}"


def python_literal(text: str) -> str:
    """A Python literal, in double quotes where nothing in it needs escaping."""
    plain = text.isascii() and text.isprintable() and not {'"', "\\"} & set(text)
    return f'"{text}"' if plain else ascii(text)


def glue_conf(pairs: Pairs) -> str:
    """The value of Glue's --conf, which chains settings in one text; "" where a value has a blank in it."""
    if any(re.search(r"\s", f"{key}{value}") for key, value in pairs):
        return ""
    return " --conf ".join(f"{key}={value}" for key, value in pairs)


def yaml_text(text: str) -> str:
    """A scalar in double quotes: what cannot be printed is escaped, as YAML would fold or refuse it."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else _yaml_escape(one) for one in written)


def _yaml_escape(one: str) -> str:
    return f"\\u{ord(one):04x}" if ord(one) < 0x10000 else f"\\U{ord(one):08x}"


def _java(text: str) -> str:
    """A value of java.util.Properties: backslashes doubled, all but printable ASCII as UTF-16 escapes.

    A blank or separator at its beginning is escaped: the reader would take it for what stands between key and value.
    """
    written = "".join(_java_character(one) for one in text)
    return f"\\{written}" if written[:1] in (" ", "=", ":") else written


def _java_character(one: str) -> str:
    if one == "\\":
        return "\\\\"
    if " " <= one <= "~":
        return one
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
