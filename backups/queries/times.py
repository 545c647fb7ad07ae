"""Tables whose commits have no time of their own: a copy is dated by its copying."""

from dataclasses import dataclass

from backups.models import Run

MOST_NAMED = 30


@dataclass(frozen=True, slots=True)
class Times:
    """How many of the restorable tables are known to have no in-commit timestamps, of how many, and some by name."""

    number: int
    of: int
    tables: list[str]


def times_of(proof: Run | None) -> Times | None:
    """Of the tables that the newest proof of a plan, or a run since then, has proven; None for any run before it."""
    if proof is None or proof != proof.plan.runs.proofs().first():
        return None
    lately = proof.plan.points.filter(run__created_at__gte=proof.created_at)
    restorable = lately.filter(earlier="", version__isnull=False, in_commit_timestamps__isnull=False)
    without = restorable.filter(in_commit_timestamps=False)
    names = list(without.order_by("table").values_list("table", flat=True)[:MOST_NAMED])
    number = len(names) if len(names) < MOST_NAMED else without.count()
    return Times(number, restorable.count() if number else 0, names)
