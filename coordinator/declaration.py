"""What `levee apply` declares of the lake: connections, watched prefixes and commit stores.

Declaring is additive: what the file does not name stays as it is.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db import models, transaction

from coordinator.models import CommitStore, Watch
from coordinator.observation.surveys import LONGEST_BUCKET
from dashboard.connections.access import is_allowed
from dashboard.connections.models import Connection
from dashboard.declarations import DeclarationError, Field, read_list, read_table, require_once
from lake.delta.uri import TableUri

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_REGION = re.compile(r"(?=.{5,32}$)[a-z]{2,4}(-[a-z]+)+-\d{1,2}")
_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,128}")
_STORE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between the declaration and what is stored; `before` is None for something new."""

    what: str
    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any]

    def __str__(self) -> str:
        if self.before is None:
            return f"add {self.what} {self.name}"
        changed = (key for key, value in self.after.items() if self.before.get(key) != value)
        return f"change {self.what} {self.name}: " + ", ".join(
            f"{key} {self.before.get(key)!r} becomes {self.after[key]!r}" for key in changed
        )


@dataclass(frozen=True, slots=True)
class ConnectionDeclaration:
    """`[connections.NAME]`."""

    name: str
    region: str
    role_arn: str
    external_id: str
    endpoint_url: str
    dynamodb_endpoint_url: str
    read_only: bool


@dataclass(frozen=True, slots=True)
class WatchDeclaration:
    """`[[watch]]`; `uri` ends with a slash."""

    connection: str
    uri: str


@dataclass(frozen=True, slots=True)
class StoreDeclaration:
    """`[[stores]]`."""

    connection: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class LakeDeclaration:
    """The part of a declaration file that speaks of the lake."""

    connections: tuple[ConnectionDeclaration, ...]
    watches: tuple[WatchDeclaration, ...]
    stores: tuple[StoreDeclaration, ...]

    def connection_names(self) -> set[str]:
        """Names that other sections may refer to: declared here or stored already."""
        return {c.name for c in self.connections} | set(Connection.objects.values_list("name", flat=True))


def read_declaration(document: Mapping[str, Any]) -> LakeDeclaration:
    """Read the sections connections, watch and stores. Raises DeclarationError with the exact place."""
    tables = document.get("connections", {})
    if not isinstance(tables, dict):
        raise DeclarationError("connections is no table: write [connections.NAME].")
    declaration = LakeDeclaration(
        tuple(_read_connection(name, table) for name, table in tables.items()),
        tuple(_read_watch(place, table) for place, table in read_list("watch", document.get("watch", []))),
        tuple(_read_store(place, table) for place, table in read_list("stores", document.get("stores", []))),
    )
    _check_references(declaration)
    require_once("watch", "prefix", [(watch.connection, watch.uri) for watch in declaration.watches])
    require_once("stores", "commit store", [(store.connection, store.name) for store in declaration.stores])
    return declaration


def lake_changes(declaration: LakeDeclaration) -> list[Change]:
    """Say what storing the declaration would add or change; empty when it is stored already."""
    return [change for change, _ in _differences(declaration)]


@transaction.atomic
def store_declaration(declaration: LakeDeclaration) -> list[Change]:
    """Store the declaration and return what that changed. Running it twice changes nothing the second time."""
    changes = []
    for change, row in _differences(declaration):
        for key, value in change.after.items():
            setattr(row, key, value)
        if isinstance(row, Watch | CommitStore):
            row.connection = Connection.objects.get(name=change.name.split("/", 1)[0])
        row.save()
        changes.append(change)
    return changes


def _differences(declaration: LakeDeclaration) -> Iterator[tuple[Change, models.Model]]:
    for connection in declaration.connections:
        values = asdict(connection)
        row = Connection.objects.filter(name=connection.name).first()
        yield from _difference("connection", connection.name, values, row, Connection)
    for watch in declaration.watches:
        found = Watch.objects.filter(connection__name=watch.connection, uri=watch.uri).first()
        yield from _difference("watch", f"{watch.connection}/{watch.uri}", {"uri": watch.uri}, found, Watch)
    for store in declaration.stores:
        values = {"name": store.name, "kind": store.kind}
        known = CommitStore.objects.filter(connection__name=store.connection, name=store.name).first()
        yield from _difference("store", f"{store.connection}/{store.name}", values, known, CommitStore)


def _difference(
    what: str, name: str, values: dict[str, Any], row: models.Model | None, model: type[models.Model]
) -> Iterator[tuple[Change, models.Model]]:
    before = None if row is None else {key: getattr(row, key) for key in values}
    if before != values:
        yield Change(what, name, before, values), row or model()


def _read_connection(name: str, table: object) -> ConnectionDeclaration:
    place = f"connections.{name}"
    if not _NAME.fullmatch(name):
        raise DeclarationError(f"{place}: a name is 1 to 64 letters, digits, dots, dashes or underscores.")
    values = read_table(place, table, _CONNECTION_FIELDS)
    return ConnectionDeclaration(name=name, **values)


def _read_watch(place: str, table: object) -> WatchDeclaration:
    values = read_table(place, table, _WATCH_FIELDS)
    return WatchDeclaration(values["connection"], watch_uri(values["uri"]))


def _read_store(place: str, table: object) -> StoreDeclaration:
    return StoreDeclaration(**read_table(place, table, _STORE_FIELDS))


def watch_uri(text: str) -> str:
    """Return the canonical form of a watched prefix: `s3a://bucket/prefix/`. Raises ValueError."""
    return TableUri.parse(text).s3a.rstrip("/") + "/"


def _check_references(declaration: LakeDeclaration) -> None:
    names = declaration.connection_names()
    named = [(f"watch[{number}]", watch.connection) for number, watch in enumerate(declaration.watches)]
    named += [(f"stores[{number}]", store.connection) for number, store in enumerate(declaration.stores)]
    for place, connection in named:
        if connection not in names:
            raise DeclarationError(
                f"{place}.connection names {connection!r}, which is not declared: "
                f"add [connections.{connection}] or name one of {', '.join(sorted(names)) or 'none yet'}."
            )


def _endpoint_complaint(url: str) -> str:
    if is_allowed(url):
        return ""
    return f"{url!r} is no endpoint this deployment allows: add its origin to LEVEE_ALLOWED_ENDPOINTS."


def _uri_complaint(text: str) -> str:
    try:
        canonical = watch_uri(text)
    except ValueError as error:
        return str(error)
    if len(TableUri.parse(text).bucket) > LONGEST_BUCKET:
        return f"a bucket's name has at most {LONGEST_BUCKET} characters."
    longest = 1_024
    return "" if len(canonical) <= longest else f"it has {len(canonical):,} characters: write at most {longest:,}."


def _pattern(pattern: re.Pattern[str], words: str) -> Field:
    return Field(str, required=True, check=lambda text: "" if pattern.fullmatch(text) else f"{text!r} is not {words}.")


_CONNECTION_FIELDS = {
    "region": _pattern(_REGION, "a region such as us-west-2"),
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
_WATCH_FIELDS = {
    "connection": Field(str, required=True),
    "uri": Field(str, required=True, check=_uri_complaint, longest=1_100),
}
_KINDS = tuple(CommitStore.Kind.values)
_STORE_FIELDS = {
    "connection": Field(str, required=True),
    "name": _pattern(_STORE_NAME, "a DynamoDB table name: 3 to 255 letters, digits, dots, dashes or underscores"),
    "kind": Field(
        str,
        required=True,
        check=lambda kind: "" if kind in _KINDS else f"{kind!r} is not one of {', '.join(_KINDS)}.",
    ),
}
