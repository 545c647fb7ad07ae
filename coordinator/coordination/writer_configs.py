"""Where writers of a table, or of a store, commit: from what was observed, as session settings need it."""

from coordinator.coordination.session_conf import WriterConfig
from coordinator.models import Bucket, CommitStore, DeltaTable
from coordinator.protocols.coordinator_conf import read_conf
from dashboard.connections.models import Connection
from lake.delta.facts import Mechanism


def writer_config_of_table(table: DeltaTable) -> WriterConfig:
    """The connection's region and endpoints, the table's own bucket, store and spelling; else a placeholder."""
    paths = [domain.path for domain in table.domains] or [table.uri]
    coordinator = read_conf(table.properties).store if table.mechanism == Mechanism.COORDINATED_COMMITS else ""
    kind = table.store.kind if table.store else ""
    return _writer_config(
        table.connection,
        log_store=table.store.name if table.store and kind == CommitStore.Kind.LOG_STORE else "",
        coordinator=coordinator,
        scheme=paths[0].partition("://")[0],
        bucket_region=_region_of(table),
    )


def writer_config_of_store(store: CommitStore) -> WriterConfig:
    """The same for a store, whose tables are taken to be spelled s3a://."""
    is_log_store = store.kind == CommitStore.Kind.LOG_STORE
    return _writer_config(
        store.connection, log_store=store.name if is_log_store else "", coordinator="" if is_log_store else store.name
    )


def _region_of(table: DeltaTable) -> str:
    """Where the table's bucket answered as last read, "" where it was not."""
    bucket = Bucket.objects.filter(connection=table.connection, name=table.bucket).first()
    return str(bucket.facts.get("region") or "") if bucket else ""


def _writer_config(
    connection: Connection,
    *,
    log_store: str = "",
    coordinator: str = "",
    scheme: str = "s3a",
    bucket_region: str = "",
) -> WriterConfig:
    """A store of each kind that the connection has but the table does not use stands in for the other mechanisms."""
    names = dict(connection.stores.order_by("-name").values_list("kind", "name"))
    endpoint = connection.endpoint_url.rstrip("/")
    return WriterConfig(
        region=connection.region,
        s3_endpoint=endpoint,
        dynamodb_endpoint=connection.dynamodb_endpoint_url.rstrip("/") or endpoint,
        log_store=log_store or names.get(CommitStore.Kind.LOG_STORE, ""),
        coordinator=coordinator or names.get(CommitStore.Kind.COMMIT_COORDINATOR, "delta_commits"),
        scheme=scheme if scheme in ("s3a", "s3") else "s3a",
        environment_credentials=bool(endpoint),
        bucket_region=bucket_region,
    )
