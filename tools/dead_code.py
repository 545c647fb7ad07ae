"""Functions, classes and constants of production code that no program uses, or tests alone, as vulture finds them.

Vulture goes by names: a name that is used anywhere counts as used everywhere. Programs are production code itself, the
sandbox and the benchmarks; templates use what they name, and settings what they name by a dotted path.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from vulture import Vulture
from vulture.core import Item

PROGRAMS = ("sandbox", "benchmarks")
KINDS = ("class", "function", "method", "property", "variable")
REGISTERING = ["@app.task*", "@shared_task*", "@job_kind*", "@register*", "@*.connect"]
"""Decorators that hand what they decorate to others, who call it."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_DOTTED = re.compile(r"[a-z_]\w*(?:\.\w+)+")


def dead_code(checkout: Path, packages: Sequence[Path], excused: Sequence[str]) -> Iterator[str]:
    """Kind, name and place of each that is dead and whose name no pattern of `excused` matches."""
    programs = [checkout / name for name in PROGRAMS if (checkout / name).is_dir()]
    vulture = Vulture(ignore_decorators=REGISTERING)
    vulture.scavenge([str(path) for path in (*packages, *programs)])
    vulture.used_names |= _named_in_templates(checkout) | _named_by_path(packages)
    for item in vulture.get_unused_code():
        place = Path(item.filename).relative_to(checkout)
        if item.typ in KINDS and _is_ours(item, place) and not any(fnmatchcase(item.name, one) for one in excused):
            yield f"{item.typ} {item.name}, {place}:{item.first_lineno}"


def _is_ours(item: Item, place: Path) -> bool:
    """Production code, without migrations and settings; of variables only a module's own, as fields are columns."""
    if place.parts[0] in PROGRAMS or "migrations" in place.parts or place.name == "settings.py":
        return False
    line = Path(item.filename).read_text().splitlines()[item.first_lineno - 1]
    return bool(item.typ != "variable" or line.startswith(item.name))


def _named_in_templates(checkout: Path) -> set[str]:
    files = (path for path in (checkout / "templates").rglob("*") if path.is_file())
    return {word for path in files for word in _WORD.findall(path.read_text())}


def _named_by_path(packages: Sequence[Path]) -> set[str]:
    """The last part of "dashboard.frame.errors.not_found" in a string."""
    sources = (path.read_text() for package in packages for path in package.rglob("*.py"))
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {text.rpartition(".")[2] for text in texts if _DOTTED.fullmatch(text)}
