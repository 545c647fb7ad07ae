"""Tables whose commits have no time of their own: a copy is dated by its copying."""

from dataclasses import dataclass

from django.db.models import QuerySet

from backups.models import RestorePoint

MOST_NAMED = 30


@dataclass(frozen=True, slots=True)
class Times:
    """How many of the restorable tables have no in-commit timestamps, of how many, and some of them by name."""

    number: int
    of: int
    tables: list[str]


def times_of(points: "QuerySet[RestorePoint]") -> Times:
    """By the newest version of each table that can be restored from these points."""
    restorable = points.filter(earlier="", version__isnull=False)
    without = restorable.filter(in_commit_timestamps=False)
    names = list(without.order_by("table").values_list("table", flat=True)[:MOST_NAMED])
    number = len(names) if len(names) < MOST_NAMED else without.count()
    return Times(number, restorable.count() if number else 0, names)
