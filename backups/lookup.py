"""Finding what a command names."""

from backups.models import Plan
from dashboard.commands import Failed, UsageError
from lake.delta.uri import TableUri


def uri_named(text: str) -> str:
    """The s3a:// URI of a place. Raises UsageError."""
    try:
        return TableUri.parse(text).s3a
    except ValueError as error:
        raise UsageError(str(error)) from error


def plan_named(name: str) -> Plan:
    """The plan, with its connections. Raises Failed."""
    plan = Plan.objects.select_related("connection", "vault_connection").filter(name=name).first()
    if plan is None:
        raise Failed(f"There is no plan {name!r}: `levee backup plans` lists them.")
    return plan
