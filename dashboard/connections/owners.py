"""Which account owns a bucket, kept from the first time that it is known.

The name of a deleted bucket is free for anybody. From then on S3 refuses each request to a bucket of that name that
another account owns: nothing is read from it as if it were the table, and no copy is written to it.
"""

from django.db import transaction

from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.identity import caller
from lake.aws.lifecycle import is_owned_by


def keep_owner(connection: Connection, lake: Lake, bucket: str) -> None:
    """Keep the caller's account as the bucket's owner where S3 says so; one that is not known stays unknown."""
    if bucket in connection.bucket_owners:
        return
    try:
        account = caller(lake.services).account
        if not account or is_owned_by(lake, bucket, account) is not True:
            return
    except AwsError:
        return
    with transaction.atomic():
        kept = Connection.objects.select_for_update().filter(pk=connection.pk).first()
        if kept is not None and bucket not in kept.bucket_owners:
            kept.bucket_owners[bucket] = account
            kept.save(update_fields=["bucket_owners"])
            connection.bucket_owners = kept.bucket_owners
