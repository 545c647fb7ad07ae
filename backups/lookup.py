"""Finding what a command names."""

from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime

from backups.models import Plan
from dashboard.commands import Failed, UsageError
from lake.delta.uri import TableUri


def uri_named(text: str) -> str:
    """The s3a:// URI of a place. Raises UsageError."""
    try:
        return TableUri.parse(text).s3a
    except ValueError as error:
        raise UsageError(str(error)) from error


def moment_named(text: str) -> datetime | None:
    """A moment in ISO 8601, in UTC where it names no zone; None where it is none."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment and moment.replace(tzinfo=moment.tzinfo or UTC)


def plan_named(name: str) -> Plan:
    """The plan, with its connections. Raises Failed."""
    plan = Plan.objects.select_related("connection", "vault_connection").filter(name=name).first()
    if plan is None:
        raise Failed(f"There is no plan {name!r}: `levee backup plans` lists them.")
    return plan
