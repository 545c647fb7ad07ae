"""Tables, stores, buckets and connections found by typing, and what may be done with them."""

from collections.abc import Iterable

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from coordinator.coordination.confirmed import MANY_VERBS, VERBS
from coordinator.coordination.offers import coordination_offers
from coordinator.models import Bucket, CommitStore, DeltaTable
from coordinator.protocols.verdict import State
from coordinator.queries.coordination import NAMES
from coordinator.queries.repairs import bulk_kinds
from coordinator.queries.table_list import TableFilter, filtered, is_too_short, searched, table_rows
from dashboard.accounts.search import MOST_TO_ACT_ON, ONLY_TABLES, Search, SearchHit, SearchKind, register
from dashboard.connections.models import Connection

TABLES_TO_ACT_ON = 3


def _tables(search: Search, words: str) -> QuerySet[DeltaTable]:
    """As the list finds and sorts them; without words those that are not healthy."""
    if is_too_short(words):
        return search.rows(DeltaTable).none()
    tables = (filtered(searched(TableFilter(q=words))) & search.rows(DeltaTable)).select_related("connection")
    return tables if words else tables.exclude(state=State.HEALTHY)


def _acts(search: Search) -> Iterable[SearchHit]:
    """Those on the tables that the last word names, on connections and on the whole lake; each opens its own page."""
    name = search.words.rpartition(" ")[2]
    yield from _acts_on_tables(list(_tables(search, name)[:TABLES_TO_ACT_ON]) if name else [], name)
    for many in bulk_kinds().values():
        path = reverse("repair-many", args=[many.repair])
        yield SearchHit(f"{many.title}…", path, verb="table.repair", connection=search.connection)
    for operation, verb in MANY_VERBS.items():
        path = reverse("coordination-many", args=[operation.value])
        yield SearchHit(f"{NAMES[operation]} on many tables…", path, verb=verb, connection=search.connection)
    for label, verb, page, about in (
        ("New coordinated table…", "table.create", "table-create", "create"),
        ("Create a commit store…", "store.create", "store-create", "new"),
    ):
        yield SearchHit(label, reverse(page), verb=verb, connection=search.connection, about=about)
    for one in search.rows(Connection)[:MOST_TO_ACT_ON]:
        path = reverse("tables", query={"connection": one.name})
        yield SearchHit(f"Observe {one.name}…", path, verb="lake.observe", connection=one)


def _acts_on_tables(tables: list[DeltaTable], typed: str) -> Iterable[SearchHit]:
    """What fits each table as it was last read: its first step, what its coordination offers, and a look at it."""
    for row in table_rows(tables, timezone.now()):
        table, repair = row.table, row.step.offer if row.step else None
        acts = [(f"Observe {table.name}…", f"{reverse('table', args=[table.pk])}#observe", "lake.observe")]
        for one in coordination_offers(table, ()):
            if one.operation in row.can:  # decided with the findings of the row
                path = reverse("table-coordination", args=[table.pk, one.operation.value])
                acts.insert(0, (f"{one.title} on {table.name}…", path, VERBS[one.operation]))
        if row.step and repair:
            verb = "table.repair-losing" if repair.loses else "table.repair"
            acts.insert(0, (f"{repair.title} of {table.name}…", row.step.path, verb))
        acts.append((f"Writers of {table.name}", reverse("table-writers", args=[table.pk]), ""))
        for label, path, verb in acts:
            yield SearchHit(label, path, table.bucket, verb=verb, connection=table.connection, about=typed)


register(
    SearchKind(
        "Tables", "i-table", 10, "table", lambda search: _tables(search, search.words), (), note="uri",
        list_name="tables", sign=ONLY_TABLES, at_rest=True,
    ),
    SearchKind("Commit stores", "i-store", 30, "store", lambda search: search.rows(CommitStore)),
    SearchKind("Buckets", "i-bucket", 31, "bucket", lambda search: search.rows(Bucket)),
    SearchKind("Connections", "i-gear", 70, "connection", lambda search: search.rows(Connection), note="region"),
    acts=_acts,
)  # fmt: skip
