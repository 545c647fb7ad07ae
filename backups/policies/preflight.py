"""Which of a plan's permissions are there, one by one, found out in the surest way that changes nothing.

What the generated policies grant is what is checked. Levee's own rights are asked for or tried on a key that nobody
uses, under a condition that cannot hold. Of the role that only S3 Batch can act as, IAM says what its policies allow,
and the policies of buckets are read.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

from backups.policies.bucket_policy import verdict
from backups.policies.documents import PolicyDocument, Statement, policy_documents
from backups.policies.names import PlanNames, place_of
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.identity import caller, simulate
from lake.backup.objects import BucketPrefix

PROBE_FOLDER = "_levee_permission_check/"
# What S3 says where the permission is there and something else is not.
_REACHED = frozenset(
    {
        "ConditionalRequestConflict",
        "NoSuchBucketPolicy",
        "NoSuchConfiguration",
        "NoSuchKey",
        "NoSuchUpload",
        "NoSuchVersion",
        "NotFound",
        "PreconditionFailed",
    }
)


@dataclass(frozen=True, slots=True)
class PolicyCheck:
    """One right of one principal. `held` is "yes", "no" or "unknown"; `how` "asked", "tried", "simulated" or "read"."""

    policy: str
    account: str
    who: str
    action: str
    resource: str
    held: str
    how: str
    reason: str = ""


def check_plan(
    names: PlanNames,
    source: Lake,
    vault: Lake,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
    check_cancelled: Callable[[], None] = lambda: None,
) -> tuple[PolicyCheck, ...]:
    """Every right that the plan's policies grant. No single refusal ends it; AwsError only without credentials."""
    lakes = {"source": source, "vault": vault}
    askers = {account: _Asker(lake, *_identity(lake)) for account, lake in lakes.items()}
    wanted = list(_wanted(names))
    known: dict[tuple[str, ...], tuple[str, str, str]] = {}
    found = []
    for done, (policy, who, action, resource) in enumerate(wanted, start=1):
        check_cancelled()
        key = (policy.kind, policy.account, who, action, resource)
        if key not in known:
            known[key] = _found(policy, who, action, resource, askers[policy.account])
        found.append(PolicyCheck(policy.code, policy.account, who, action, resource, *known[key]))
        progress(done, len(wanted))
    return tuple(found)


def as_documents(checks: tuple[PolicyCheck, ...]) -> list[dict[str, str]]:
    return [asdict(one) for one in checks]


def sentence(checks: tuple[PolicyCheck, ...]) -> str:
    """What came out, to be read out: how many are held, and the first that is missing."""
    held = [one.held for one in checks]
    counts = f"{held.count('yes'):,} of {len(held):,} permissions are there"
    missing = next((one for one in checks if one.held == "no"), None)
    unknown = held.count("unknown")
    more = f"; {unknown:,} could not be found out" if unknown else ""
    if missing is None:
        return f"{counts}{more}."
    first = f"{missing.who} lacks {missing.action} on {missing.resource}"
    return f"{counts}, {held.count('no'):,} missing{more}. First: {first}."


def _wanted(names: PlanNames) -> Iterator[tuple[PolicyDocument, str, str, str]]:
    """(policy, who, action, resource) of all that is granted; denials and keys' own policies are not asked about."""
    for policy in policy_documents(names):
        if policy.kind not in {"identity", "role", "bucket"}:
            continue
        for statement in policy.document["Statement"]:
            if statement["Effect"] != "Allow":
                continue
            for who in _principals(policy, statement, names):
                for resource in _listed(statement["Resource"]):
                    for action in _listed(statement["Action"]):
                        yield policy, who, action, resource


def _principals(policy: PolicyDocument, statement: Statement, names: PlanNames) -> list[str]:
    if policy.kind == "role":
        return [names.batch_role]
    if policy.kind == "identity":
        return ["Levee"]
    named = statement["Principal"]
    return _listed(named.get("AWS", named.get("Service")))


@dataclass(frozen=True)
class _Asker:
    """One account: its lake, who Levee is there ("" with the reason in `unknown`), and whom IAM does not simulate."""

    lake: Lake
    principal: str
    unknown: str
    refusals: dict[str, str] = field(default_factory=dict)

    def simulated(self, principal: str, action: str, resource: str) -> tuple[str, str, str]:
        """What IAM says of a principal. It is not asked again of one that it has refused to simulate."""
        if not principal:
            return "unknown", "", f"Who the connection is, is not known: {self.unknown}"
        if principal in self.refusals:
            return "unknown", "", self.refusals[principal]
        try:
            decision = simulate(self.lake.services, principal, [action], resource).get(action, "")
        except AwsError as error:
            reason = f"It cannot be found out without making a change, and IAM does not simulate it: {error}"
            if not error.is_throttle:
                self.refusals[principal] = reason
            return "unknown", "", reason
        denied = {"explicitDeny": "A policy denies it.", "implicitDeny": "No policy allows it."}.get(decision)
        if decision == "allowed":
            return "yes", "simulated", ""
        return ("no" if denied else "unknown"), "simulated", denied or f"IAM says {decision or 'nothing'}."


