"""Which permissions a connection has, one by one.

Each is found out in the surest way that changes nothing. Reads are asked for. Writes of items and objects are tried on
a key that nobody uses, under a condition that cannot hold: AWS looks at the permission before the condition. All else
IAM simulates, which knows the policies of the identity and not those of buckets and keys.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypedDict
from uuid import uuid4

from coordinator.models import CommitStore
from coordinator.settings.iam import FeaturePolicy, PolicyStatement, SimulatedContext
from coordinator.settings.iam_features import feature_policies
from coordinator.settings.iam_names import NEW_STORES, names_of
from dashboard.connections.models import Connection
from lake.aws.access import Lake
from lake.aws.arns import spelled
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
        "ServerSideEncryptionConfigurationNotFoundError",
        "ConditionalCheckFailedException",
        "PreconditionFailed",
        "ConditionalRequestConflict",
        "ValidationException",
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


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One permission of a feature, and the statement that grants it."""

    feature: str
    action: str
    resource: str
    grant: PolicyStatement

    @property
    def name(self) -> str:
        """Of the DynamoDB table, or of the bucket with the key's pattern."""
        return self.resource.partition(":table/")[2] or self.resource.rpartition(":::")[2]

    @property
    def can_be_asked(self) -> bool:
        """Whether it is of one thing that has a name: not of all tables that are called alike."""
        if ":table/" in self.resource:
            return "*" not in self.name
        return bool(self.name.rstrip("*")) and "*" not in self.name.rstrip("*").replace("${*}", "")

    @property
    def listed(self) -> str:
        """Where a listing may look, "" for anywhere."""
        prefixes = [values[0] for _, key, values in self.grant.conditions if key == "s3:prefix"]
        return spelled(prefixes[0].removesuffix("*")) if prefixes else ""


class Permissions(TypedDict):
    """Which permissions an identity has, each a `PermissionCheck`; `identity` is an ARN, "" where nobody knows it."""

    identity: str
    permissions: list[dict[str, str]]


def policies(connection: Connection, account: str = "*", new_stores: str = NEW_STORES) -> tuple[FeaturePolicy, ...]:
    """The policy of each feature for this connection's real names."""
    return feature_policies(names_of(connection, account, new_stores))


def _wanted(connection: Connection, account: str) -> Iterator[_Wanted]:
    for policy in policies(connection, account):
        for grant in policy.grants:
            for resource in grant.resources:
                for action in grant.actions:
                    yield _Wanted(policy.feature, action, resource, grant)


def check_all(
    connection: Connection,
    lake: Lake,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
    check_cancelled: Callable[[], None] = lambda: None,
) -> Permissions:
    """Identity and permissions as JSON. No single refusal ends it; raises AwsError only without credentials."""
    simulation = Simulation(lake)
    identity = simulation.identity
    wanted = list(dict.fromkeys(_wanted(connection, identity.account if identity else "*")))
    known: dict[tuple[str, str], PermissionCheck] = {}
    found = []
    for done, each in enumerate(wanted, start=1):
        check_cancelled()
        if (each.action, each.resource) not in known:
            known[each.action, each.resource] = _check(each, lake, simulation)
        one = known[each.action, each.resource]
        found.append(asdict(PermissionCheck(each.feature, each.action, each.resource, one.held, one.how, one.reason)))
        progress(done, len(wanted))
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

    def judge(self, wanted: _Wanted) -> PermissionCheck:
        answer = partial(PermissionCheck, wanted.feature, wanted.action, wanted.resource)
        if self._why_not or self.identity is None:
            return answer("unknown", "", self._why_not)
        context = SimulatedContext(self.identity.account, wanted.grant.conditions).entries
        try:
            found = simulate(
                self._lake.services, self.identity.principal, [wanted.action], wanted.resource, context=context
            )
        except AwsError as error:
            self._why_not = f"It cannot be found out without making a change, and IAM does not simulate it: {error}"
            return answer("unknown", "", self._why_not)
        decision = found.get(wanted.action, "")
        if decision == "allowed":
            return answer("yes", "simulated")
        denied = {"explicitDeny": "A policy denies it.", "implicitDeny": "No policy allows it."}.get(decision)
        return answer("no" if denied else "unknown", "simulated", denied or decision)


def _check(wanted: _Wanted, lake: Lake, simulation: Simulation) -> PermissionCheck:
    how, probe = _probe(wanted)
    answer = partial(PermissionCheck, wanted.feature, wanted.action, wanted.resource)
    if probe is None or not wanted.can_be_asked:
        return simulation.judge(wanted)
    try:
        probe(lake, wanted.name)
    except AwsError as error:
        if error.is_access_denied:
            return answer("no", how, str(error))
        # A table that is not there says nothing of a permission on it.
        if error.code not in _REACHED:
            return answer("unknown", how, str(error))
    return answer("yes", how)


def _probe(wanted: _Wanted) -> tuple[str, Callable[[Lake, str], object] | None]:
    if wanted.action == "s3:ListBucket":
        return "asked", partial(_list, wanted.listed)
    if read := _READS.get(wanted.action):
        return "asked", read
    return "tried", _TRIED.get(wanted.action)


def _object(name: str) -> tuple[str, str]:
    """A key under that place which nobody uses."""
    bucket, _, prefix = spelled(name.removesuffix("*")).partition("/")
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


def _list(prefix: str, lake: Lake, name: str) -> object:
    return next(iter(lake.s3.list(name, f"{prefix}{PROBE_FOLDER}", max_keys=1)), None)


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
    "s3:GetObject": _get_object,
    "s3:GetBucketVersioning": partial(_bucket, "GetBucketVersioning", "versioning"),
    "s3:GetLifecycleConfiguration": partial(_bucket, "GetBucketLifecycleConfiguration", "lifecycle"),
    "s3:GetEncryptionConfiguration": partial(_bucket, "GetBucketEncryption", "encryption"),
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
