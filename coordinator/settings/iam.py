"""What a connection uses, as policies name it, and the parts that policies are made of. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lake.aws.arns import KmsKey, literal, service_host

Condition = tuple[str, str, tuple[str, ...]]
"""Operator, key and the values of which one has to fit."""
VERSION = "2012-10-17"


@dataclass(frozen=True, slots=True)
class Names:
    """What a connection uses: `partition` and `region` as in ARNs, `account` with 12 digits or "*".

    `prefixes` are (bucket, prefix) of what is watched. `bucket_keys` and `store_keys` are the KMS keys that encrypt
    the buckets' objects by default, and the stores. New stores have names that begin with `new_stores`. `role` is the
    ARN of the connection's role, "" without one.
    """

    partition: str
    region: str
    account: str
    log_stores: tuple[str, ...] = ()
    coordinators: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    bucket_keys: tuple[KmsKey, ...] = ()
    store_keys: tuple[KmsKey, ...] = ()
    new_stores: str = "delta_"
    role: str = ""

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
        return tuple(f"arn:{self.partition}:s3:::{bucket}/{literal(prefix)}*" for bucket, prefix in self.places)

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Bucket and prefix of all that is used; the prefix is "" where nothing is watched in the bucket."""
        watched = {bucket for bucket, _ in self.prefixes}
        return tuple(sorted({*self.prefixes, *((bucket, "") for bucket in self.buckets if bucket not in watched)}))

    @property
    def own(self) -> Condition:
        """Nothing of another account, whatever its name: buckets have no account in their ARNs."""
        account = "${aws:PrincipalAccount}" if self.account == "*" else self.account
        return "StringEquals", "aws:ResourceAccount", (account,)

    @property
    def scratch_places(self) -> tuple[tuple[str, str], ...]:
        """Bucket and prefix of the scratch folders of writers' self-tests, in buckets and below watched prefixes."""
        parents = {*self.prefixes, *((bucket, "") for bucket in self.buckets)}
        return tuple(sorted((bucket, f"{prefix}_levee_writer_test/") for bucket, prefix in parents))


@dataclass(frozen=True, slots=True)
class PolicyStatement:
    """Actions on resources, as one statement of a policy."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    sid: str = ""

    @property
    def document(self) -> dict[str, Any]:
        said: dict[str, Any] = {"Sid": self.sid} if self.sid else {}
        said |= {"Effect": "Allow", "Action": list(self.actions), "Resource": list(self.resources)}
        return said | ({"Condition": condition_document(self.conditions)} if self.conditions else {})


def condition_document(conditions: Sequence[Condition]) -> dict[str, dict[str, Any]]:
    """As IAM writes it; one value stands alone, several are a list."""
    found: dict[str, dict[str, Any]] = {}
    for operator, key, values in conditions:
        found.setdefault(operator, {})[key] = values[0] if len(values) == 1 else list(values)
    return found


def policy_document(statements: Sequence[PolicyStatement]) -> dict[str, Any]:
    return {"Version": VERSION, "Statement": [one.document for one in statements]}


@dataclass(frozen=True, slots=True)
class FeaturePolicy:
    """What one feature needs: `document` is an IAM policy, ready to attach."""

    feature: str
    title: str
    grants: tuple[PolicyStatement, ...]

    @property
    def document(self) -> dict[str, Any]:
        return policy_document(self.grants)


def listing(
    bucket_arn: str,
    prefixes: Sequence[str],
    own: Condition,
    sid: str = "",
    actions: tuple[str, ...] = ("s3:ListBucket",),
) -> PolicyStatement:
    """Listing below these prefixes of one bucket, and being told of an absent object that it is absent.

    S3 answers 403 in place of 404 to whoever may not list the bucket; such a request has no s3:prefix, which IfExists
    passes. It passes a listing that names no prefix, too.
    """
    below = () if "" in prefixes else (("StringLikeIfExists", "s3:prefix", tuple(f"{literal(p)}*" for p in prefixes)),)
    return PolicyStatement(actions, (bucket_arn,), (own, *below), sid)


def key_use(keys: Sequence[KmsKey], service: str, actions: Sequence[str], sid: str = "") -> Iterator[PolicyStatement]:
    """Use of KMS keys, by way of one service alone."""
    for number, key in enumerate(keys):
        via: Condition = ("StringEquals", "kms:ViaService", (service_host(service, key.region),))
        alias: tuple[Condition, ...] = (
            (("ForAnyValue:StringEquals", "kms:ResourceAliases", (key.alias,)),) if key.alias else ()
        )
        name = f"{sid}{number + 1}" if sid and number else sid
        yield PolicyStatement(tuple(actions), (key.resource,), (via, *alias), name)


def trust_document(external_id: str) -> dict[str, Any]:
    """The trust policy of a role that Levee assumes; the external id keeps anyone apart whom the same identity acts
    for.
    """
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Principal": {"AWS": "LEVEE_IDENTITY_ARN"},
        "Action": "sts:AssumeRole",
    }
    if external_id:
        statement["Condition"] = {"StringEquals": {"sts:ExternalId": external_id}}
    return {"Version": VERSION, "Statement": [statement]}
