"""Values of items in an order of their own, so that one value reads the same each time."""

from collections.abc import Mapping
from typing import Any


def in_order(value: Any) -> Any:
    """The same value with the names of every map sorted: DynamoDB gives them in no order."""
    if isinstance(value, Mapping):
        return {name: in_order(value[name]) for name in sorted(value)}
    return [in_order(one) for one in value] if isinstance(value, list) else value
