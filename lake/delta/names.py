"""Names of the objects under `_delta_log/`.

Source: PROTOCOL.md of Delta 4.4.0 for the log itself, S3DynamoDBLogStore for `.tmp/`, the commit coordinators of 3.3
(`_commits/`) and 4.x (`_staged_commits/`), delta-rs up to 1.6.0 for `_commit_<uuid>.json.tmp`.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

# A version has to fit the signed 64-bit integer that Delta, and every database column here, holds it in.
MAX_VERSION = 2**63 - 1

LAST_CHECKPOINT = "_last_checkpoint"
TEMP_FOLDER = ".tmp/"
STAGED_FOLDERS = ("_staged_commits/", "_commits/")
SIDECAR_FOLDER = "_sidecars/"


class NameKind(StrEnum):
    """What an object under `_delta_log/` is, judged by its name alone."""

    COMMIT = "commit"
    CHECKPOINT = "checkpoint"
    CHECKPOINT_PART = "checkpoint_part"
    CHECKPOINT_V2 = "checkpoint_v2"
    CHECKSUM = "checksum"
    COMPACTED = "compacted"
    LAST_CHECKPOINT = "last_checkpoint"
    TEMP = "temp"
    STAGED = "staged"
    SIDECAR = "sidecar"
    MARKER = "marker"
    HIDDEN = "hidden"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class LogName:
    """A name taken apart. `version` is None where the name has none, or one that cannot be right.

    `end_version` is the last version of a compacted file; `part` of `parts` (1-based) belong to multi-part checkpoints;
    `unique` is the UUID-like piece that makes V2 checkpoints, temp files and staged commits unique; `format` is "json"
    or "parquet" for checkpoints.
    """

    kind: NameKind
    version: int | None = None
    end_version: int | None = None
    part: int | None = None
    parts: int | None = None
    unique: str = ""
    format: str = ""


_UNIQUE = r"[0-9A-Za-z_-]+"
_VERSIONED = re.compile(
    rf"""(?P<version>[0-9]{{20}})(?:
        (?P<commit>\.json)
      | (?P<checksum>\.crc)
      | (?P<classic>\.checkpoint\.parquet)
      | \.checkpoint\.(?P<part>[0-9]{{10}})\.(?P<parts>[0-9]{{10}})\.parquet
      | \.checkpoint\.(?P<unique>{_UNIQUE})\.(?P<format>json|parquet)
      | \.(?P<end>[0-9]{{20}})\.compacted\.json
    )""",
    re.VERBOSE,
)
_TEMP = re.compile(rf"([0-9]{{20}})\.json\.({_UNIQUE})")
_DELTA_RS_TEMP = re.compile(rf"_commit_({_UNIQUE})\.json\.tmp")
_STAGED = re.compile(rf"([0-9]{{20}})\.({_UNIQUE})\.json")


def commit_name(version: int) -> str:
    """`<version>.json`, padded to 20 digits. Raises ValueError for a version that no log can have."""
    return f"{_padded(version)}.json"


def checksum_name(version: int) -> str:
    """`<version>.crc`, padded to 20 digits. Raises ValueError for a version that no log can have."""
    return f"{_padded(version)}.crc"


def parse_name(name: str) -> LogName:
    """Take apart a name relative to `_delta_log/`. Never raises: what is no known name is OTHER."""
    folder, slash, file = name.rpartition("/")
    if not file or file.endswith("_$folder$"):
        return LogName(NameKind.MARKER)
    if file[0] == ".":
        return LogName(NameKind.HIDDEN)
    if not slash:
        return _top_level(name)
    return _in_folder(folder + slash, file)


def _top_level(name: str) -> LogName:
    match = _VERSIONED.fullmatch(name)
    if match is not None:
        return _versioned(match)
    if name == LAST_CHECKPOINT:
        return LogName(NameKind.LAST_CHECKPOINT)
    temp = _DELTA_RS_TEMP.fullmatch(name)
    return LogName(NameKind.TEMP, unique=temp[1]) if temp else LogName(NameKind.OTHER)


def _in_folder(folder: str, file: str) -> LogName:
    if folder == TEMP_FOLDER:
        temp = _TEMP.fullmatch(file)
        return LogName(NameKind.TEMP, _version(temp[1]), unique=temp[2]) if temp else LogName(NameKind.TEMP)
    if folder in STAGED_FOLDERS:
        staged = _STAGED.fullmatch(file)
        return LogName(NameKind.STAGED, _version(staged[1]), unique=staged[2]) if staged else LogName(NameKind.STAGED)
    return LogName(NameKind.SIDECAR if folder == SIDECAR_FOLDER else NameKind.OTHER)


def _versioned(match: re.Match[str]) -> LogName:
    version = _version(match["version"])
    if version is None:
        return LogName(NameKind.OTHER)
    if match["commit"]:
        return LogName(NameKind.COMMIT, version)
    if match["checksum"]:
        return LogName(NameKind.CHECKSUM, version)
    if match["end"]:
        return _compacted(version, _version(match["end"]))
    return _checkpoint(version, match)


def _checkpoint(version: int, match: re.Match[str]) -> LogName:
    if match["classic"]:
        return LogName(NameKind.CHECKPOINT, version, format="parquet")
    if match["unique"]:
        return LogName(NameKind.CHECKPOINT_V2, version, unique=match["unique"], format=match["format"])
    part, parts = int(match["part"]), int(match["parts"])
    if not 1 <= part <= parts:
        return LogName(NameKind.OTHER)
    return LogName(NameKind.CHECKPOINT_PART, version, part=part, parts=parts, format="parquet")


def _compacted(version: int, end_version: int | None) -> LogName:
    if end_version is None or end_version < version:
        return LogName(NameKind.OTHER)
    return LogName(NameKind.COMPACTED, version, end_version)


def _version(digits: str) -> int | None:
    version = int(digits)
    return version if version <= MAX_VERSION else None


def _padded(version: int) -> str:
    if not 0 <= version <= MAX_VERSION:
        raise ValueError(f"{version} is not a version of a Delta table; versions run from 0 to {MAX_VERSION}.")
    return f"{version:020d}"
