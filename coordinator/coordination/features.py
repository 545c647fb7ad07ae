"""Table features that the pinned Delta (4.4.0) knows, and those that coordinated commits bring and leave behind.

The names are those of the `*TableFeature` objects in the delta-spark jar; a table that names another one was written by
a newer or another engine, and no session of Levee can tell what it demands.
"""

from collections.abc import Iterable

from coordinator.protocols.mechanism import CATALOG_FEATURES
from lake.delta.facts import TableProtocol

COORDINATED = "coordinatedCommits-preview"
VACUUM_CHECK = "vacuumProtocolCheck"
IN_COMMIT_TIMESTAMP = "inCommitTimestamp"
LEFT_BEHIND = (VACUUM_CHECK, IN_COMMIT_TIMESTAMP)
BROUGHT = (COORDINATED, IN_COMMIT_TIMESTAMP, VACUUM_CHECK)

KNOWN = frozenset(
    {
        *BROUGHT,
        *CATALOG_FEATURES,
        "adaptiveMetadata-preview",
        "allowColumnDefaults",
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "checkpointProtection",
        "clustering",
        "columnMapping",
        "deletionVectors",
        "domainMetadata",
        "generatedColumns",
        "icebergCompatV1",
        "icebergCompatV2",
        "icebergCompatV3",
        "identityColumns",
        "invariants",
        "materializePartitionColumns",
        "rowTracking",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "variantShredding",
        "variantShredding-preview",
        "variantType",
        "variantType-preview",
    }
)


def features_of(protocol: TableProtocol) -> frozenset[str]:
    """Reader and writer features together."""
    return frozenset({*protocol.reader_features, *protocol.writer_features})


def unknown(features: Iterable[str]) -> list[str]:
    """Features that the pinned Delta does not know, sorted."""
    return sorted(set(features) - KNOWN)


def is_catalog_managed(features: Iterable[str]) -> bool:
    return bool(CATALOG_FEATURES & set(features))
