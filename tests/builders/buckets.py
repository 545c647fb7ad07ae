"""Buckets as they are judged."""

from typing import Any


def lifecycle_rule(prefix: str = "", days: int | None = 30, filters: Any = None, **more: Any) -> dict[str, Any]:
    """An enabled rule r1 that deletes after some days; `filters` are further terms of its filter."""
    chosen = {"And": {"Prefix": prefix, **filters}} if filters else {"Prefix": prefix}
    expires = {"Expiration": {"Days": days}} if days is not None else {}
    return {"ID": "r1", "Status": "Enabled", "Filter": chosen, **expires, **more}
