"""Which mechanism makes a table's commits exclusive, and what its properties say of it."""

from lake.delta.coordinator_properties import COORDINATOR, coordinator_store_name, coordinator_table_id
from lake.delta.facts import Mechanism, TableProtocol

CATALOG_FEATURES = frozenset({"catalogManaged", "catalogOwned-preview"})


def decide_mechanism(protocol: TableProtocol | None, has_entries: bool) -> Mechanism:
    """The mechanism by what the newest protocol and metadata name (Delta 3.3 to 4.4), else by the entries.

    `has_entries` says whether any log store holds or held an entry of the table. Without a readable protocol and
    without entries the mechanism is unknown.
    """
    if protocol and protocol.properties.get(COORDINATOR):
        return Mechanism.COORDINATED_COMMITS
    if protocol and CATALOG_FEATURES & {*protocol.reader_features, *protocol.writer_features}:
        return Mechanism.CATALOG_MANAGED
    if has_entries:
        return Mechanism.LOG_STORE
    return Mechanism.SINGLE_DRIVER if protocol else Mechanism.UNKNOWN


def registration_id(protocol: TableProtocol | None) -> str | None:
    """The `tableId` of the registration that the newest metadata names; None where it names none that can be read."""
    return (coordinator_table_id(protocol.properties) or None) if protocol else None


def coordinator_store(protocol: TableProtocol | None) -> str | None:
    """The DynamoDB table in which the newest metadata says the registration lies."""
    return (coordinator_store_name(protocol.properties) or None) if protocol else None
