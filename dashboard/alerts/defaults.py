"""The rules of day one: one for each kind of problem, with its own threshold, for every operator with an address."""

from typing import Any

from dashboard.alerts.models import Rule
from dashboard.alerts.problems import kinds


def ensure_default_rules(**_: Any) -> None:
    """Add the rule of each kind that has none; what an admin has changed stays. Runs after every migration."""
    known = set(Rule.objects.values_list("name", flat=True))
    missing = [Rule(kind=kind.name, name=kind.words, threshold=kind.threshold) for kind in kinds()]
    Rule.objects.bulk_create([rule for rule in missing if rule.name not in known], ignore_conflicts=True)