def _found(policy: PolicyDocument, who: str, action: str, resource: str, asker: _Asker) -> tuple[str, str, str]:
    if policy.kind == "bucket":
        return _read_policy(asker.lake, policy.target, who, action, resource)
    if policy.kind == "role":
        return asker.simulated(who, action, resource)
    place = place_of(resource)
    how, probe = "asked", _READS.get(action)
    if probe is None:
        how, probe = "tried", _TRIED.get(action)
    if probe is not None and place is not None:
        return _asked(partial(probe, asker.lake, place), how)
    return asker.simulated(asker.principal, action, resource)


def _identity(lake: Lake) -> tuple[str, str]:
    try:
        return caller(lake.services).principal, ""
    except AwsError as error:
        if error.code == "NoCredentials":
            raise
        return "", str(error)


def _asked(probe: Callable[[], object], how: str) -> tuple[str, str, str]:
    try:
        probe()
    except AwsError as error:
        if error.is_access_denied:
            return "no", how, str(error)
        if error.code not in _REACHED:
            return "unknown", how, str(error)
    return "yes", how, ""


def _read_policy(lake: Lake, bucket: str, who: str, action: str, resource: str) -> tuple[str, str, str]:
    if "{date}" in bucket:
        return "unknown", "", "The bucket of a date exists only when its run begins."
    target = f"s3://{bucket}"
    try:
        body = lake.s3.ask("s3:GetBucketPolicy", bucket, "", query={"policy": ""}, target=target).body
    except AwsError as error:
        if error.code == "NoSuchBucketPolicy":
            return "no", "read", "The bucket has no policy."
        return "unknown", "read", str(error)
    held, reason = verdict(body.decode("utf-8", "replace"), who, action, resource)
    return held, "read", reason


def _key(place: BucketPrefix) -> tuple[str, str]:
    """A key in that place which nobody uses."""
    return place.bucket, f"{place.prefix}{PROBE_FOLDER}{uuid4()}"


def _list(lake: Lake, place: BucketPrefix) -> object:
    return next(iter(lake.s3.list(place.bucket, PROBE_FOLDER, max_keys=1)), None)


def _of_object(operation: str, query: dict[str, str], lake: Lake, place: BucketPrefix, method: str = "GET") -> object:
    bucket, key = _key(place)
    return lake.s3.ask(operation, bucket, key, method=method, query=query, target=f"s3://{bucket}/{key}")


def _of_bucket(operation: str, query: dict[str, str], lake: Lake, place: BucketPrefix) -> object:
    return lake.s3.ask(operation, place.bucket, "", query=query, target=f"s3://{place.bucket}")


def _put(lake: Lake, place: BucketPrefix) -> object:
    """If-Match of an object that is not there: S3 writes nothing and says NoSuchKey.

    An endpoint that does not know the condition writes an empty object, which is deleted again.
    """
    bucket, key = _key(place)
    target, headers = f"s3://{bucket}/{key}", {"If-Match": f'"{"0" * 32}"'}
    answer = lake.s3.ask("s3:PutObject", bucket, key, method="PUT", headers=headers, target=target)
    return lake.s3.delete(bucket, key, etag=answer.headers.get("etag", "").strip('"'))


def _tag(lake: Lake, place: BucketPrefix) -> object:
    bucket, key = _key(place)
    body = b"<Tagging><TagSet/></Tagging>"
    target = f"s3://{bucket}/{key}"
    return lake.s3.ask(
        "s3:PutObjectTagging", bucket, key, method="PUT", query={"tagging": ""}, body=body, target=target
    )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


_VERSION = {"versionId": "null"}
_UPLOAD = {"uploadId": "levee-permission-check"}
Probe = Callable[[Lake, BucketPrefix], object]
_READS: dict[str, Probe] = {
    "s3:ListBucket": _list,
    "s3:GetObject": partial(_of_object, "s3:GetObject", {}),
    "s3:GetObjectTagging": partial(_of_object, "s3:GetObjectTagging", {"tagging": ""}),
    "s3:GetObjectVersion": partial(_of_object, "s3:GetObjectVersion", _VERSION),
    "s3:GetObjectVersionTagging": partial(_of_object, "s3:GetObjectVersionTagging", {"tagging": "", **_VERSION}),
    "s3:GetBucketPolicy": partial(_of_bucket, "s3:GetBucketPolicy", {"policy": ""}),
    "s3:GetInventoryConfiguration": partial(
        _of_bucket, "s3:GetInventoryConfiguration", {"inventory": "", "id": "levee-permission-check"}
    ),
    "s3:ListMultipartUploadParts": partial(_of_object, "s3:ListMultipartUploadParts", _UPLOAD),
}
_TRIED: dict[str, Probe] = {
    "s3:PutObject": _put,
    "s3:PutObjectTagging": _tag,
    "s3:AbortMultipartUpload": partial(_of_object, "s3:AbortMultipartUpload", _UPLOAD, method="DELETE"),
}
