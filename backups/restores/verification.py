"""Whether readers see in a restored table what was proven of it. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backups.contract import ReadBy, Verified
from lake.delta.columns import columns_of
from lake.delta.opened_log import READ_ONLY, without_coordinator
from lake.points.reading import RestorableVersion


def verified(found: RestorableVersion, spark: Mapping[str, Any], deltalake: Mapping[str, Any]) -> Verified:
    """What each reader saw; of what deltalake did not read, its reason."""
    return {
        "expected": {"version": found.state.version, "files": found.state.files, "bytes": found.state.bytes},
        "spark": _read_by(found, spark),
        "deltalake": _read_by(found, deltalake),
    }


def _read_by(found: RestorableVersion, seen: Mapping[str, Any]) -> ReadBy:
    if reason := seen.get("reason", ""):
        return {"version": None, "files": None, "rows": None, "schema_equal": None, "reason": reason}
    return {
        "version": seen["version"],
        "files": seen["files"],
        "rows": seen["rows"],
        "schema_equal": _has_its_columns(found, seen),
        "reason": "",
    }


def differences(found: RestorableVersion, spark: Mapping[str, Any], deltalake: Mapping[str, Any]) -> list[str]:
    """In which readers see another table than was proven, or than each other, a sentence each."""
    readers = [("Spark", spark)] if deltalake.get("reason") else [("Spark", spark), ("deltalake", deltalake)]
    said = [sentence for name, seen in readers for sentence in _differences(found, name, seen)]
    if len(readers) > 1 and spark["rows"] != deltalake["rows"]:
        said.append(f"Spark counts {spark['rows']:,} rows, deltalake {deltalake['rows']:,}.")
    return said


def _differences(found: RestorableVersion, name: str, seen: Mapping[str, Any]) -> Iterator[str]:
    state, metadata = found.state, found.metadata
    for what, is_said in (("version", state.version), ("files", state.files), ("bytes", state.bytes)):
        if seen[what] != is_said:
            yield f"{name} sees {what} {seen[what]:,}, and {is_said:,} was proven."
    if not _has_its_columns(found, seen):
        yield f"{name} sees other columns than the log of the backup has."
    if READ_ONLY not in seen["features"]:
        yield f"{name} does not see that it is read-only."
    if list(seen["partition_columns"]) != list(metadata.get("partitionColumns") or ()):
        yield f"{name} sees other partition columns than the log of the backup has."
    if dict(seen["properties"]) != without_coordinator(dict(metadata.get("configuration") or {})):
        yield f"{name} sees other table properties than the log of the backup has."


def _has_its_columns(found: RestorableVersion, seen: Mapping[str, Any]) -> bool:
    return bool(seen["columns"] == columns_of(json.loads(found.metadata["schemaString"])))
