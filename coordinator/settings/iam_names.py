"""What a connection uses, from its rows: the names, accounts and keys that policies speak of, and those policies."""

from collections.abc import Iterable, Iterator

from coordinator.models import Bucket, CommitStore, DeltaTable, Watch
from coordinator.settings.iam import FeaturePolicy, Names
from coordinator.settings.iam_features import feature_policies
from dashboard.connections.models import Connection
from lake.aws.arns import KmsKey, kms_key, partition_of
from lake.delta.uri import table_uri

NEW_STORES = "delta_"
"""How the names of new stores begin where nobody says otherwise: delta_log is Delta's own."""


def policies(connection: Connection, account: str = "*", new_stores: str = NEW_STORES) -> tuple[FeaturePolicy, ...]:
    """The policy of each feature for this connection's real names."""
    return feature_policies(names_of(connection, account, new_stores))


def names_of(connection: Connection, account: str = "*", new_stores: str = NEW_STORES) -> Names:
    """What the connection's records name. Where the account is not given, it is that of its role or of a store."""
    stores = CommitStore.objects.filter(connection=connection).order_by("name")
    watches = [uri for one in Watch.objects.filter(connection=connection) if (uri := table_uri(one.uri))]
    tables = DeltaTable.objects.filter(connection=connection, gone_at=None)
    buckets = {uri.bucket for uri in watches} | set(tables.values_list("bucket", flat=True).distinct())
    buckets |= set(Bucket.objects.filter(connection=connection).values_list("name", flat=True))
    known = account if account.isdecimal() else account_of(connection, stores)
    return Names(
        partition_of(connection.region),
        connection.region,
        known,
        tuple(one.name for one in stores if one.kind == CommitStore.Kind.LOG_STORE),
        tuple(one.name for one in stores if one.kind == CommitStore.Kind.COMMIT_COORDINATOR),
        tuple(sorted(buckets)),
        tuple(sorted({(uri.bucket, f"{uri.key}/" if uri.key else "") for uri in watches})),
        _without_doubles(bucket_key(one, known) for one in Bucket.objects.filter(connection=connection)),
        _without_doubles(store_key(one, known) for one in stores),
        new_stores,
        connection.role_arn,
    )


def account_of(connection: Connection, stores: Iterable[CommitStore]) -> str:
    """The account's 12 digits, by the connection's role or by a store as last described; else "*"."""
    arns = [connection.role_arn, *(one.facts.get("arn") or "" for one in stores)]
    parts = (arn.split(":") for arn in arns)
    return next((one[4] for one in parts if len(one) > 5 and len(one[4]) == 12 and one[4].isdecimal()), "*")


def bucket_key(bucket: Bucket, account: str) -> KmsKey | None:
    """The key of its default encryption, None for one of AWS's own, and where none was read."""
    region = bucket.facts.get("region") or bucket.connection.region
    return kms_key(bucket.facts.get("encryption_key") or "", region, account)


def store_key(store: CommitStore, account: str) -> KmsKey | None:
    return kms_key(store.facts.get("encryption") or "", store.connection.region, account)


def _without_doubles(keys: Iterator[KmsKey | None]) -> tuple[KmsKey, ...]:
    return tuple(sorted({key for key in keys if key is not None}, key=lambda key: (key.resource, key.alias)))
