"""Where self-tests of writers put their scratch tables, and which places those are."""

from django.db.models import Count

from coordinator.models import CommitStore, Watch, WriterTest
from coordinator.observation.surveys import Place
from coordinator.scratch import ScratchFolder
from lake.delta.uri import TableUri, table_uri

FOLDER = "_levee_writer_test"
"""Discovery passes over folders whose name begins so, and so does VACUUM of a table around it."""
LONGEST_PREFIX = 800
"""Bytes of a key that leave room for the folder, the token and the names of the log."""


MOST_OBJECTS = 1_000
"""A test leaves about sixty."""


class NoPlaceForTest(ValueError):
    """The text is one sentence that says what to name instead."""


def scratch_place(at: str, token: str) -> TableUri:
    """The scratch table of a token below `s3a://bucket/prefix/`. Raises NoPlaceForTest."""
    try:
        root = TableUri.parse(at)
    except ValueError as error:
        raise NoPlaceForTest(str(error)) from error
    if len(root.bucket) > 63 or len(root.key.encode(errors="surrogatepass")) > LONGEST_PREFIX:
        raise NoPlaceForTest(f"{at[:80]} is too long: name a bucket, or a prefix of at most {LONGEST_PREFIX} bytes.")
    return TableUri(root.scheme, root.bucket, "/".join(part for part in (root.key, FOLDER, token) if part))


def folder_of(test: WriterTest) -> ScratchFolder:
    """The folder of its scratch table alone."""
    return ScratchFolder(test.bucket, test.prefix.removesuffix(test.token), test.token)


def usual_places(store: CommitStore) -> list[str]:
    """Where the writers of a store may write: the buckets of its tables, the fullest first, each by a prefix that is
    watched there; every watched prefix of its connection while it has no table."""
    watched = list(Watch.objects.filter(connection=store.connection_id).values_list("uri", flat=True))
    by_bucket = {place.bucket: uri for uri in reversed(watched) if (place := table_uri(uri))}
    counted = store.tables.filter(gone_at=None).values("bucket").annotate(number=Count("pk"))
    buckets = [one["bucket"] for one in counted.order_by("-number", "bucket")]
    if not buckets:
        return [uri for uri in watched if table_uri(uri)]
    return [by_bucket.get(bucket, f"s3a://{bucket}/") for bucket in buckets]


def scratch_places() -> frozenset[Place]:
    """Bucket and key of the scratch table of every test that was ever made, cleaned up or not."""
    return frozenset(WriterTest.objects.values_list("bucket", "prefix"))
