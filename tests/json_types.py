"""Whether what a command printed, or a job stored, is of the type that the code and the documentation give it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from io import StringIO
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict
from uuid import UUID

from django.core.management import call_command

TEXTS = (datetime, UUID)
"""What is a text in JSON."""


def missing(value: Any, kind: Any, place: str = "") -> list[str]:
    """Where a value is not of a type, or has other members than it."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Annotated, NotRequired):
        return missing(value, args[0], place)
    if is_typeddict(kind) or is_dataclass(kind):
        return _members(value, kind, place)
    if len(args) == 2 and type(None) in args:
        return [] if value is None else missing(value, next(one for one in args if one is not type(None)), place)
    if origin in (list, tuple, Sequence):
        kinds = [args[0]] * len(value) if len(args) == 1 or Ellipsis in args else args
        return [one for element, of in zip(value, kinds, strict=True) for one in missing(element, of, place)]
    if kind in TEXTS or (isinstance(kind, type) and issubclass(kind, Enum)):
        kind = str
    allowed = (int, float) if kind is float else Mapping if origin is Mapping else origin or kind
    return [] if kind is Any or isinstance(value, allowed) else [f"{place}: {value!r} is no {kind}"]


def _members(value: Any, kind: Any, place: str) -> list[str]:
    wanted = get_type_hints(kind, include_extras=True)
    needed = getattr(kind, "__required_keys__", set(wanted))
    wrong = sorted((needed - set(value)) | (set(value) - set(wanted)))
    common = set(wanted) & set(value)
    told = [f"{place}: {wrong}"] if wrong else []
    return told + [one for name in common for one in missing(value[name], wanted[name], f"{place}.{name}")]


def printed(*words: str, **options: Any) -> Any:
    """The document that a command prints."""
    return json.loads(said(*words, "--json", **options))


def said(*words: str, **options: Any) -> str:
    """The text that a command prints."""
    out = StringIO()
    call_command(*words, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()
