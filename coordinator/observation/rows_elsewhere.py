"""The rows that other connections keep of the same tables: what their stores were ever seen to accept, by which lock.

An entry goes by TTL, and what another connection saw of it stays in that one's rows alone (docs/decisions/008).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from django.db.models import QuerySet

from coordinator.models import CommitStore, DeltaTable, ProvenanceRow
from coordinator.observation.elsewhere import connections_of_same_s3, is_one_of, same_s3
from coordinator.observation.provenance_rows import provenance_of_row
from coordinator.observation.surveys import Place
from coordinator.observation.targets import RowElsewhere
from coordinator.protocols.accepted_elsewhere import with_acceptances_of
from dashboard.connections.models import Connection
from lake.delta.facts import LockDomain, Provenance
from lake.delta.uri import TableUri


def rows_elsewhere(connection: Connection) -> Mapping[Place, tuple[RowElsewhere, ...]]:
    """The rows of other connections that see the same S3, by table."""
    return _found(connection, DeltaTable.objects.all())


def rows_elsewhere_of(connection: Connection, uri: TableUri) -> tuple[RowElsewhere, ...]:
    """The same for one table."""
    tables = DeltaTable.objects.filter(bucket=uri.bucket, prefix=uri.key)
    return _found(connection, tables).get((uri.bucket, uri.key), ())


def seen_anywhere(table: DeltaTable, version: int) -> Provenance | None:
    """What any connection's row knows of a version: for a deletion, which none of them may speak against.

    Where another row knows of a commit that this one does not, no file of the version counts as refused.
    """
    rows = ProvenanceRow.objects.filter(
        table__bucket=table.bucket, table__prefix=table.prefix, version=version
    ).select_related("identity", "table__connection")
    own, others = None, []
    for row in rows:
        if row.table_id == table.pk:
            own = provenance_of_row(row)
        elif same_s3(row.table.connection, table.connection):
            others.append(provenance_of_row(row))
    known = with_acceptances_of(own or Provenance(version), others)
    if not known.is_accepted and known.acceptances:
        return replace(known, disputed=True)
    return known if known.is_known or known.abandoned else None


def _found(connection: Connection, tables: "QuerySet[DeltaTable]") -> dict[Place, tuple[RowElsewhere, ...]]:
    others = connections_of_same_s3(connection)
    if not others:
        return {}
    stores = {(one.connection_id, one.name): one for one in CommitStore.objects.select_related("connection")}
    own = [store for store in stores.values() if store.connection_id == connection.pk]
    found: defaultdict[Place, list[RowElsewhere]] = defaultdict(list)
    for table in tables.filter(connection__in=others).select_related("connection").order_by("connection__name"):
        locks = tuple(_locks_elsewhere(table, stores, own))
        mark = f"{table.connection_id} {table.accepted_version} {table.state} {len(table.domains)}"
        row = RowElsewhere(table.pk, table.connection.name, table.delta_id, locks, mark)
        found[table.bucket, table.prefix].append(row)
    return {place: tuple(rows) for place, rows in found.items()}


def _locks_elsewhere(
    table: DeltaTable, stores: Mapping[tuple[int, str], CommitStore], own: Iterable[CommitStore]
) -> Iterable[LockDomain]:
    """Lock domains in which its entries lie or ever lay, in stores that are none of the asking connection's."""
    for domain in table.domains:
        unlisted = CommitStore(connection=table.connection, name=domain.store)
        if not is_one_of(stores.get((table.connection_id, domain.store), unlisted), own):
            yield domain
