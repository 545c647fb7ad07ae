"""Delivering an inventory as S3 does: data first, manifest.checksum last; late, stale or broken where one asks for it.

Layout: S3 User Guide, "Locating your inventory list".
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sandbox.control import stored
from sandbox.control.inventory_files import ENDINGS, file_of, schema_line
from sandbox.control.inventory_rows import Column, Staleness, columns_of, rows_of
from sandbox.control.xml import Refusal

FAULTS = frozenset({"", "bad_checksum", "missing_part", "no_checksum", "other_bucket", "truncated_part"})


@dataclass(frozen=True, slots=True)
class Configuration:
    """A stored configuration as far as a delivery needs it."""

    id: str
    source: str
    destination: str
    destination_prefix: str
    format: str
    frequency: str
    prefix: str
    all_versions: bool
    enabled: bool
    fields: tuple[str, ...]

    @property
    def home(self) -> str:
        """What all keys of its deliveries begin with."""
        before = f"{self.destination_prefix.rstrip('/')}/" if self.destination_prefix else ""
        return f"{before}{self.source}/{self.id}/"


@dataclass(frozen=True, slots=True)
class Delivery:
    """How to deliver: when the scan began (UTC, now by default), in how many files, how stale and with what fault."""

    began_at: datetime | None = None
    parts: int = 1
    staleness: Staleness = field(default_factory=Staleness)
    fault: str = ""


def read_delivery(said: Mapping[str, Any]) -> Delivery:
    """Of JSON: began_at and not_after (ISO), parts, deleted (rows by column name), fault. ValueError."""
    unknown = set(said) - {"began_at", "not_after", "parts", "deleted", "fault"}
    if unknown or said.get("fault", "") not in FAULTS:
        raise ValueError(f"A delivery knows no {unknown or said['fault']!r}; its faults are {sorted(FAULTS)}.")
    deleted = tuple(_row(one) for one in said.get("deleted", ()))
    return Delivery(
        began_at=_moment(said.get("began_at")),
        parts=max(1, int(said.get("parts", 1))),
        staleness=Staleness(_moment(said.get("not_after")), deleted),
        fault=str(said.get("fault", "")),
    )


def deliver(configuration: Configuration, how: Delivery) -> str:
    """Write one inventory and return the key of its manifest.json.

    Raises Refusal where source or destination is missing, or the destination's policy denies the write.
    """
    for name in (configuration.source, configuration.destination):
        if stored.bucket(name) is None:
            raise Refusal("NoSuchBucket", f"There is no bucket {name}.", 404)
    if stored.is_denied("s3:PutObject", configuration.destination, f"{configuration.home}manifest.json"):
        raise Refusal("AccessDenied", "The policy of the destination denies s3:PutObject.", 403)
    began_at = how.began_at or datetime.now(UTC)
    columns = columns_of(configuration.fields, all_versions=configuration.all_versions)
    files = _write_parts(configuration, columns, how)
    symlink = "".join(f"s3://{configuration.destination}/{file['key']}\n" for file in files)
    folder = f"{configuration.home}hive/dt={began_at:%Y-%m-%d-%H-%M}/symlink.txt"
    stored.write(configuration.destination, folder, symlink.encode())
    return _write_manifest(configuration, columns, files, began_at, how.fault)


def _write_parts(configuration: Configuration, columns: tuple[Column, ...], how: Delivery) -> list[dict[str, Any]]:
    rows = list(
        rows_of(
            configuration.source,
            configuration.prefix,
            columns,
            all_versions=configuration.all_versions,
            staleness=how.staleness,
        )
    )
    files = []
    for number in range(how.parts):
        data = file_of(configuration.format, columns, rows[number :: how.parts])
        key = f"{configuration.home}data/{uuid4()}.{ENDINGS[configuration.format]}"
        files.append({"key": key, "size": len(data), "MD5checksum": _md5(data)})
        is_broken = number == how.parts - 1
        if is_broken and how.fault == "missing_part":
            continue
        if is_broken and how.fault == "truncated_part":
            data = data[: len(data) // 2]
        stored.write(configuration.destination, key, data)
    return files


def _write_manifest(
    configuration: Configuration,
    columns: tuple[Column, ...],
    files: list[dict[str, Any]],
    began_at: datetime,
    fault: str,
) -> str:
    manifest = {
        "sourceBucket": "another-bucket" if fault == "other_bucket" else configuration.source,
        "destinationBucket": f"arn:aws:s3:::{configuration.destination}",
        "version": "2016-11-30",
        "creationTimestamp": str(int(began_at.timestamp() * 1000)),
        "fileFormat": configuration.format,
        "fileSchema": schema_line(configuration.format, columns),
        "files": files,
    }
    body = json.dumps(manifest, indent=2).encode()
    folder = f"{configuration.home}{began_at:%Y-%m-%dT%H-%MZ}/"
    stored.write(configuration.destination, f"{folder}manifest.json", body)
    if fault != "no_checksum":
        checksum = _md5(b"other bytes" if fault == "bad_checksum" else body)
        stored.write(configuration.destination, f"{folder}manifest.checksum", checksum.encode())
    return f"{folder}manifest.json"


def _row(said: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(said)
    if isinstance(row.get("last_modified_date"), str):
        row["last_modified_date"] = _moment(row["last_modified_date"])
    return row


def _moment(stamp: str | None) -> datetime | None:
    if not stamp:
        return None
    moment = datetime.fromisoformat(stamp)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
