"""Which syntax a pasted text is in, and its settings."""

import re
from collections.abc import Callable

from coordinator.writers.json_text import read_json
from coordinator.writers.pasted import PastedText, PasteRefused
from coordinator.writers.properties_text import read_properties
from coordinator.writers.python_text import read_python
from coordinator.writers.shell_text import read_shell
from coordinator.writers.yaml_text import read_yaml

MOST_BYTES = 256 * 1024
_PYTHON = re.compile(r"\.\s*config\s*\(|\bSparkConf\s*\(|\.conf\.set\s*\(|configure_spark_with_delta_pip")
_YAML = re.compile(r"^\s*(?:sparkConf|kind)\s*:", re.MULTILINE)
_SHELL = re.compile(
    r"(?:^|\s)(?:\S*/)?(?:spark-submit|spark-shell|spark-sql|pyspark)(?:\s|$)|(?:^|\s)--(?:conf|packages|jars)\b"
)
_READERS: tuple[tuple[Callable[[str], bool], Callable[[str], PastedText]], ...] = (
    (lambda text: text.lstrip()[:1] in ("{", "["), read_json),
    (lambda text: bool(_PYTHON.search(text)), read_python),
    (lambda text: bool(_YAML.search(text)), read_yaml),
    (lambda text: bool(_SHELL.search(_without_comments(text))), read_shell),
    (lambda text: True, read_properties),
)
_YAML_BLOCK = re.compile(r"^[ \t]*(?:-[ \t]+)?[A-Za-z_][\w-]*:[ \t]*\r?\n[ \t]+", re.MULTILINE)
_KEYS = ("spark.", "io.delta.", "delta.", "databricks.", "fs.")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def read_text(text: str) -> PastedText:
    """Read a text of at most 256 KiB; PasteRefused, without quoting it, for what holds no setting that can be read."""
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise PasteRefused("The text is larger than 256 KiB: paste the part with the settings alone.")
    if found := _CONTROLS.search(text):
        raise PasteRefused(f"The text holds the control character {ord(found[0]):#04x}, which no such file has.")
    if text.startswith("\ufeff"):
        raise PasteRefused("The text begins with a byte order mark, which Spark reads as a letter: save it without.")
    reader = next(reader for is_it, reader in _READERS if is_it(text))
    pasted = reader(text)
    if not pasted.entries and not pasted.brings_delta:
        raise PasteRefused("No setting of Spark was found: paste spark-defaults.conf, spark-submit, JSON or PySpark.")
    if pasted.syntax == "spark-defaults.conf" and not _is_of_spark(text, pasted):
        raise PasteRefused("This is no syntax that is read: paste spark-defaults.conf, spark-submit, JSON or PySpark.")
    return pasted


def _is_of_spark(text: str, pasted: PastedText) -> bool:
    """Any text is lines of a key and a value: one that has no key of Spark's, or blocks as YAML, is something else."""
    return any(one.key.startswith(_KEYS) for one in pasted.entries) and not _YAML_BLOCK.search(text)


def _without_comments(text: str) -> str:
    return re.sub(r"^[ \t]*[#!].*$", "", text, flags=re.MULTILINE)
