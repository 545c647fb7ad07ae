"""The columns of a table as any reader of it tells them: names and types, without what readers tell differently."""

from collections.abc import Mapping
from typing import Any

_TOLD_DIFFERENTLY = frozenset({"metadata", "nullable", "containsNull", "valueContainsNull"})


def columns_of(schema: Any) -> Any:
    """A schema in the JSON of Spark and Delta, without metadata of columns and without what may be null: Spark says of
    everything that it reads that it may be."""
    if isinstance(schema, Mapping):
        return {name: columns_of(value) for name, value in schema.items() if name not in _TOLD_DIFFERENTLY}
    return [columns_of(one) for one in schema] if isinstance(schema, list) else schema
