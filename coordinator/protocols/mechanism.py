"""Which mechanism makes a table's commits exclusive, and what its properties say of it."""

from collections.abc import Iterable

from coordinator.protocols.names import temp_file_version
from lake.delta.coordinator_properties import COORDINATOR, coordinator_store_name, coordinator_table_id
from lake.delta.facts import LogObject, Mechanism, TableProtocol

CATALOG_FEATURES = frozenset({"catalogManaged", "catalogOwned-preview"})


def decide_mechanism(
    protocol: TableProtocol | None,
    has_entries: bool,
    temp_files: Iterable[LogObject] = (),
    before: Mechanism = Mechanism.UNKNOWN,
) -> Mechanism:
    """The mechanism by what the newest protocol and metadata name (Delta 3.3 to 4.4), else by what a log store left.

    `has_entries` says whether any log store holds or held an entry of the table. Entries expire; the temp files of a
    log store prove as well that one is in use, though not which. `before` is what an earlier reading decided: a log
    store that was seen in use is not forgotten when its temp files are cleaned up. Without a readable protocol and
    without any of these the mechanism is unknown.

    `.tmp/<version>.json.<uuid>` is written before each commit by `BaseExternalLogStore` (delta-storage-s3-dynamodb 1.2
    to 4.4), and nothing in Delta removes it. delta-rs' `_commit_<uuid>.json.tmp` proves no store: its releases up to
    1.6.0 moved such a file whatever they committed through.
    """
    if protocol and protocol.properties.get(COORDINATOR):
        return Mechanism.COORDINATED_COMMITS
    if protocol and CATALOG_FEATURES & {*protocol.reader_features, *protocol.writer_features}:
        return Mechanism.CATALOG_MANAGED
    has_temp_files = any(temp_file_version(file.name) is not None for file in temp_files)
    if has_entries or before is Mechanism.LOG_STORE or has_temp_files:
        return Mechanism.LOG_STORE
    return Mechanism.SINGLE_DRIVER if protocol else Mechanism.UNKNOWN


def registration_id(protocol: TableProtocol | None) -> str | None:
    """The `tableId` of the registration that the newest metadata names; None where it names none that can be read."""
    return (coordinator_table_id(protocol.properties) or None) if protocol else None


def coordinator_store(protocol: TableProtocol | None) -> str | None:
    """The DynamoDB table in which the newest metadata says the registration lies."""
    return (coordinator_store_name(protocol.properties) or None) if protocol else None
