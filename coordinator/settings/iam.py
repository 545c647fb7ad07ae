"""The IAM permissions that each of Levee's features needs, for the names that a connection really uses. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Names:
    """What a connection uses: `partition` and `region` as in ARNs, `account` with 12 digits or "*"."""

    partition: str
    region: str
    account: str
    log_stores: tuple[str, ...] = ()
    coordinators: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()

    def store_arns(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"arn:{self.partition}:dynamodb:{self.region}:{self.account}:table/{name}" for name in names)

    @property
    def all_stores(self) -> tuple[str, ...]:
        return tuple(sorted({*self.log_stores, *self.coordinators}))

    @property
    def bucket_arns(self) -> tuple[str, ...]:
        return tuple(f"arn:{self.partition}:s3:::{name}" for name in self.buckets)

    @property
    def object_arns(self) -> tuple[str, ...]:
        """Objects under the watched prefixes, or of the whole bucket where none is watched in it."""
        watched = {bucket for bucket, _ in self.prefixes}
        places = [f"{bucket}/{prefix}" for bucket, prefix in self.prefixes]
        places += [f"{bucket}/" for bucket in self.buckets if bucket not in watched]
        return tuple(f"arn:{self.partition}:s3:::{place}*" for place in sorted(places))


@dataclass(frozen=True, slots=True)
class PolicyStatement:
    """Actions on resources, as one statement of a policy."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeaturePolicy:
    """What one feature needs: `document` is an IAM policy, ready to attach."""

    feature: str
    title: str
    grants: tuple[PolicyStatement, ...]

    @property
    def document(self) -> dict[str, object]:
        statements = [
            {"Effect": "Allow", "Action": list(one.actions), "Resource": list(one.resources)} for one in self.grants
        ]
        return {"Version": "2012-10-17", "Statement": statements}


def feature_policies(names: Names) -> tuple[FeaturePolicy, ...]:
    """A policy for each feature; a grant that would name no resource is left out, and so is an empty feature."""
    stores, logs = names.store_arns(names.all_stores), names.store_arns(names.log_stores)
    coordinators = names.store_arns(names.coordinators)
    features = (
        FeaturePolicy("observe", "Observe tables, stores and buckets", _observe(names, stores)),
        FeaturePolicy(
            "repair-log-store",
            "Repair tables of a log store",
            (
                PolicyStatement(("dynamodb:UpdateItem", "dynamodb:DeleteItem"), logs),
                PolicyStatement(("s3:PutObject", "s3:DeleteObject"), names.object_arns),
            ),
        ),
        FeaturePolicy(
            "repair-coordinator",
            "Backfill and repair coordinated tables",
            (
                PolicyStatement(("dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:DeleteItem"), coordinators),
                PolicyStatement(("s3:PutObject", "s3:DeleteObject"), names.object_arns if coordinators else ()),
            ),
        ),
        FeaturePolicy(
            "restore-copies",
            "Put saved copies back",
            (PolicyStatement(("dynamodb:PutItem",), stores), PolicyStatement(("s3:PutObject",), names.object_arns)),
        ),
        FeaturePolicy("change-stores", "Change commit stores", (PolicyStatement(_STORE_CHANGES, stores),)),
        FeaturePolicy(
            "create-stores",
            "Create commit stores",
            (
                PolicyStatement(
                    ("dynamodb:CreateTable", "dynamodb:TagResource", *_STORE_CHANGES[1:]), names.store_arns(("*",))
                ),
            ),
        ),
        FeaturePolicy(
            "change-lifecycle",
            "Change lifecycle rules",
            (PolicyStatement(("s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration"), names.bucket_arns),),
        ),
        FeaturePolicy(
            "sweep",
            "Sweep finished temp files",
            (
                PolicyStatement(("s3:ListBucket",), names.bucket_arns),
                PolicyStatement(("s3:DeleteObject", "s3:GetObject"), names.object_arns),
                PolicyStatement(("dynamodb:GetItem",), logs),
            ),
        ),
        FeaturePolicy(
            "load",
            "See throttles and peaks",
            (PolicyStatement(("cloudwatch:GetMetricData",), ("*",) if stores else ()),),
        ),
        FeaturePolicy(
            "check-permissions", "Check permissions", (PolicyStatement(("iam:SimulatePrincipalPolicy",), ("*",)),)
        ),
    )
    return tuple(kept for one in features if (kept := _without_empty(one)).grants)


_STORE_CHANGES = ("dynamodb:UpdateTable", "dynamodb:UpdateTimeToLive", "dynamodb:UpdateContinuousBackups")


def _observe(names: Names, stores: tuple[str, ...]) -> tuple[PolicyStatement, ...]:
    return (
        PolicyStatement(
            (
                "s3:ListBucket",
                "s3:GetBucketVersioning",
                "s3:GetLifecycleConfiguration",
                "s3:GetReplicationConfiguration",
                "s3:GetIntelligentTieringConfiguration",
            ),
            names.bucket_arns,
        ),
        PolicyStatement(("s3:GetObject",), names.object_arns),
        PolicyStatement(
            (
                "dynamodb:DescribeTable",
                "dynamodb:DescribeTimeToLive",
                "dynamodb:DescribeContinuousBackups",
                "dynamodb:GetItem",
                "dynamodb:Query",
                "dynamodb:Scan",
            ),
            stores,
        ),
    )


def _without_empty(policy: FeaturePolicy) -> FeaturePolicy:
    grants = tuple(one for one in policy.grants if one.resources)
    return FeaturePolicy(policy.feature, policy.title, grants)
