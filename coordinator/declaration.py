"""What a declaration file says of the lake: watched prefixes (`[[watch]]`) and commit stores (`[[stores]]`)."""

import re

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from coordinator.models import Bucket, CommitStore, DeltaTable, ProvenanceRow, Watch
from dashboard.connections.models import Connection
from dashboard.declaration.reading import Field, pattern, read_table
from dashboard.declaration.sections import DeclaredItem, Section
from lake.delta.uri import LONGEST_BUCKET, TableUri, table_uri

_STORE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_KINDS = tuple(CommitStore.Kind.values)


def watch_uri(text: str) -> str:
    """Return the canonical form of a watched prefix: `s3a://bucket/prefix/`. Raises ValueError."""
    return TableUri.parse(text).s3a.rstrip("/") + "/"


def _uri_complaint(text: str) -> str:
    try:
        canonical = watch_uri(text)
    except ValueError as error:
        return str(error)
    if len(TableUri.parse(text).bucket) > LONGEST_BUCKET:
        return f"a bucket's name has at most {LONGEST_BUCKET} characters."
    longest = 1_024
    return "" if len(canonical) <= longest else f"it has {len(canonical):,} characters: write at most {longest:,}."


class WatchSection(Section):
    """`[[watch]]`: a prefix in which Levee looks for Delta tables."""

    key = "watch"
    what = "watch"
    words = "prefix"
    refers_to = ("connection",)
    fields = {
        "connection": Field(str, required=True),
        "uri": Field(str, required=True, check=_uri_complaint, longest=1_100),
    }

    def read_table(self, place: str, table: object) -> DeclaredItem:
        values = read_table(place, table, self.fields)
        uri = watch_uri(values["uri"])
        return DeclaredItem(f"{values['connection']}/{uri}", {"connection": values["connection"], "uri": uri}, place)

    def rows(self) -> QuerySet[Watch]:
        return Watch.objects.select_related("connection").order_by("connection__name", "uri")

    def item_of(self, row: Watch) -> DeclaredItem:
        connection = row.connection.name
        return DeclaredItem(f"{connection}/{row.uri}", {"connection": connection, "uri": row.uri}, "")

    def save(self, item: DeclaredItem, row: Watch | None) -> None:
        _save(row or Watch(), item)

    def why_kept(self, row: Watch) -> str:
        """Nothing holds it: the tables that were found under it stay known, and are looked at as before."""
        return ""

    def remove(self, row: Watch) -> None:
        """Its bucket goes with it where nothing else of it is read: what is said of it would get old unseen."""
        row.delete()
        bucket = _bucket_of(row)
        others = Watch.objects.filter(connection=row.connection_id)
        is_watched = any(_bucket_of(watch) == bucket for watch in others)
        if not is_watched and not DeltaTable.objects.filter(connection=row.connection_id, bucket=bucket).exists():
            Bucket.objects.filter(connection=row.connection_id, name=bucket).delete()


class StoreSection(Section):
    """`[[stores]]`: a DynamoDB table through which commits go."""

    key = "stores"
    what = "store"
    words = "commit store"
    refers_to = ("connection",)
    fields = {
        "connection": Field(str, required=True),
        "name": pattern(_STORE_NAME, "a DynamoDB table name: 3 to 255 letters, digits, dots, dashes or underscores"),
        "kind": Field(
            str,
            required=True,
            check=lambda kind: "" if kind in _KINDS else f"{kind!r} is not one of {', '.join(_KINDS)}.",
        ),
    }

    def read_table(self, place: str, table: object) -> DeclaredItem:
        values = read_table(place, table, self.fields)
        return DeclaredItem(f"{values['connection']}/{values['name']}", values, place)

    def rows(self) -> QuerySet[CommitStore]:
        return CommitStore.objects.select_related("connection").order_by("connection__name", "name")

    def item_of(self, row: CommitStore) -> DeclaredItem:
        values = {"connection": row.connection.name, "name": row.name, "kind": row.kind}
        return DeclaredItem(f"{row.connection.name}/{row.name}", values, "")

    def save(self, item: DeclaredItem, row: CommitStore | None) -> None:
        _save(row or CommitStore(), item)

    def why_kept(self, row: CommitStore) -> str:
        """It stays while what Levee knows of any table rests on it: without it a rival entry would go unseen."""
        tables = _tables_of(row)
        if tables:
            found = "1 Delta table has" if tables == 1 else f"{tables:,} Delta tables have"
            return f"{found} commits in it, or had: without it Levee would not see what is accepted for them."
        if row.ttl_migrations.filter(finished_at=None).exists():
            return "Its TTL is being moved: wait until that is done, or stop it."
        return ""


def _bucket_of(watch: Watch) -> str:
    place = table_uri(watch.uri)
    return place.bucket if place else ""


def _tables_of(row: CommitStore) -> int:
    """How many tables of its connection have entries in the store, or are known to have had some."""
    here = DeltaTable.objects.filter(connection=row.connection_id)
    locked = {table.pk for table in here.only("lock_domains").iterator() if row.name in _stores_of(table)}
    accepted = ProvenanceRow.objects.filter(table=OuterRef("pk"), store=row.name)
    served = here.filter(Q(store=row) | Q(entries__store=row) | Exists(accepted))
    return len(locked.union(served.values_list("pk", flat=True)))


def _stores_of(table: DeltaTable) -> set[str]:
    return {domain.store for domain in table.domains}


def _save(row: Model, item: DeclaredItem) -> None:
    values = {**item.values, "connection": Connection.objects.get(name=item.values["connection"])}
    for key, value in values.items():
        setattr(row, key, value)
    row.save()
