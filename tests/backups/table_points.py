"""A table as it was seen, and restore points of it as rows of the database."""

from datetime import timedelta
from typing import Any

from backups.models import Plan, RestorePoint
from backups.queries.tables import restorable_of
from dashboard.connections.protection import Restorable, SeenTable
from tests.backups.page_records import NOW, make_run

URI = "s3a://acme-lake-prod/warehouse/sales/orders"
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def seen(**fields: Any) -> SeenTable:
    values: dict[str, Any] = {
        "s3": "aws",
        "bucket": "acme-lake-prod",
        "root": "warehouse/sales/orders",
        "uri": URI,
        "incarnation": "id-1",
        "oldest": 0,
        "published": 41,
        "accepted": 41,
        "seen_at": NOW - 5 * MINUTE,
    }
    return SeenTable(**values | fields)


def make_point(plan: Plan, *, hours: float = 5, **fields: Any) -> RestorePoint:
    """A point that was level with its table that many hours ago."""
    then, run = NOW - hours * HOUR, plan.runs.first() or make_run(plan)
    values: dict[str, Any] = {
        "destination": plan.destination,
        "table": URI,
        "incarnation": "id-1",
        "state": "proven",
        "sentence": "Version 41, the newest of the source's log, can be restored.",
        "anchored": True,
        "version": 41,
        "accepted_version": 41,
        "ranges": [[0, 41]],
        "committed_at": then,
        "holds_until": then,
        "proven_at": then,
        "files": 3,
        "proof": f"{plan.destination}_levee/points/acme-lake-prod/warehouse/sales/orders/@41.json",
    }
    return RestorePoint.objects.create(plan=plan, run=run, **values | fields)


def told(table: SeenTable | None = None, visible: frozenset[int] | None = None) -> Restorable:
    return restorable_of([table or seen()], visible, NOW)[0]
