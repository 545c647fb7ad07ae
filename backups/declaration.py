"""What a declaration file says of backups: `[[plans]]`."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet

from backups.cron import ScheduleError, parse_schedule
from backups.destinations import is_pool, overlap, why_overlapping
from backups.models import ACTIVE, Plan
from dashboard.connections.models import Connection
from dashboard.declaration.reading import DeclarationError, Field, pattern, read_table
from dashboard.declaration.sections import DeclaredItem, Section
from lake.backup.objects import place_of

DEFAULT_OBJECTIVE_HOURS = 36
INVENTORY_HOURS = 24
"""S3 lists a bucket once a day at most (S3 User Guide, "Amazon S3 Inventory")."""
SLACK_HOURS, LEAST_SLACK_HOURS = 12, 1
"""For delivering an inventory and copying what it lists, and for copying what is listed by the run itself."""
UNDER_WAY = "A run of it is under way: wait until it is over, or cancel it."
_OF_OBJECTIVE = ("objective_hours", "inventory", "minimum_lag_hours", "schedule")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_S3_URI = re.compile(r"s3[an]?://[^/\s]+(/.*)?")
_KEEP_FIELDS = {
    period: Field(int, default=0, check=lambda n: "" if n >= 0 else "it is negative.")
    for period in ("daily", "weekly", "monthly")
}


def least_objective_hours(inventory: str, lag_hours: int, schedule: str, inventory_hours: int = INVENTORY_HOURS) -> int:
    """The shortest objective that a plan can keep while its tables are written to: what is just too late for an
    inventory, or for a run, waits for the next one."""
    between = _hours_between_runs(schedule)
    if inventory:
        return max(inventory_hours, between) + lag_hours + SLACK_HOURS
    return between + LEAST_SLACK_HOURS


@lru_cache(256)
def _hours_between_runs(schedule: str) -> int:
    """At most, rounded up; 0 where nothing is scheduled, or by a line that an older release let in."""
    try:
        return -(-parse_schedule(schedule).longest_wait() // timedelta(hours=1)) if schedule else 0
    except ScheduleError:
        return 0


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


_ADDRESS = re.compile(r"[^@\s,\0]+@[^@\s,\0]+")
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
    "name": pattern(_NAME, "1 to 64 of a-z, 0-9 and dashes"),
    "connection": Field(str, required=True),
    "vault_connection": Field(str),
    "source": Field(str, required=True, check=_uri_complaint, longest=1_100),
    "destination": Field(str, required=True, check=_uri_complaint, longest=1_100),
    "inventory": Field(str, default="", check=_uri_complaint, longest=1_100),
    "minimum_lag_hours": Field(int, default=24, check=lambda n: "" if n >= 0 else f"{n} is negative."),
    "engine": Field(str, default=Plan.Engine.S3_BATCH.value, check=_one_of(Plan.Engine.values)),
    "schedule": Field(str, default="", check=_schedule_complaint, longest=64),
    "objective_hours": Field(int, check=_positive_complaint),
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


class PlanSection(Section):
    """`[[plans]]`: what is copied, from where to where, how often, and up to which price without asking."""

    key = "plans"
    what = "plan"
    words = "plan"
    refers_to = ("connection", "vault_connection")
    fields = _PLAN_FIELDS

    def read_table(self, place: str, table: object) -> DeclaredItem:
        values = read_table(place, table, self.fields)
        values["vault_connection"] = values["vault_connection"] or values["connection"]
        keep = read_table(f"{place}.keep", values["keep"], _KEEP_FIELDS)
        values["keep"] = {period: count for period, count in keep.items() if count}
        least = least_objective_hours(values["inventory"], values["minimum_lag_hours"], values["schedule"])
        values["objective_hours"] = values["objective_hours"] or max(DEFAULT_OBJECTIVE_HOURS, least)
        return DeclaredItem(values["name"], values, place)

    def rows(self) -> QuerySet[Plan]:
        return Plan.objects.select_related("connection", "vault_connection").order_by("name")

    def item_of(self, row: Plan) -> DeclaredItem:
        return DeclaredItem(row.name, {key: _stored(row, key) for key in self.fields}, "")

    def save(self, item: DeclaredItem, row: Plan | None) -> None:
        values = dict(item.values)
        if why := why_overlapping(item.name, values["destination"]):
            raise DeclarationError(f"{item.place}.destination: {why}")
        if row is None or any(getattr(row, key) != values[key] for key in _OF_OBJECTIVE):
            _require_objective(item)
        if row is not None and any(getattr(row, key) != values[key] for key in ("source", "destination")):
            if row.runs.filter(state__in=ACTIVE).exists():
                raise DeclarationError(f"{item.place}: a run copies between the places that it names. {UNDER_WAY}")
            _require_own_pool(item, row)
            row.runs.update(is_proof=False)
        for key in self.refers_to:
            values[key] = Connection.objects.get(name=values[key])
        Plan.objects.update_or_create(name=item.name, defaults=values)

    def why_kept(self, row: Plan) -> str:
        """It stays once it has a run: what a run says of its copy is told by the plan's name."""
        if row.runs.filter(state__in=ACTIVE).exists():
            return UNDER_WAY
        if runs := row.runs.count():
            said = "1 run proves" if runs == 1 else f"{runs:,} runs prove"
            return f"{said} what was copied under its name: name it in the file, with paused = true if it is to rest."
        return ""


def _require_own_pool(item: DeclaredItem, row: Plan) -> None:
    """Raise DeclarationError where the plan has copied another bucket to the place: a key there does not say of which
    bucket it is, so that each would overwrite the other's."""
    bucket, destination = place_of(item.values["source"]).bucket, item.values["destination"]
    of_others = row.points.exclude(table=f"s3a://{bucket}").exclude(table__startswith=f"s3a://{bucket}/")
    used = list(of_others.values_list("destination", flat=True).distinct())
    if place_of(row.source).bucket != bucket and row.runs.exists():
        used.append(row.destination)
    if is_pool(destination) and any(overlap(destination, other) for other in used):
        raise DeclarationError(
            f"{item.place}.destination: {destination} holds copies of another bucket than {bucket}, and a key there "
            f"does not say of which: name another place, in which there are none."
        )


def _require_objective(item: DeclaredItem) -> None:
    """Raise DeclarationError for an objective that cannot be kept."""
    hours, inventory, lag, schedule = (item.values[key] for key in _OF_OBJECTIVE)
    if hours >= (least := least_objective_hours(inventory, lag, schedule)):
        return
    between = _hours_between_runs(schedule)
    passing = f"Up to {between:,} pass between two runs of its schedule"
    if inventory and between <= INVENTORY_HOURS:
        passing = f"{INVENTORY_HOURS} pass between two daily inventories"
    rest = f", and copying takes up to {LEAST_SLACK_HOURS}: allow {least:,}, or run it more often."
    if inventory:
        rest = (
            f", each inventory may miss the last {lag} (minimum_lag_hours), and delivery and copy take up to "
            f"{SLACK_HOURS}: allow {least:,}, or name no inventory."
        )
    raise DeclarationError(f"{item.place}.objective_hours: {hours} hours cannot be kept. {passing}{rest}")


def _stored(row: Plan, key: str) -> Any:
    value = getattr(row, key)
    if isinstance(value, Connection):
        return value.name
    return float(value) if key == "cost_ceiling_usd" and value is not None else value
