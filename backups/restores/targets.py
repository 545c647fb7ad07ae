"""Where a version may be restored to: a path where nothing is, and that nothing else counts as its own."""

from backups.destinations import overlap
from backups.models import Plan
from backups.restores.copying import claimed_above
from lake.aws.s3 import S3
from lake.backup.objects import RESTORED, BucketPrefix
from lake.delta.uri import TableUri
from lake.points.reading import KeptPoint, NotRestorable


def target_named(text: str, point: KeptPoint, version: int) -> TableUri:
    """The path that is named, or beside the original's where none is. Raises NotRestorable for one that cannot be."""
    source = point.source
    if not text and not source.prefix:
        raise NotRestorable("The table is all of its bucket: name a path in another one.")
    text = text or f"s3a://{source.bucket}/{RESTORED}{source.prefix}-{version}"
    try:
        uri = TableUri.parse(text)
    except ValueError as error:
        raise NotRestorable(str(error)) from error
    if any(not part or part.startswith((".", "_")) for part in uri.key.split("/")):
        raise NotRestorable(
            f"{uri.s3a} is no path for a table: name one below the bucket, of which no part is empty or begins with a "
            "dot or an underscore, as what engines hide does."
        )
    return TableUri("s3a", uri.bucket, uri.key)


def require_free(s3: S3, to: TableUri, point: KeptPoint) -> None:
    """Raises NotRestorable where a backup or a table has the path, or one above it, for its own."""
    place = f"{to.s3a}/"
    if overlap(place, f"{point.document['table'].rstrip('/')}/"):
        raise NotRestorable(f"{to.s3a} is where the table itself is, or was. Name a path of its own.")
    backups = [point.place.uri, *Plan.objects.values_list("destination", flat=True)]
    if any(overlap(place, one) for one in backups):
        raise NotRestorable(f"{to.s3a} lies where a backup does, or around one. Name a path elsewhere.")
    if claimed := claimed_above(s3, BucketPrefix(to.bucket, f"{to.key}/")):
        raise NotRestorable(claimed)
    parts = to.key.split("/")
    for depth in range(len(parts)):
        above = TableUri("s3a", to.bucket, "/".join(parts[:depth]))
        if any(page.objects for page in s3.list(to.bucket, above.log_key, max_keys=1)):
            raise NotRestorable(
                f"{to.s3a} lies inside the table {above.s3a}, whose VACUUM would take its files away. Name a path "
                "outside of every table."
            )
