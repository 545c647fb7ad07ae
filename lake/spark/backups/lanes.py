"""The lane of each object: how it is to be copied, or why it is not."""

from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lake.spark.backups.tasks import Batches, BatchStep

ARCHIVE_CLASSES = ("GLACIER", "DEEP_ARCHIVE")
ARCHIVE_TIERS = ("ARCHIVE", "DEEP_ARCHIVE", "ARCHIVE_ACCESS", "DEEP_ARCHIVE_ACCESS")
"""INTELLIGENT_TIERING's tiers that have to be restored first; ARCHIVE_INSTANT_ACCESS is read at once."""
LANES = ("copy", "multipart")
"""The lanes that have manifests; others are archived, too_new and already_there."""


def with_lanes(cut_off: datetime, limit: int) -> BatchStep:
    """Replace `storage_class` and `access_tier` by `lane`; archived goes before too_new, as it has to be restored."""

    def add(batches: Batches) -> Batches:
        for rows in batches:
            lanes = _lanes(rows, cut_off, limit)
            yield rows.drop_columns(["storage_class", "access_tier"]).append_column("lane", lanes)

    return add


def _lanes(rows: Any, cut_off: datetime, limit: int) -> Any:
    is_archived = pc.or_(
        pc.is_in(rows["storage_class"], value_set=pa.array(ARCHIVE_CLASSES)),
        pc.is_in(rows["access_tier"], value_set=pa.array(ARCHIVE_TIERS)),
    )
    is_new = pc.greater(rows["modified_at"], pa.scalar(cut_off, pa.timestamp("us", tz="UTC")))
    cases = pa.StructArray.from_arrays(
        [is_archived, is_new, pc.greater(rows["size"], limit)], names=["archived", "too_new", "multipart"]
    )
    return pc.case_when(cases, *(pa.scalar(lane) for lane in ("archived", "too_new", "multipart", "copy")))
