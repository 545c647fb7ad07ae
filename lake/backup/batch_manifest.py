"""Manifests of S3 Batch Operations in the form S3BatchOperations_CSV_20180820.

No header, one object a line, keys URL-encoded (S3 User Guide, "Specifying a manifest").
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lake.backup.objects import FileUnreadable, ManifestObject, decoded_key

FORMAT = "S3BatchOperations_CSV_20180820"
FIELDS = ("Bucket", "Key")


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


def read_lines(lines: Iterable[str]) -> Iterator[ManifestObject]:
    """The objects of a manifest; quoted values are read too. Raises FileUnreadable, which names the line."""
    rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            if len(row) != len(FIELDS) or not all(row):
                raise FileUnreadable(f"Line {rows.line_num} of the manifest is no bucket with a key: {row!r}.")
            yield ManifestObject(row[0], decoded_key(row[1]))
    except csv.Error as error:
        raise FileUnreadable(f"Line {rows.line_num} of the manifest is no CSV: {error}.") from error
