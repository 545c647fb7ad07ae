"""The IAM permissions that each of Levee's features needs, for the names that a connection really uses. Pure."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from coordinator.settings.iam import FeaturePolicy, Names, PolicyStatement, key_use, listing
from lake.aws.arns import literal

_STORE_DESCRIBES = ("dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive", "dynamodb:DescribeContinuousBackups")
"""What a text that declares a whole table is made from."""
_STORE_CHANGES = ("dynamodb:UpdateTimeToLive", "dynamodb:UpdateContinuousBackups")
_BUCKET_SETTINGS = (
    "s3:GetBucketVersioning",
    "s3:GetEncryptionConfiguration",
    "s3:GetIntelligentTieringConfiguration",
    "s3:GetLifecycleConfiguration",
    "s3:GetReplicationConfiguration",
)
_COMMITTING = ("s3:PutObject", "s3:DeleteObject")
"""What a commit of Spark sends besides reads: S3A puts a checksum file aside and renames it."""


def _observe(names: Names) -> Iterator[PolicyStatement]:
    yield from _listings(names, actions=("s3:ListBucket", "s3:ListBucketVersions"))
    yield _of_buckets(names, _BUCKET_SETTINGS)
    yield _of_objects(names, ("s3:GetObject",))
    reads = ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan")
    yield _of_stores(names, (*_STORE_DESCRIBES, *reads), names.all_stores)
    yield from key_use(names.bucket_keys, "s3", ("kms:Decrypt",))
    yield from key_use(names.store_keys, "dynamodb", ("kms:Decrypt",))


def _repair_log_store(names: Names) -> Iterator[PolicyStatement]:
    items = ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem")
    yield _of_stores(names, items, names.log_stores)
    yield from _writing_files(names, _COMMITTING, names.log_stores)


def _repair_coordinated(names: Names) -> Iterator[PolicyStatement]:
    items = ("dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:DeleteItem")
    yield _of_stores(names, items, names.coordinators)
    yield from _writing_files(names, _COMMITTING, names.coordinators)


def _restore(names: Names) -> Iterator[PolicyStatement]:
    yield _of_stores(names, ("dynamodb:GetItem",), names.all_stores)
    yield from _writing_files(names, ("s3:PutObject",), names.buckets)


def _put_back(names: Names) -> Iterator[PolicyStatement]:
    """Entries of the path are deleted and its registrations closed, then Spark writes to it once.

    What it needs of S3 is with the policies of the plan that has backed it up.
    """
    entries = ("GetItem", "Query", "DeleteItem", "DescribeTable", "PutItem")
    yield _of_stores(names, tuple(f"dynamodb:{one}" for one in entries), names.log_stores)
    registrations = ("dynamodb:Scan", "dynamodb:GetItem", "dynamodb:UpdateItem")
    yield _of_stores(names, registrations, names.coordinators)


def _enable(names: Names) -> Iterator[PolicyStatement]:
    """Spark registers the table, made or there, and commits as it commits until now, by a log store where it has one.

    Deletes: the registration that a failed act has left, on the condition that nothing was committed by it.
    """
    yield from _spark(names, ("dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"))


def _drop(names: Names) -> Iterator[PolicyStatement]:
    """The first commit goes to the coordinator, the second one past it."""
    yield from _spark(names, ("dynamodb:UpdateItem",))


def _rehearse(names: Names) -> Iterator[PolicyStatement]:
    """The statements of both acts on a copy beside the table; then its objects and items are removed."""
    yield from _enable(names)
    if names.coordinators:
        yield _of_stores(names, ("dynamodb:Query", "dynamodb:DeleteItem"), names.log_stores)
        yield _of_stores(names, ("dynamodb:Scan",), names.coordinators)


def _spark(names: Names, writes: Sequence[str]) -> Iterator[PolicyStatement]:
    """Delta asks whether its DynamoDB table is there; it may not make one, which Levee does with more care."""
    reads = ("dynamodb:DescribeTable", "dynamodb:GetItem")
    yield _of_stores(names, (*reads, *writes), names.coordinators)
    if names.coordinators:
        yield _of_stores(names, (*reads, "dynamodb:Query", "dynamodb:PutItem"), names.log_stores)
    yield from _writing_files(names, _COMMITTING, names.coordinators)
    yield from key_use(names.store_keys if names.coordinators else (), "dynamodb", ("kms:Decrypt",))


def _change_stores(names: Names) -> Iterator[PolicyStatement]:
    yield _of_stores(names, (*_STORE_DESCRIBES, "dynamodb:UpdateTable", *_STORE_CHANGES), names.all_stores)


def _create_stores(names: Names) -> Iterator[PolicyStatement]:
    """Only tables of the names that new stores get: TTL on any other one would expire what a stranger keeps there."""
    new = (f"{names.new_stores}*",)
    # Without a condition on an account: what is to be made has none, and nobody makes a table in another's.
    yield PolicyStatement(("dynamodb:CreateTable", "dynamodb:TagResource"), names.store_arns(new))
    yield _of_stores(names, (*_STORE_DESCRIBES, *_STORE_CHANGES), new)
    yield from key_use(names.store_keys, "dynamodb", ("kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey"))


def _change_lifecycle(names: Names) -> Iterator[PolicyStatement]:
    yield _of_buckets(names, ("s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration"))


def _sweep(names: Names) -> Iterator[PolicyStatement]:
    yield from _listings(names)
    yield _of_objects(names, ("s3:DeleteObject", "s3:GetObject"))
    yield from key_use(names.bucket_keys, "s3", ("kms:Decrypt",))
    yield _of_stores(names, ("dynamodb:GetItem",), names.log_stores)


def _writer_tests(names: Names) -> Iterator[PolicyStatement]:
    yield from _listings(names, names.scratch_places)
    objects = tuple(
        f"arn:{names.partition}:s3:::{bucket}/{literal(prefix)}*" for bucket, prefix in names.scratch_places
    )
    yield PolicyStatement(("s3:GetObject", "s3:DeleteObject"), objects, (names.own,))
    yield from key_use(names.bucket_keys, "s3", ("kms:Decrypt",))
    yield _of_stores(names, ("dynamodb:Query",), names.log_stores)
    yield _of_stores(names, ("dynamodb:Scan",), names.coordinators)
    yield _of_stores(names, ("dynamodb:GetItem", "dynamodb:DeleteItem"), names.all_stores)


def _load(names: Names) -> Iterator[PolicyStatement]:
    """CloudWatch knows no resources for this action (Service Authorization Reference)."""
    yield PolicyStatement(("cloudwatch:GetMetricData",), ("*",) if names.all_stores else ())


def _check(names: Names) -> Iterator[PolicyStatement]:
    yield PolicyStatement(("iam:SimulatePrincipalPolicy",), (names.role or "*",))


def _writing_files(names: Names, writes: tuple[str, ...], needed_by: Sequence[str]) -> Iterator[PolicyStatement]:
    """Reading and writing of objects; nothing where there is nothing that needs it."""
    if not needed_by:
        return
    yield from _listings(names)
    yield _of_objects(names, ("s3:GetObject", *writes))
    yield from key_use(names.bucket_keys, "s3", ("kms:Decrypt", "kms:GenerateDataKey"))


def _listings(
    names: Names, of: Sequence[tuple[str, str]] = (), actions: tuple[str, ...] = ("s3:ListBucket",)
) -> Iterator[PolicyStatement]:
    """Of all that is used, or of these buckets and prefixes."""
    for bucket, places in groupby(of or names.places, key=lambda place: place[0]):
        arn = f"arn:{names.partition}:s3:::{bucket}"
        yield listing(arn, [prefix for _, prefix in places], names.own, actions=actions)


def _of_buckets(names: Names, actions: tuple[str, ...]) -> PolicyStatement:
    return PolicyStatement(actions, names.bucket_arns, (names.own,))


def _of_objects(names: Names, actions: tuple[str, ...]) -> PolicyStatement:
    return PolicyStatement(actions, names.object_arns, (names.own,))


def _of_stores(names: Names, actions: tuple[str, ...], stores: Sequence[str]) -> PolicyStatement:
    return PolicyStatement(actions, names.store_arns(stores), (names.own,))


_FEATURES: tuple[tuple[str, str, Callable[[Names], Iterator[PolicyStatement]]], ...] = (
    ("observe", "Observe tables, stores and buckets", _observe),
    ("repair-log-store", "Repair tables of a log store", _repair_log_store),
    ("repair-coordinator", "Backfill and repair coordinated tables", _repair_coordinated),
    ("restore-copies", "Put saved copies back", _restore),
    ("put-back", "Put a backed-up version back in place: commit stores", _put_back),
    ("enable-coordination", "Enable coordinated commits", _enable),
    ("drop-coordination", "Drop coordinated commits and what they leave", _drop),
    ("rehearse-coordination", "Try enabling and dropping on a copy", _rehearse),
    ("create-tables", "Create coordinated tables", _enable),
    ("change-stores", "Change commit stores", _change_stores),
    ("create-stores", "Create commit stores", _create_stores),
    ("change-lifecycle", "Change lifecycle rules", _change_lifecycle),
    ("sweep", "Sweep finished temp files", _sweep),
    ("writer-tests", "Look at writers' self-tests and clean them up", _writer_tests),
    ("load", "See throttles and peaks", _load),
    ("check-permissions", "Check permissions", _check),
)


def feature_policies(names: Names) -> tuple[FeaturePolicy, ...]:
    """A policy for each feature; a grant that would name no resource is left out, and so is an empty feature.

    Each stands by itself, beside `observe`: what it reads before and after a change is in it.
    """
    features = (
        FeaturePolicy(feature, title, tuple(grant for grant in grants_of(names) if grant.resources))
        for feature, title, grants_of in _FEATURES
    )
    return tuple(one for one in features if one.grants)
