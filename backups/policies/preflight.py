"""Which of a plan's permissions are there, one by one, found out without a change.

What the generated policies grant is what is checked. Of Levee and of the role that S3 Batch acts as, IAM simulates what
their policies allow; the policies of buckets are read, and have a statement as it was generated or are not judged.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, TypedDict

from django.utils import timezone

from backups.models import Plan
from backups.policies.documents import BACKING_UP, PURPOSES, PolicyDocument, Statement, policy_documents
from backups.policies.names import PlanNames, names_of
from dashboard.connections.access import lake_access
from dashboard.connections.owners import keep_owner
from dashboard.jobs.context import JobContext, JobResult
from dashboard.jobs.registry import job_kind
from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError
from lake.aws.held_permissions import HeldPermission, PermissionJudge

PREFLIGHT_KIND = "backup-preflight"
_NOT_READ = HeldPermission("unknown", "", "The policies of keys are not read.")


@dataclass(frozen=True, slots=True)
class PolicyCheck:
    """One right of one principal; `held`, `how` and `reason` as in `HeldPermission`."""

    policy: str
    account: str
    who: str
    action: str
    resource: str
    held: str
    how: str
    reason: str = ""
    purpose: str = BACKING_UP


class PreflightParams(TypedDict):
    """The plan by its primary key."""

    plan: int


class PreflightResult(JobResult):
    """`checks` are those of `PolicyCheck`."""

    checked_at: str
    checks: list[dict[str, str]]


@job_kind(PREFLIGHT_KIND, queue="aws", verb="backup.preflight", changes_lake=False)
def preflight(context: JobContext, params: PreflightParams) -> str:
    """Check each permission of one plan; changes nothing. The result is a `PreflightResult`."""
    plan = Plan.objects.select_related("connection", "vault_connection").filter(pk=params["plan"]).first()
    if plan is None:
        raise LookupError("The plan has been removed: there is nothing to check.")
    source, vault = open_lake(lake_access(plan.connection)), open_lake(lake_access(plan.vault_connection))
    with source, vault, context.step("Check each permission"):
        keep_owner(plan.vault_connection, vault, names_of(plan).destination.bucket)
        found = check_plan(names_of(plan), source, vault, context.progress, context.check_cancelled)
    context.result(PreflightResult(checked_at=timezone.now().isoformat(), checks=[asdict(one) for one in found]))
    return sentence(found)


def check_plan(
    names: PlanNames,
    source: Lake,
    vault: Lake,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
    check_cancelled: Callable[[], None] = lambda: None,
) -> tuple[PolicyCheck, ...]:
    """Every right that the plan's policies grant. No single refusal ends it; AwsError only without credentials."""
    lakes = {"source": source, "vault": vault}
    judges = {account: PermissionJudge(lake.services) for account, lake in lakes.items()}
    own = [one for policy in policy_documents(names) for one in policy.document["Statement"]]
    wanted, read = list(_wanted(names)), cache(lambda account, bucket: _statements(lakes[account], bucket))
    found: list[PolicyCheck] = []
    for done, (policy, statement) in enumerate(wanted, start=1):
        check_cancelled()
        if policy.kind in {"bucket", "key"}:
            found += _of_resource(policy, statement, read, own)
        else:
            judge = judges[policy.account]
            who = names.batch_role if policy.kind == "role" else judge.principal
            found += _simulated(judge, who, policy, statement)
        progress(done, len(wanted))
    return tuple(dict.fromkeys(found))


def sentence(checks: tuple[PolicyCheck, ...]) -> str:
    """What came out, to be read out: how many are held, the first that is missing to back up, and what may restore."""
    held = {purpose: [one.held for one in checks if one.purpose == purpose] for purpose in PURPOSES}
    said = [f"{purpose.capitalize()}: {_count(these)}" for purpose, these in held.items()]
    if missing := next((one for one in checks if one.held == "no" and one.purpose == BACKING_UP), None):
        said[0] += f"; {missing.who} lacks {missing.action} on {missing.resource}"
    return f"{'. '.join(said)}."


