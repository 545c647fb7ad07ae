"""Buckets as they are judged."""

from collections.abc import Iterable
from typing import Any

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.buckets import judge_bucket
from coordinator.protocols.judgement import Assessment


def diagnose_bucket(description: object, tables: Iterable[TableInBucket | str] = (), **how: Any) -> Assessment:
    """The assessment of a bucket with these tables, or tables at these prefixes."""
    known = [TableInBucket(one.strip("/")) if isinstance(one, str) else one for one in tables]
    return judge_bucket(description, known, **how).assessment
