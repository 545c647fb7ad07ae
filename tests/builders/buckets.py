"""Buckets as they are judged."""

from collections.abc import Iterable, Mapping
from typing import Any

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.buckets import judge_bucket
from coordinator.protocols.judgement import Assessment


def diagnose_bucket(
    description: Mapping[str, Any], tables: Iterable[TableInBucket | str] = (), **how: Any
) -> Assessment:
    """The assessment of a bucket with these tables, or tables at these prefixes."""
    known = [TableInBucket(one.strip("/")) if isinstance(one, str) else one for one in tables]
    return judge_bucket(description, known, **how).assessment


def lifecycle_rule(prefix: str = "", days: int | None = 30, filters: Any = None, **more: Any) -> dict[str, Any]:
    """An enabled rule r1 that deletes after some days; `filters` are further terms of its filter."""
    chosen = {"And": {"Prefix": prefix, **filters}} if filters else {"Prefix": prefix}
    expires = {"Expiration": {"Days": days}} if days is not None else {}
    return {"ID": "r1", "Status": "Enabled", "Filter": chosen, **expires, **more}