def _count(held: list[str]) -> str:
    unknown = held.count("unknown")
    return f"{held.count('yes'):,} of {len(held):,} granted{f', {unknown:,} not known' if unknown else ''}"


def _wanted(names: PlanNames) -> Iterator[tuple[PolicyDocument, Statement]]:
    """All that is granted; denials are not asked about."""
    for policy in policy_documents(names):
        if policy.kind != "trust":
            yield from ((policy, one) for one in policy.document["Statement"] if one["Effect"] == "Allow")


def _simulated(judge: PermissionJudge, who: str, policy: PolicyDocument, statement: Statement) -> Iterator[PolicyCheck]:
    shown = who if policy.kind == "role" else f"Levee in the {policy.section.partition(',')[0].lower()}"
    for resource in _listed(statement["Resource"]):
        for action, one in judge.judge(who, _listed(statement["Action"]), resource, _context(statement)).items():
            yield _check(policy, shown, action, resource, one)


def _check(policy: PolicyDocument, who: str, action: str, resource: str, found: HeldPermission) -> PolicyCheck:
    return PolicyCheck(policy.code, policy.account, who, action, resource, **asdict(found), purpose=policy.purpose)


def _context(statement: Statement) -> dict[str, str]:
    """What a request that the statement is for says of itself; IAM denies one that says nothing."""
    asked = [one for keys in statement.get("Condition", {}).values() for one in keys.items()]
    return {key: str(_listed(values)[0]) for key, values in asked}


def _of_resource(
    policy: PolicyDocument,
    statement: Statement,
    read: Callable[[str, str], list[Statement] | HeldPermission],
    own: Iterable[Statement],
) -> Iterator[PolicyCheck]:
    """What the own policy of a bucket grants, as far as it can be read."""
    one, resources = _NOT_READ, [policy.target]
    if policy.kind == "bucket":
        found, resources = read(policy.account, policy.target), _listed(statement["Resource"])
        one = found if isinstance(found, HeldPermission) else has_statement(found, statement, own)
    named = statement["Principal"]
    for who in _listed(named.get("AWS", named.get("Service"))):
        for resource in resources:
            for action in _listed(statement["Action"]):
                yield _check(policy, who, action, resource, one)


def _statements(lake: Lake, bucket: str) -> list[Statement] | HeldPermission:
    """Those of a bucket's policy, or why they are not known."""
    if "{date}" in bucket:
        return HeldPermission("unknown", "", "The bucket of a date exists only when its run begins.")
    target = f"s3://{bucket}"
    try:
        body = lake.s3.ask("s3:GetBucketPolicy", bucket, "", query={"policy": ""}, target=target).body
        return [one for one in _listed(json.loads(body).get("Statement")) if isinstance(one, dict)]
    except AwsError as error:
        if error.code == "NoSuchBucketPolicy":
            return HeldPermission("no", "read", "The bucket has no policy.")
        return HeldPermission("unknown", "read", str(error))
    except (ValueError, AttributeError):
        return HeldPermission("unknown", "read", "The bucket's policy is not JSON that IAM would know.")


def has_statement(statements: Iterable[Statement], wanted: Statement, own: Iterable[Statement]) -> HeldPermission:
    """Whether a bucket's policy has a statement word for word, whatever its name and order, and no denial that is not
    among Levee's `own`. What is said otherwise may come to the same: it is not judged.
    """
    words, ours = [_words(one) for one in statements], [_words(one) for one in own]
    if _words(wanted) not in words:
        return HeldPermission("unknown", "read", "The bucket's policy does not have the statement as it is given here.")
    if any(one.get("Effect") == ["Deny"] and one not in ours for one in words):
        return HeldPermission("unknown", "read", "The bucket's policy has the statement, and others that deny.")
    return HeldPermission("yes", "read")


def _words(statement: Statement) -> dict[str, Any]:
    """A statement without its name; a list of one value is that value, and lists have no order."""
    return {key: _unordered(value) for key, value in statement.items() if key != "Sid"}


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(one) for key, one in value.items()}
    return sorted(map(str, value if isinstance(value, list) else [value]))


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
