"""Which permissions a connection has, one by one.

Each is found out in the surest way that changes nothing. Reads are asked for. Writes of items and objects are tried on
a key that nobody uses, under a condition that cannot hold: AWS looks at the permission before the condition. All else
IAM simulates, which knows the policies of the identity and not those of buckets and keys.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypedDict
from uuid import uuid4

from coordinator.models import Bucket, CommitStore, DeltaTable, Watch
from coordinator.observation.surveys import table_uri
from coordinator.settings.iam import FeaturePolicy, Names, feature_policies
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.identity import Identity, caller, simulate
from lake.delta import coordinator_items, log_store

Probe = Callable[[], object]
PROBE_FOLDER = "_levee_permission_check/"
# What AWS says where the permission is there and something else is not.
_REACHED = frozenset(
    {
        "NoSuchKey",
        "NotFound",
        "NoSuchLifecycleConfiguration",
        "ReplicationConfigurationNotFoundError",
        "ConditionalCheckFailedException",
        "PreconditionFailed",
        "ConditionalRequestConflict",
        "ValidationException",
        "ResourceNotFoundException",
    }
)


@dataclass(frozen=True, slots=True)
class PermissionCheck:
    """One action on one resource. `held` is "yes", "no" or "unknown"; `how` "asked", "tried", "simulated" or ""."""

    feature: str
    action: str
    resource: str
    held: str
    how: str
    reason: str = ""


class Permissions(TypedDict):
    """Which permissions an identity has, each a `PermissionCheck`; `identity` is an ARN, "" where nobody knows it."""

    identity: str
    permissions: list[dict[str, str]]


def policies(connection: Connection, account: str = "*") -> tuple[FeaturePolicy, ...]:
    """The policy of each feature for this connection's real names."""
    return feature_policies(names_of(connection, account))


def names_of(connection: Connection, account: str = "*") -> Names:
    """What the connection's records name; its account is taken from the ARN of a store where it is not given."""
    stores = CommitStore.objects.filter(connection=connection)
    watches = [uri for one in Watch.objects.filter(connection=connection) if (uri := table_uri(one.uri))]
    tables = DeltaTable.objects.filter(connection=connection, gone_at=None)
    buckets = {uri.bucket for uri in watches} | set(tables.values_list("bucket", flat=True).distinct())
    buckets |= set(Bucket.objects.filter(connection=connection).values_list("name", flat=True))
    region = connection.region
    partition = "aws-cn" if region.startswith("cn-") else "aws-us-gov" if "-gov-" in region else "aws"
    return Names(
        partition,
        region,
        account or "*",
        tuple(stores.filter(kind=CommitStore.Kind.LOG_STORE).order_by("name").values_list("name", flat=True)),
        tuple(stores.filter(kind=CommitStore.Kind.COMMIT_COORDINATOR).order_by("name").values_list("name", flat=True)),
        tuple(sorted(buckets)),
        tuple(sorted({(uri.bucket, f"{uri.key}/" if uri.key else "") for uri in watches})),
    )


def check_all(
    connection: Connection,
    lake: Lake,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
    check_cancelled: Callable[[], None] = lambda: None,
) -> Permissions:
    """Identity and permissions as JSON. No single refusal ends it; raises AwsError only without credentials."""
    simulation = Simulation(lake)
    identity = simulation.identity
    pairs = [
        (policy.feature, action, resource)
        for policy in policies(connection, identity.account if identity else "*")
        for grant in policy.grants
        for resource in grant.resources
        for action in grant.actions
    ]
    known: dict[tuple[str, str], PermissionCheck] = {}
    found = []
    for done, (feature, action, resource) in enumerate(pairs, start=1):
        check_cancelled()
        if (action, resource) not in known:
            known[action, resource] = _check(feature, action, resource, lake, simulation)
        one = known[action, resource]
        found.append(asdict(PermissionCheck(feature, action, resource, one.held, one.how, one.reason)))
        progress(done, len(pairs))
    return {"identity": identity.arn if identity else "", "permissions": found}


