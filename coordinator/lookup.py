"""Finding what a command names: tables, stores and buckets; a name that fits nothing is said at once."""

from typing import TypeVar

from django.db.models import Model, QuerySet

from coordinator.models import Bucket, CommitStore, DeltaTable
from dashboard.commands import Failed, UsageError
from dashboard.connections.lookup import connection_named
from dashboard.connections.models import Connection
from lake.delta.uri import TableUri, places_meant

Row = TypeVar("Row", bound=Model)


def place_of(uri: str) -> TableUri:
    """Parse a table's URI to the letter. Raises UsageError."""
    try:
        return TableUri.parse(uri)
    except ValueError as error:
        raise UsageError(str(error)) from error


def known_place(uri: str, connection: Connection | None = None) -> TableUri:
    """The known table that a URI means, to the letter or as one of its writers reads it; else the place to the letter.

    Raises UsageError.
    """
    place = place_of(uri)
    return next((meant for meant in places_meant(uri) if _tables_at(meant, connection).exists()), place)


def find_table(uri: str, connection: Connection | None = None) -> DeltaTable:
    """Return the table at a URI, however its writers spell it. Raises Failed or UsageError."""
    place = known_place(uri, connection)
    tables = _tables_at(place, connection).select_related("connection", "store")
    return _only(tables, None, f"table at {place.s3a}", "`levee observe` looks anew")


def _tables_at(place: TableUri, connection: Connection | None) -> QuerySet[DeltaTable]:
    found = DeltaTable.objects.filter(bucket=place.bucket, prefix=place.key)
    return found.filter(connection=connection) if connection else found


def find_store(name: str, connection: str | None) -> CommitStore:
    """Return the commit store of a name. Raises Failed or UsageError."""
    stores = CommitStore.objects.select_related("connection").filter(name=name)
    return _only(stores, connection, f"commit store {name}", "`levee stores` lists them")


def find_bucket(name: str, connection: str | None) -> Bucket:
    """Return the bucket of a name. Raises Failed or UsageError."""
    buckets = Bucket.objects.select_related("connection").filter(name=name)
    return _only(buckets, connection, f"bucket {name}", "`levee buckets` lists them")


def _only(rows: QuerySet[Row], connection: str | None, what: str, hint: str) -> Row:
    if connection is not None:
        rows = rows.filter(connection=connection_named(connection))
    found = list(rows[:2])
    if not found:
        raise Failed(f"Levee knows no {what}: {hint}.")
    if len(found) > 1:
        raise UsageError(f"Several connections have a {what}: add --connection NAME.")
    return found[0]
