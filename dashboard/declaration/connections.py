"""What a declaration file says of connections: `[connections.NAME]`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import SET_NULL, QuerySet

from dashboard.connections.access import is_allowed
from dashboard.connections.held import is_read_anew, words_of
from dashboard.connections.models import Connection
from dashboard.declaration.reading import DeclarationError, Field, pattern, read_table
from dashboard.declaration.sections import CONNECTIONS, DeclaredItem, Section, sections
from dashboard.jobs.models import ACTIVE, Job

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_REGION = re.compile(r"(?=.{5,32}$)[a-z]{2,4}(-[a-z]+)+-\d{1,2}")
_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,128}")


def _endpoint_complaint(url: str) -> str:
    if is_allowed(url):
        return ""
    return f"{url!r} is no endpoint this deployment allows: add its origin to LEVEE_ALLOWED_ENDPOINTS."


class ConnectionSection(Section):
    """`[connections.NAME]`: an AWS account and region."""

    key = CONNECTIONS
    what = "connection"
    words = "connection"
    fields = {
        "region": pattern(_REGION, "a region such as us-west-2"),
        "role_arn": Field(
            str,
            default="",
            check=lambda text: "" if _ROLE_ARN.fullmatch(text) else f"{text!r} is not the ARN of an IAM role.",
            longest=256,
        ),
        "external_id": Field(str, default="", longest=256),
        "endpoint_url": Field(str, default="", check=_endpoint_complaint, longest=256),
        "dynamodb_endpoint_url": Field(str, default="", check=_endpoint_complaint, longest=256),
        "read_only": Field(bool, default=False),
    }

    def read(self, written: object) -> tuple[DeclaredItem, ...]:
        if not isinstance(written, dict):
            raise DeclarationError("connections is no table: write [connections.NAME].")
        return tuple(self.read_table(name, table) for name, table in written.items())

    def read_table(self, place: str, table: object) -> DeclaredItem:
        """`place` is the connection's name."""
        if not _NAME.fullmatch(place):
            raise DeclarationError(
                f"connections.{place}: a name is 1 to 64 letters, digits, dots, dashes or underscores."
            )
        values = read_table(f"connections.{place}", table, self.fields)
        return DeclaredItem(place, {"name": place, **values}, f"connections.{place}")

    def rows(self) -> QuerySet[Connection]:
        return Connection.objects.order_by("name")

    def item_of(self, row: Connection) -> DeclaredItem:
        return DeclaredItem(row.name, {key: getattr(row, key) for key in ("name", *self.fields)}, row.name)

    def save(self, item: DeclaredItem, row: Connection | None) -> None:
        Connection.objects.update_or_create(name=item.name, defaults=dict(item.values))

    def written(self, items: Sequence[DeclaredItem]) -> Mapping[str, Any]:
        return {item.name: self.table_of(item) for item in items}

    def why_kept(self, row: Connection) -> str:
        """It stays while a job uses it, and while anything would be deleted with it that no look brings back."""
        if Job.objects.filter(connection=row, state__in=ACTIVE).exists():
            return "A job is under way through it: wait until it is over, or cancel it."
        held = list(_held_by(row))
        return f"What belongs to it would go with it: {', '.join(held)}." if held else ""


def _held_by(row: Connection) -> Iterator[str]:
    declared = {section.rows().model for section in sections()}
    for relation in Connection._meta.related_objects:
        model = relation.related_model
        if relation.on_delete is SET_NULL or model in declared or is_read_anew(model):
            continue
        count = model._default_manager.filter(**{relation.field.name: row}).count()
        if count:
            one, several = words_of(model)
            yield f"{count:,} {one if count == 1 else several}"