class Simulation:
    """IAM's own judgement for one identity. A refusal to judge is kept: it would be the same for each action."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self.identity: Identity | None = None
        self._why_not = ""
        try:
            self.identity = caller(lake.services)
        except AwsError as error:
            if error.code == "NoCredentials":
                raise
            self._why_not = f"Who the connection is, is not known: {error}"

    def judge(self, feature: str, action: str, resource: str) -> PermissionCheck:
        if self._why_not or self.identity is None:
            return PermissionCheck(feature, action, resource, "unknown", "", self._why_not)
        try:
            found = simulate(self._lake.services, self.identity.principal, [action], resource)
        except AwsError as error:
            self._why_not = f"It cannot be found out without making a change, and IAM does not simulate it: {error}"
            return PermissionCheck(feature, action, resource, "unknown", "", self._why_not)
        decision = found.get(action, "")
        if decision == "allowed":
            return PermissionCheck(feature, action, resource, "yes", "simulated")
        denied = {"explicitDeny": "A policy denies it.", "implicitDeny": "No policy allows it."}.get(decision)
        return PermissionCheck(
            feature, action, resource, "no" if denied else "unknown", "simulated", denied or decision
        )


def _check(feature: str, action: str, resource: str, lake: Lake, simulation: Simulation) -> PermissionCheck:
    name = resource.partition(":table/")[2] or resource.rpartition(":::")[2]
    how = "asked"
    probe = _READS.get(action)
    if probe is None:
        how, probe = "tried", _TRIED.get(action)
    if probe is None or "*" in name.rstrip("*") or not name.rstrip("*"):
        return simulation.judge(feature, action, resource)
    try:
        probe(lake, name)
    except AwsError as error:
        if error.is_access_denied:
            return PermissionCheck(feature, action, resource, "no", how, str(error))
        if error.code not in _REACHED:
            return PermissionCheck(feature, action, resource, "unknown", how, str(error))
        # A table that is not there says nothing of a permission on it.
        if error.code == "ResourceNotFoundException":
            return PermissionCheck(feature, action, resource, "unknown", how, str(error))
    return PermissionCheck(feature, action, resource, "yes", how)


def _object(name: str) -> tuple[str, str]:
    """A key under that place which nobody uses."""
    bucket, _, prefix = name.rstrip("*").partition("/")
    return bucket, f"{prefix}{PROBE_FOLDER}{uuid4()}"


def _get_object(lake: Lake, name: str) -> object:
    return lake.s3.get(*_object(name), first=0, last=0)


def _delete_object(lake: Lake, name: str) -> object:
    return lake.s3.delete(*_object(name), etag="0" * 32)


def _put_object(lake: Lake, name: str) -> object:
    """If-Match of an object that is not there: S3 writes nothing and says NoSuchKey.

    An endpoint that does not know the condition writes an empty object, which is deleted again.
    """
    bucket, key = _object(name)
    target = f"s3://{bucket}/{key}"
    headers = {"If-Match": f'"{"0" * 32}"'}
    answer = lake.s3.ask("s3:PutObject", bucket, key, method="PUT", headers=headers, target=target)
    return lake.s3.delete(bucket, key, etag=answer.headers.get("etag", "").strip('"'))


def _bucket(operation: str, subresource: str, lake: Lake, name: str) -> object:
    return lake.s3.ask(f"s3:{operation}", name, "", query={subresource: ""}, target=f"s3://{name}")


def _list(lake: Lake, name: str) -> object:
    return next(iter(lake.s3.list(name, PROBE_FOLDER, max_keys=1)), None)


def _describe(operation: str, lake: Lake, name: str) -> object:
    return lake.dynamodb.ask(operation, {"TableName": name})


def _key(lake: Lake, name: str) -> dict[str, dict[str, str]]:
    """A key that no writer uses, in the shape that the table has by its own word or by its kind."""
    store = CommitStore.objects.filter(name=name).values_list("kind", flat=True).first()
    keys = coordinator_items if store == CommitStore.Kind.COMMIT_COORDINATOR else log_store
    return {attribute: {"S": f"levee-permission-check-{uuid4()}"} for attribute, _, _ in keys.expected_keys()}


def _get_item(lake: Lake, name: str) -> object:
    return lake.dynamodb.get_item(name, _key(lake, name))


def _query(lake: Lake, name: str) -> object:
    [(attribute, value), *_] = _key(lake, name).items()
    return next(iter(lake.dynamodb.query(name, attribute, value["S"], limit=1)), None)


def _scan(lake: Lake, name: str) -> object:
    return lake.dynamodb.ask("Scan", {"TableName": name, "Limit": 1})


def _never(lake: Lake, name: str) -> dict[str, Any]:
    """A condition that an item which is not there cannot meet."""
    attribute = next(iter(_key(lake, name)))
    return {"condition": "attribute_exists(#h)", "names": {"#h": attribute}}


def _update_item(lake: Lake, name: str) -> object:
    never = _never(lake, name)
    names = {**never["names"], "#p": "levee"}
    return lake.dynamodb.update_item(
        name, _key(lake, name), update="REMOVE #p", condition=never["condition"], names=names, values={}
    )


def _put_item(lake: Lake, name: str) -> object:
    never = _never(lake, name)
    return lake.dynamodb.put_item(name, _key(lake, name), **never)


def _delete_item(lake: Lake, name: str) -> object:
    return lake.dynamodb.delete_item(name, _key(lake, name), **_never(lake, name), values={})


_READS: dict[str, Callable[[Lake, str], object]] = {
    "s3:ListBucket": _list,
    "s3:GetObject": _get_object,
    "s3:GetBucketVersioning": partial(_bucket, "GetBucketVersioning", "versioning"),
    "s3:GetLifecycleConfiguration": partial(_bucket, "GetBucketLifecycleConfiguration", "lifecycle"),
    "s3:GetReplicationConfiguration": partial(_bucket, "GetBucketReplication", "replication"),
    "s3:GetIntelligentTieringConfiguration": partial(
        _bucket, "ListBucketIntelligentTieringConfigurations", "intelligent-tiering"
    ),
    "dynamodb:DescribeTable": partial(_describe, "DescribeTable"),
    "dynamodb:DescribeTimeToLive": partial(_describe, "DescribeTimeToLive"),
    "dynamodb:DescribeContinuousBackups": partial(_describe, "DescribeContinuousBackups"),
    "dynamodb:GetItem": _get_item,
    "dynamodb:Query": _query,
    "dynamodb:Scan": _scan,
}
_TRIED: dict[str, Callable[[Lake, str], object]] = {
    "s3:PutObject": _put_object,
    "s3:DeleteObject": _delete_object,
    "dynamodb:UpdateItem": _update_item,
    "dynamodb:PutItem": _put_item,
    "dynamodb:DeleteItem": _delete_item,
}
