"""What was observed of where writers commit, as the doctor compares settings with it."""

from coordinator.coordination.session_conf import MECHANISMS
from coordinator.coordination.writer_configs import writer_config_of_store, writer_config_of_table
from coordinator.models import CommitStore, DeltaTable
from coordinator.protocols.coordinator_conf import read_conf
from coordinator.writers.session import ObservedPlace
from lake.delta.facts import Mechanism


def observed_of_table(table: DeltaTable) -> ObservedPlace:
    """The table's own stores alone: what its connection has besides is nothing that its writers have to name."""
    mechanism = Mechanism(table.mechanism)
    config = writer_config_of_table(table)
    paths = [domain.path for domain in table.domains] or [table.uri]
    is_log_store = table.store is not None and table.store.kind == CommitStore.Kind.LOG_STORE
    return ObservedPlace(
        name=table.uri,
        uri=paths[0],
        mechanism=mechanism if mechanism in MECHANISMS else None,
        region=config.region,
        bucket_region=config.bucket_region,
        log_store=table.store.name if table.store and is_log_store else "",
        coordinator=read_conf(table.properties).store if mechanism is Mechanism.COORDINATED_COMMITS else "",
        endpoint=config.dynamodb_endpoint,
    )


def observed_of_store(store: CommitStore) -> ObservedPlace:
    """A store without any one table: no path is compared."""
    is_log_store = store.kind == CommitStore.Kind.LOG_STORE
    config = writer_config_of_store(store)
    return ObservedPlace(
        name=store.name,
        mechanism=Mechanism.LOG_STORE if is_log_store else Mechanism.COORDINATED_COMMITS,
        region=config.region,
        log_store=store.name if is_log_store else "",
        coordinator="" if is_log_store else store.name,
        endpoint=config.dynamodb_endpoint,
    )
