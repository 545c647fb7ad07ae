"""The door of storing: what a hostile lake says, made into what every database takes.

PostgreSQL refuses NUL characters in texts and JSON, texts longer than their column and integers out of its range; each
would otherwise cost the whole transaction.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from functools import cache, partial
from typing import Any

from django.db import connection, models

REPLACEMENT = "\ufffd"
"""Stands for what no text column can hold: a text with it may have been another one."""
_DIGEST = 16
DEEPEST = 20
"""Levels of JSON that are kept; PostgreSQL has a limit of its own, and no page shows as many."""


def make_storable(row: models.Model) -> None:
    """Fit every text, number and JSON value of the row to its column, in place.

    Texts are cut; in a column that tells rows apart the cut end becomes a digest, so that two long names stay two. A
    number out of range becomes null, or the limit where the column takes no null.
    """
    for name, fit in _fits(type(row)):
        value = row.__dict__.get(name)
        if value is not None:
            row.__dict__[name] = fit(value)


def clean_text(text: str) -> str:
    """Replace what no text column can hold: NUL and lone surrogates become U+FFFD."""
    text = text.replace("\0", REPLACEMENT) if "\0" in text else text
    if text.isascii():
        return text
    return "".join(REPLACEMENT if "\ud800" <= letter <= "\udfff" else letter for letter in text)


def clean_json(value: Any, depth: int = 0) -> Any:
    """Return the value as JSON that every database takes; what has no form in JSON becomes its text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth >= DEEPEST:
        return "…"
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean_json(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
        return [clean_json(inner, depth + 1) for inner in value]
    return clean_text(str(value))


@cache
def _fits(model: type[models.Model]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    names = {name for rule in model._meta.total_unique_constraints for name in rule.fields}
    found = ((field.attname, _fit_of(field, field.name in names)) for field in model._meta.concrete_fields)
    return tuple((name, fit) for name, fit in found if fit is not None)


def _fit_of(field: Any, tells_rows_apart: bool) -> Callable[[Any], Any] | None:
    if isinstance(field, models.CharField):
        return partial(_fit_text, most=field.max_length, tells_rows_apart=tells_rows_apart)
    if isinstance(field, models.TextField):
        return clean_text
    if isinstance(field, models.JSONField):
        return clean_json
    if isinstance(field, models.IntegerField) and not field.primary_key:
        low, high = connection.ops.integer_field_range(field.get_internal_type())
        return partial(_fit_number, low=low, high=high, null=field.null)
    return None


def _fit_text(text: str, *, most: int | None, tells_rows_apart: bool) -> str:
    text = clean_text(str(text))
    if most is None or len(text) <= most:
        return text
    if not tells_rows_apart:
        return text[:most]
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    return f"{text[: most - _DIGEST - 1]}~{digest}"


def _fit_number(number: int, *, low: int | None, high: int | None, null: bool) -> int | None:
    if low is not None and number < low:
        return None if null else low
    if high is not None and number > high:
        return None if null else high
    return number
