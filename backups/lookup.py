"""Finding the plan that a command names."""

from backups.models import Plan
from dashboard.commands import Failed


def plan_named(name: str) -> Plan:
    """The plan, with its connections. Raises Failed."""
    plan = Plan.objects.select_related("connection", "vault_connection").filter(name=name).first()
    if plan is None:
        raise Failed(f"There is no plan {name!r}: `levee backup plans` lists them.")
    return plan
