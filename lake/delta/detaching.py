"""The commit by which a copy of a table leaves its commit coordinator, written before any engine opens the copy.

Delta's own way, DROP FEATURE, commits through the coordinator, which knows the original. Source: PROTOCOL.md of Delta
4.4.0, "In-Commit Timestamps" and "Protocol Evolution".
"""

from collections.abc import Mapping
from typing import Any

import orjson

from lake.delta.opened_log import without_coordinator

_FEATURES = ("coordinatedCommits", "managedCommit")
"""How the names of the features of preview and release begin."""


def is_coordinated(metadata: Mapping[str, Any]) -> bool:
    configuration = dict(metadata.get("configuration") or {})
    return without_coordinator(configuration) != configuration


def of_coordination(feature: str) -> bool:
    """Whether a feature puts the commits of a table in a coordinator's hands."""
    return feature.startswith(_FEATURES)


def detaching_commit(protocol: Mapping[str, Any], metadata: Mapping[str, Any], after: int) -> bytes:
    """The commit, made a millisecond after the in-commit timestamp `after` of the one before it."""
    info = {
        "inCommitTimestamp": after + 1,
        "timestamp": after + 1,
        "operation": "DETACH FROM COORDINATOR",
        "operationParameters": {},
        "isBlindAppend": False,
        "engineInfo": "Levee",
    }
    features = {
        name: [one for one in protocol[name] if not of_coordination(one)]
        for name in ("readerFeatures", "writerFeatures")
        if protocol.get(name) is not None
    }
    configuration = without_coordinator(dict(metadata.get("configuration") or {}))
    rows = (
        {"commitInfo": info},
        {"protocol": {**protocol, **features}},
        {"metaData": {**metadata, "configuration": configuration}},
    )
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)
