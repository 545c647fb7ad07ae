"""What `levee apply` declares of backups: `[[plans]]`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction

from backups.cron import ScheduleError, parse_schedule
from backups.models import Plan
from coordinator.declaration import Change
from dashboard.connections.models import Connection
from dashboard.declarations import DeclarationError, Field, read_list, read_table, require_once

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_S3_URI = re.compile(r"s3[an]?://[^/\s]+(/.*)?")
_KEEP_FIELDS = {
    period: Field(int, default=0, check=lambda n: "" if n >= 0 else "it is negative.")
    for period in ("daily", "weekly", "monthly")
}


def read_plans(document: Mapping[str, Any], connections: set[str]) -> tuple[dict[str, Any], ...]:
    """Read `[[plans]]`; `connections` are the names plans may refer to. Raises DeclarationError with the place."""
    plans = tuple(
        _read_plan(place, table, connections) for place, table in read_list("plans", document.get("plans", []))
    )
    require_once("plans", "plan", [plan["name"] for plan in plans])
    return plans


def plan_changes(plans: tuple[dict[str, Any], ...]) -> list[Change]:
    """Say what storing the plans would add or change."""
    return list(_differences(plans))


@transaction.atomic
def store_plans(plans: tuple[dict[str, Any], ...]) -> list[Change]:
    """Store the plans and return what that changed."""
    changes = list(_differences(plans))
    for change in changes:
        values = dict(change.after)
        for key in ("connection", "vault_connection"):
            values[key] = Connection.objects.get(name=values[key])
        Plan.objects.update_or_create(name=change.name, defaults=values)
    return changes


def _differences(plans: tuple[dict[str, Any], ...]) -> Iterator[Change]:
    for plan in plans:
        row = Plan.objects.filter(name=plan["name"]).select_related("connection", "vault_connection").first()
        before = None if row is None else {key: _stored(row, key) for key in plan}
        if before != plan:
            yield Change("plan", plan["name"], before, plan)


def _stored(row: Plan, key: str) -> Any:
    value = getattr(row, key)
    if isinstance(value, Connection):
        return value.name
    return float(value) if key == "cost_ceiling_usd" and value is not None else value


def _read_plan(place: str, table: object, connections: set[str]) -> dict[str, Any]:
    values = read_table(place, table, _PLAN_FIELDS)
    values["vault_connection"] = values["vault_connection"] or values["connection"]
    for key in ("connection", "vault_connection"):
        if values[key] not in connections:
            raise DeclarationError(f"{place}.{key} names {values[key]!r}, which is not declared.")
    keep = read_table(f"{place}.keep", values["keep"], _KEEP_FIELDS)
    values["keep"] = {period: count for period, count in keep.items() if count}
    return values


def _uri_complaint(text: str) -> str:
    return "" if _S3_URI.fullmatch(text) else f"{text!r} is not a place in S3: write s3a://bucket/prefix/."


def _positive_complaint(number: float) -> str:
    return "" if number > 0 else f"{number} is not above zero."


def _cents_complaint(number: float) -> str:
    if not number > 0:
        return f"{number} is not above zero."
    return "" if round(number, 2) == number else f"{number} has parts of a cent."


def _schedule_complaint(text: str) -> str:
    try:
        parse_schedule(text)
    except ScheduleError as error:
        return str(error)
    return ""


def _one_of(choices: Sequence[str]) -> Callable[[str], str]:
    return lambda text: "" if text in choices else f"{text!r} is not one of {', '.join(choices)}."


def _arn_complaint(service: str) -> Callable[[str], str]:
    arn = re.compile(rf"arn:aws[a-z-]*:{service}:[a-z0-9-]*:\d{{12}}:\S+")
    return lambda text: "" if not text or arn.fullmatch(text) else f"{text!r} is not an ARN of {service}."


def _people_complaint(people: list[Any]) -> str:
    unfit = next((one for one in people if not isinstance(one, str) or not _ADDRESS.fullmatch(one)), None)
    return "" if unfit is None else f"{unfit!r} is not a mail address."


_ADDRESS = re.compile(r"[^@\s,]+@[^@\s,]+")
# What S3 can copy into (CopyObject, x-amz-storage-class), without the classes that are being retired.
STORAGE_CLASSES = (
    "STANDARD",
    "STANDARD_IA",
    "ONEZONE_IA",
    "INTELLIGENT_TIERING",
    "GLACIER_IR",
    "GLACIER",
    "DEEP_ARCHIVE",
)
_PLAN_FIELDS = {
    "name": Field(
        str,
        required=True,
        check=lambda text: "" if _NAME.fullmatch(text) else f"{text!r} is not 1 to 64 of a-z, 0-9 and dashes.",
    ),
    "connection": Field(str, required=True),
    "vault_connection": Field(str),
    "source": Field(str, required=True, check=_uri_complaint, longest=1_100),
    "destination": Field(str, required=True, check=_uri_complaint, longest=1_100),
    "inventory": Field(str, default="", check=_uri_complaint, longest=1_100),
    "minimum_lag_hours": Field(int, default=24, check=lambda n: "" if n >= 0 else f"{n} is negative."),
    "engine": Field(
        str,
        default=Plan.Engine.S3_BATCH.value,
        check=_one_of(Plan.Engine.values),
    ),
    "schedule": Field(str, default="", check=_schedule_complaint, longest=64),
    "objective_hours": Field(int, default=36, check=_positive_complaint),
    "cost_ceiling_usd": Field(float, check=_cents_complaint, most=99_999_999),
    "keep": Field(dict, default={}),
    "evidence": Field(str, default="", check=lambda text: _uri_complaint(text) if text else "", longest=1_100),
    "selection": Field(str, default=Plan.Selection.INCREMENTAL.value, check=_one_of(Plan.Selection.values)),
    "files": Field(str, default=Plan.Files.ALL.value, check=_one_of(Plan.Files.values)),
    "window_hours": Field(int, default=168, check=lambda n: "" if n >= 0 else f"{n} is negative."),
    "role_arn": Field(str, default="", check=_arn_complaint("iam"), longest=256),
    "storage_class": Field(str, default="", check=_one_of(("", *STORAGE_CLASSES))),
    "encryption_key": Field(str, default="", check=_arn_complaint("kms"), longest=256),
    "source_key": Field(str, default="", check=_arn_complaint("kms"), longest=256),
    "notify": Field(list, default=[], check=_people_complaint),
    "paused": Field(bool, default=False),
}
