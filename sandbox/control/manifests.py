"""The manifest of a job as S3 Batch Operations reads it: pinned by its ETag, whole or not at all."""

import csv
import gzip
import hashlib
import io
import json
from xml.etree.ElementTree import Element

from lake.backup import batch_manifest
from lake.backup.inventory_manifest import InventoryManifest, InventoryPart, read_manifest, verify_part
from lake.backup.objects import FileUnreadable, ManifestObject, decoded_key
from sandbox.control import stored
from sandbox.control.tasks import Task
from sandbox.control.xml import text

INVENTORY_FORMAT = "S3InventoryReport_CSV_20161130"
FORMATS = (batch_manifest.FORMAT, INVENTORY_FORMAT)


class ManifestRefused(Exception):
    """Why a job fails before its first task: S3's kind of reason, and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def read_tasks(manifest: Element) -> list[Task]:
    """The tasks of a request's <Manifest>, in its order. Raises ManifestRefused."""
    bucket, key = stored.split_arn(text(manifest, "Location/ObjectArn"))
    version = text(manifest, "Location/ObjectVersionId")
    found = stored.stored(bucket, key, version)
    if found is None:
        raise ManifestRefused("ManifestNotFound", f"There is no manifest s3://{bucket}/{key}.")
    if stored.is_denied("s3:GetObject", bucket, key):
        raise ManifestRefused("ManifestAccessDenied", f"The role may not read the manifest s3://{bucket}/{key}.")
    wanted = text(manifest, "Location/ETag").strip('"')
    if stored.bare_etag(found) != wanted:
        raise ManifestRefused(
            "ManifestETagMismatch",
            f"The manifest s3://{bucket}/{key} has the ETag {stored.bare_etag(found)}, and the job was given {wanted}.",
        )
    if found.encryption == "aws:kms" and text(manifest, "Spec/Format") == batch_manifest.FORMAT:
        raise ManifestRefused("ManifestEncrypted", "A manifest that is encrypted with a KMS key cannot be read.")
    try:
        tasks = _tasks(manifest, bytes(found.value), bucket)
    except FileUnreadable as error:
        raise ManifestRefused("ManifestMalformed", str(error)) from error
    if not tasks:
        raise ManifestRefused("ManifestEmpty", "The manifest names no object.")
    if len({task.source.bucket for task in tasks}) > 1:
        raise ManifestRefused("ManifestMalformed", "The manifest names objects of more than one bucket.")
    return tasks


def _tasks(manifest: Element, data: bytes, bucket: str) -> list[Task]:
    if text(manifest, "Spec/Format") == INVENTORY_FORMAT:
        return _tasks_of_inventory(data, bucket)
    fields = [(member.text or "").strip() for member in manifest.iterfind("Spec/Fields/member")]
    lines = io.StringIO(_decoded(data), newline="")
    versions = "VersionId" in fields
    return [Task(one, versions) for one in batch_manifest.read_lines(lines, fields)]


def _tasks_of_inventory(data: bytes, bucket: str) -> list[Task]:
    try:
        source = str(json.loads(data)["sourceBucket"])
    except (ValueError, KeyError, TypeError) as error:
        raise FileUnreadable(f"The manifest is no manifest.json of an inventory: {error!r}.") from error
    checksum = hashlib.md5(data, usedforsecurity=False).hexdigest()
    inventory = read_manifest(data, checksum.encode(), source_bucket=source)
    if inventory.format != "CSV":
        raise FileUnreadable(f"The inventory's format is {inventory.format}, and only CSV can be a manifest.")
    return [task for part in inventory.parts for task in _tasks_of_part(inventory, part, bucket)]


def _tasks_of_part(inventory: InventoryManifest, part: InventoryPart, bucket: str) -> list[Task]:
    data = stored.data_of(bucket, part.key)
    if data is None:
        raise FileUnreadable(f"{part.key} of the inventory is not there.")
    verify_part(part, [data])
    try:
        lines = io.StringIO(gzip.decompress(data).decode(), newline="")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise FileUnreadable(f"{part.key} is no gzip of CSV: {error}.") from error
    versions = "version_id" in inventory.columns
    rows = (dict(zip(inventory.columns, row, strict=True)) for row in csv.reader(lines) if row)
    return [
        Task(ManifestObject(row["bucket"], decoded_key(row["key"]), row.get("version_id", "")), versions)
        for row in rows
    ]


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileUnreadable(f"The manifest is no UTF-8: {error.reason}.") from error
