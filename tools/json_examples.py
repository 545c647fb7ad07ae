"""The JSON examples of docs/json.md, written from the types of what commands print.

`python -m tools.json_examples` says which differ, `--write` writes them.
"""

import json
import os
import re
import sys
import types
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from importlib import import_module
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict
from uuid import UUID

from tools.machine import CHECKOUT, say

PAGE = CHECKOUT / "docs" / "json.md"
WIDTH = 120
_BLOCK = re.compile(r"(<!-- json: (\w+) -->\n```json\n)(.*?)(\n```)", re.DOTALL)
_MARKED = re.compile(r"<!-- json: (\w+) -->")
MODULES = (
    "coordinator.contract",
    "coordinator.coordination.contract",
    "coordinator.writers.contract",
    "coordinator.writers.doctor",
    "backups.contract",
    "dashboard.alerts.queries",
    "dashboard.audit.queries",
    "dashboard.deadlines.queries",
    "dashboard.declaration.differences",
    "dashboard.jobs.queries",
    "lake.points.keeping",
)
_PLAIN: dict[Any, Any] = {
    str: "…",
    UUID: "…",
    int: 0,
    float: 0.0,
    bool: False,
    Any: "…",
    datetime: "2026-11-20T10:00:00Z",
}


def example(kind: Any) -> Any:
    """A value of a type: what its annotation gives, else the first of its kind."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return args[1]
    if origin is NotRequired:
        return example(args[0])
    if is_typeddict(kind) or is_dataclass(kind):
        return {name: example(of) for name, of in get_type_hints(kind, include_extras=True).items()}
    if origin is Literal:
        return " | ".join(map(str, args))
    if origin in (Union, types.UnionType):
        return example(next(one for one in args if one is not type(None)))
    if origin in (list, tuple, Sequence):
        return [] if args == (Any,) else [example(one) for one in args if one is not Ellipsis]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " | ".join(one.value for one in kind)
    return {} if origin in (dict, Mapping) else _PLAIN[kind]


def in_lines(value: Any, indent: int = 0, room: int = 0) -> str:
    """JSON that breaks only where a line would be too long; `room` is what stands before and behind it."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent + room <= WIDTH or not value or not isinstance(value, dict | list):
        return flat
    if isinstance(value, list):
        return f"[{f',{_new_line(indent + 1)}'.join(in_lines(one, indent + 1, 2) for one in value)}]"
    return f"{{{_filled(value, indent + 1)}}}"


def _filled(values: dict[str, Any], indent: int) -> str:
    """The members of an object, as many to a line as it takes; a long one on lines of its own."""
    text, line = "", indent
    for place, (name, value) in enumerate(values.items()):
        key = f"{json.dumps(name)}: "
        flat = key + json.dumps(value, ensure_ascii=False)
        fits = line + len(flat) + 3 <= WIDTH
        if place and not fits:
            text, line = f"{text.rstrip()}{_new_line(indent)}", indent
        if line + len(flat) + 3 > WIDTH:
            flat = key + in_lines(value, indent + len(key), 3)
        text += flat + (", " if place + 1 < len(values) else "")
        line = WIDTH if "\n" in flat else line + len(flat) + 2
    return text


def _new_line(indent: int) -> str:
    return "\n" + " " * indent


def written(page: str, documents: dict[str, Any]) -> str:
    """The page with each marked example as its type has it. Raises KeyError for a name that no document has."""
    return _BLOCK.sub(lambda found: f"{found[1]}{in_lines(example(documents[found[2]]))}{found[4]}", page)


def documents() -> dict[str, Any]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    import django

    django.setup()
    modules = [vars(import_module(name)) for name in MODULES]
    return {name: ChainMap(*modules)[name] for name in _MARKED.findall(PAGE.read_text())}


def main() -> int:
    page = PAGE.read_text()
    wanted = written(page, documents())
    if "--write" in sys.argv[1:]:
        PAGE.write_text(wanted)
        return 0
    if page != wanted:
        say("Examples of docs/json.md are not as the types have them.")
        say("`python -m tools.json_examples --write` writes them.")
    return int(page != wanted)


if __name__ == "__main__":
    sys.exit(main())
