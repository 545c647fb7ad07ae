"""Whether readers see in a restored table what was proven of it. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backups.contract import ReadBy, Verified
from backups.restores.planning import RESTORED_FROM, restored_from, restored_version
from lake.delta.columns import columns_of
from lake.delta.detaching import of_coordination
from lake.delta.fingerprint import Fingerprint
from lake.delta.opened_log import READ_ONLY, without_coordinator
from lake.points.reading import RestorableVersion


@dataclass(frozen=True, slots=True)
class Expected:
    """A version as readers have to see it where it is opened in the backup, or where it was restored to. `rows` is None
    where the log does not say."""

    found: RestorableVersion
    is_open: bool
    files: Fingerprint
    rows: int | None

    @property
    def version(self) -> int:
        return self.found.state.version if self.is_open else restored_version(self.found)


def verified(
    expected: Expected,
    spark: Mapping[str, Any],
    deltalake: Mapping[str, Any],
    *,
    wrote: bool | None = None,
    refused: str = "",
) -> Verified:
    """What each reader saw; the reason of what deltalake did not read, and of what Spark refused to write."""
    found, files = expected.found, expected.files
    return {
        "expected": {
            "version": expected.version,
            "files": found.state.files,
            "bytes": found.state.bytes,
            "rows": expected.rows,
            "partitions": files["partitions"],
            "vectors": files["vectors"],
        },
        "spark": {
            **_read_by(found, spark),
            "reason": refused,
            "partitions": spark["fingerprint"]["partitions"],
            "vectors": spark["fingerprint"]["vectors"],
            "files_equal": spark["fingerprint"] == files,
            "wrote": wrote,
        },
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


def differences(expected: Expected, spark: Mapping[str, Any], deltalake: Mapping[str, Any]) -> list[str]:
    """In which readers see another table than was proven, or than each other, a sentence each."""
    readers = [("Spark", spark)] if deltalake.get("reason") else [("Spark", spark), ("deltalake", deltalake)]
    said = [sentence for name, seen in readers for sentence in _differences(expected, name, seen)]
    if len(readers) > 1 and spark["rows"] != deltalake["rows"]:
        said.append(f"Spark counts {spark['rows']:,} rows, deltalake {deltalake['rows']:,}.")
    return said


def after_writing(expected: Expected, before: Mapping[str, Any], written: Mapping[str, Any]) -> list[str]:
    """In which Spark sees another table after it has written to it once than `before`, a sentence each."""
    said = list(_differences(expected, "After its write Spark", written))
    if written["properties"].get(RESTORED_FROM) != restored_from(expected.found):
        said.append("After its write Spark does not see it.")
    if written["rows"] != before["rows"]:
        said.append(f"After its write Spark counts {written['rows']:,} rows, and {before['rows']:,} before.")
    return said


def _differences(expected: Expected, name: str, seen: Mapping[str, Any]) -> Iterator[str]:
    found, state, metadata = expected.found, expected.found.state, expected.found.metadata
    properties, own = dict(seen["properties"]), without_coordinator(dict(metadata.get("configuration") or {}))
    own.pop(RESTORED_FROM, "")  # of an earlier restore
    was_written = properties.pop(RESTORED_FROM, "") == restored_from(found)
    for what, is_said in (("version", expected.version + was_written), ("files", state.files), ("bytes", state.bytes)):
        if seen[what] != is_said:
            yield f"{name} sees {what} {seen[what]:,}, and {is_said:,} is expected."
    if expected.rows not in (None, seen["rows"]):
        yield f"{name} counts {seen['rows']:,} rows, and the log of the backup {expected.rows:,}."
    if not _has_its_columns(found, seen):
        yield f"{name} sees other columns than the log of the backup has."
    if expected.is_open and READ_ONLY not in seen["features"]:
        yield f"{name} does not see that it is read-only."
    if expected.version > state.version and any(map(of_coordination, seen["features"])):
        yield f"{name} sees a feature of a commit coordinator."
    if list(seen["partition_columns"]) != list(metadata.get("partitionColumns") or ()):
        yield f"{name} sees other partition columns than the log of the backup has."
    if properties != own:
        yield f"{name} sees other table properties than the log of the backup has."
    if "fingerprint" in seen:  # deltalake tells neither partition values as the log has them nor vectors
        yield from _of_files(expected, name, seen)


def _of_files(expected: Expected, name: str, seen: Mapping[str, Any]) -> Iterator[str]:
    if seen["fingerprint"] != expected.files:
        yield (
            f"{name} sees other data files than the log of the backup has, by their places, sizes, partition values or "
            "deletion vectors."
        )
    counted, said = seen["counted"]
    if counted != said:
        yield (
            f"{name} counts {counted:,} rows in the files that it opened, and the log gives {said:,} for them: its "
            "statistics are wrong, or the files are not what they were."
        )


def _has_its_columns(found: RestorableVersion, seen: Mapping[str, Any]) -> bool:
    return bool(seen["columns"] == columns_of(json.loads(found.metadata["schemaString"])))
