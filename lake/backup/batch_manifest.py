"""Manifests of S3 Batch Operations in the form S3BatchOperations_CSV_20180820.

No header, one object a line, keys URL-encoded (S3 User Guide, "Specifying a manifest").
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lake.backup.objects import FileUnreadable, ManifestObject, decoded_key

FORMAT = "S3BatchOperations_CSV_20180820"
FIELDS = ("Bucket", "Key")
FIELDS_WITH_VERSIONS = ("Bucket", "Key", "VersionId")
KNOWN_FIELDS = frozenset({*FIELDS_WITH_VERSIONS, "Ignore"})


@dataclass(frozen=True, slots=True)
class Manifest:
    """One manifest as an object of S3, pinned by its ETag, with how many objects of how many bytes it names.

    `lane` says how they are copied.
    """

    lane: str
    bucket: str
    key: str
    etag: str
    objects: int
    bytes: int


def read_lines(lines: Iterable[str], fields: Sequence[str] = FIELDS) -> Iterator[ManifestObject]:
    """The objects of a manifest, whose columns are `fields`; quoted values are read too.

    Raises FileUnreadable, which names the line.
    """
    _check(fields)
    places = {name: place for place, name in enumerate(fields) if name != "Ignore"}
    rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            if len(row) != len(fields):
                raise FileUnreadable(
                    f"Line {rows.line_num} of the manifest has {len(row)} columns, and {len(fields)} are declared."
                )
            bucket, key = row[places["Bucket"]], decoded_key(row[places["Key"]])
            if not bucket or not key:
                raise FileUnreadable(f"Line {rows.line_num} of the manifest has no bucket or no key.")
            version = row[places["VersionId"]] if "VersionId" in places else ""
            yield ManifestObject(bucket, key, version)
    except csv.Error as error:
        raise FileUnreadable(f"Line {rows.line_num} of the manifest is no CSV: {error}.") from error


def _check(fields: Sequence[str]) -> None:
    named = [name for name in fields if name != "Ignore"]
    if not {"Bucket", "Key"} <= set(named) or not set(named) <= KNOWN_FIELDS or len(named) != len(set(named)):
        raise FileUnreadable(
            f"The manifest's fields are {', '.join(fields) or 'none'}: Bucket and Key are needed, VersionId and "
            "Ignore may be there."
        )
