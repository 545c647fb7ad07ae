"""What other connections last read of the same tables: entries in a DynamoDB that this one does not ask, and rows.

An entry goes by TTL, and what another connection saw of it stays in that one's rows alone (docs/decisions/008). A
bucket is seen by connections of several regions, a DynamoDB table by those of its own region and account alone. The
same name in two regions is two stores.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from django.db.models import Max

from coordinator.models import CommitStore, DeltaTable, Entry, ProvenanceRow
from coordinator.observation.provenance_rows import provenance_of_row
from coordinator.observation.surveys import Place
from coordinator.observation.targets import RowElsewhere
from coordinator.protocols.provenance import with_acceptances_of
from dashboard.connections.models import Connection
from lake.delta.facts import HeldElsewhere, LockDomain, Provenance
from lake.delta.uri import TableUri

_COLUMNS = ("table__bucket", "table__prefix", "store", "lock_domain")


def held_elsewhere(connection: Connection, uri: TableUri | None = None) -> Mapping[Place, tuple[HeldElsewhere, ...]]:
    """Entries in stores of other connections, by table, or those of one table alone.

    A table that is new to this connection may be known to them.
    """
    stores = {store.pk: store for store in _stores_elsewhere(connection)}
    if not stores:
        return {}
    entries = Entry.objects.filter(store__in=stores, table__gone_at=None)
    if uri is not None:
        entries = entries.filter(table__bucket=uri.bucket, table__prefix=uri.key)
    # A look that finds a table unchanged dates the table alone, not each of its entries.
    columns = (Max("version"), Max("expire_time"), Max("observed_at"), Max("table__observed_at"))
    rows = entries.order_by().values_list(*_COLUMNS).annotate(*columns)
    found: defaultdict[Place, list[HeldElsewhere]] = defaultdict(list)
    for bucket, prefix, store_id, path, version, expires_at, *read_at in rows:
        store, last = stores[store_id], max(one for one in read_at if one is not None)
        domain = LockDomain(store.name, path)
        held = HeldElsewhere(store.connection.name, store.connection.region, domain, version, last, expires_at)
        found[bucket, prefix].append(held)
    return {place: tuple(sorted(held, key=lambda one: (one.connection, one.domain))) for place, held in found.items()}


def _stores_elsewhere(connection: Connection) -> list[CommitStore]:
    """Log stores of connections that see the same S3, and that are none of this one's own."""
    log_stores = CommitStore.objects.filter(kind=CommitStore.Kind.LOG_STORE).select_related("connection")
    others = [store for store in log_stores.exclude(connection=connection) if store.connection.s3 == connection.s3]
    own = list(log_stores.filter(connection=connection)) if others else []
    return [store for store in others if not is_one_of(store, own)]


def connections_of_same_s3(connection: Connection) -> list[int]:
    """Ids of the other connections that see the same S3."""
    return [one.pk for one in Connection.objects.exclude(pk=connection.pk).order_by("pk") if one.s3 == connection.s3]


def is_one_of(store: CommitStore, own: Iterable[CommitStore]) -> bool:
    return any(_same_store(store, one) for one in own)


def _same_store(one: CommitStore, other: CommitStore) -> bool:
    """By their ARNs, which hold region and account; where one was not read, by region, name and account.

    Two of one name are taken for one while the account of either is not known: a connection without a role has none.
    """
    if _dynamodb(one.connection) != _dynamodb(other.connection):
        return False
    arn, other_arn = str(one.facts.get("arn") or ""), str(other.facts.get("arn") or "")
    if arn and other_arn:
        return arn == other_arn
    if (one.connection.region, one.name) != (other.connection.region, other.name):
        return False
    accounts = {_account(one), _account(other)} - {""}
    return len(accounts) < 2


def _account(store: CommitStore) -> str:
    """The account of a store by its ARN, else by the role that its connection assumes; "" where neither is known."""
    arns = (str(store.facts.get("arn") or ""), store.connection.role_arn)
    return next((account for arn in arns if (account := "".join(arn.split(":")[4:5]))), "")


def _dynamodb(connection: Connection) -> str:
    return (connection.dynamodb_endpoint_url or connection.endpoint_url).rstrip("/")


def rows_elsewhere(connection: Connection, uri: TableUri | None = None) -> Mapping[Place, tuple[RowElsewhere, ...]]:
    """The rows of other connections that see the same S3, by table, or those of one table alone."""
    others = connections_of_same_s3(connection)
    if not others:
        return {}
    stores = {(one.connection_id, one.name): one for one in CommitStore.objects.select_related("connection")}
    own = [store for store in stores.values() if store.connection_id == connection.pk]
    tables = DeltaTable.objects.filter(connection__in=others).select_related("connection")
    if uri is not None:
        tables = tables.filter(bucket=uri.bucket, prefix=uri.key)
    found: defaultdict[Place, list[RowElsewhere]] = defaultdict(list)
    for table in tables.order_by("connection__name"):
        locks = tuple(_locks_elsewhere(table, stores, own))
        mark = f"{table.connection_id} {table.accepted_version} {table.state} {len(table.domains)}"
        row = RowElsewhere(table.pk, table.connection.name, table.delta_id, locks, mark)
        found[table.bucket, table.prefix].append(row)
    return {place: tuple(rows) for place, rows in found.items()}


def seen_anywhere(table: DeltaTable, version: int) -> Provenance | None:
    """What any connection's row knows of a version: for a deletion, which none of them may speak against.

    Where another row knows of a commit that this one does not, no file of the version counts as refused.
    """
    rows = ProvenanceRow.objects.filter(
        table__bucket=table.bucket, table__prefix=table.prefix, version=version
    ).select_related("table__connection")
    own, others = None, []
    for row in rows:
        if row.table_id == table.pk:
            own = provenance_of_row(row)
        elif row.table.connection.s3 == table.connection.s3:
            others.append(provenance_of_row(row))
    known = with_acceptances_of(own or Provenance(version), others)
    if not known.is_accepted and known.acceptances:
        return replace(known, disputed=True)
    return known if known.is_known or known.abandoned else None


def _locks_elsewhere(
    table: DeltaTable, stores: Mapping[tuple[int, str], CommitStore], own: Iterable[CommitStore]
) -> Iterable[LockDomain]:
    """Lock domains in which its entries lie or ever lay, in stores that are none of the asking connection's."""
    for domain in table.domains:
        unlisted = CommitStore(connection=table.connection, name=domain.store)
        if not is_one_of(stores.get((table.connection_id, domain.store), unlisted), own):
            yield domain
