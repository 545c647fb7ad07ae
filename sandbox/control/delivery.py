"""Delivering an inventory as S3 does: data first, manifest.checksum last.

Layout: S3 User Guide, "Locating your inventory list".
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sandbox.control import stored
from sandbox.control.inventory_files import ENDINGS, file_of, schema_line
from sandbox.control.inventory_rows import Column, columns_of, rows_of
from sandbox.control.xml import Document, Refusal


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration as it was sent, and what of it a delivery needs."""

    xml: Document
    id: str
    source: str
    destination: str
    destination_prefix: str
    format: str
    prefix: str
    all_versions: bool
    fields: tuple[str, ...]

    @property
    def home(self) -> str:
        """What all keys of its deliveries begin with."""
        before = f"{self.destination_prefix.rstrip('/')}/" if self.destination_prefix else ""
        return f"{before}{self.source}/{self.id}/"


def deliver(configuration: Configuration, parts: int = 1) -> str:
    """Write one inventory, in so many files, and return the key of its manifest.json.

    Raises Refusal where source or destination is missing, or the destination's policy denies the write.
    """
    for name in (configuration.source, configuration.destination):
        if stored.bucket(name) is None:
            raise Refusal("NoSuchBucket", f"There is no bucket {name}.", 404)
    if stored.is_denied("s3:PutObject", configuration.destination, f"{configuration.home}manifest.json"):
        raise Refusal("AccessDenied", "The policy of the destination denies s3:PutObject.", 403)
    began_at = datetime.now(UTC)
    columns = columns_of(configuration.fields, all_versions=configuration.all_versions)
    manifest = {
        "sourceBucket": configuration.source,
        "destinationBucket": f"arn:aws:s3:::{configuration.destination}",
        "version": "2016-11-30",
        "creationTimestamp": str(int(began_at.timestamp() * 1000)),
        "fileFormat": configuration.format,
        "fileSchema": schema_line(configuration.format, columns),
        "files": _write_parts(configuration, columns, parts),
    }
    body = json.dumps(manifest, indent=2).encode()
    folder = f"{configuration.home}{began_at:%Y-%m-%dT%H-%MZ}/"
    stored.write(configuration.destination, f"{folder}manifest.json", body)
    stored.write(configuration.destination, f"{folder}manifest.checksum", stored.md5(body).encode())
    return f"{folder}manifest.json"


def _write_parts(configuration: Configuration, columns: tuple[Column, ...], parts: int) -> list[dict[str, Any]]:
    listed = rows_of(configuration.source, configuration.prefix, columns, all_versions=configuration.all_versions)
    rows, files = list(listed), []
    for number in range(parts):
        data = file_of(configuration.format, columns, rows[number::parts])
        key = f"{configuration.home}data/{uuid4()}.{ENDINGS[configuration.format]}"
        files.append({"key": key, "size": len(data), "MD5checksum": stored.md5(data)})
        stored.write(configuration.destination, key, data)
    return files
