"""The IAM actions that the calls of a repair need, for the page that asks for its confirmation."""

from collections.abc import Iterable

from coordinator.repairs.calls import (
    Call,
    ClearCommits,
    CompleteEntry,
    DeleteEntry,
    DeleteLitter,
    DeleteRegistration,
    Publish,
    RaiseVersion,
    Register,
    RequireAbsent,
    RequireEmpty,
    RequireEqual,
    RequireNoEntry,
    SaveAside,
)


def iam_actions(calls: Iterable[Call]) -> tuple[str, ...]:
    """Return each action with its resource once, sorted: `s3:PutObject on arn:aws:s3:::lake/sales/orders/*`."""
    return tuple(sorted({f"{action} on {resource}" for call in calls for action, resource in _of(call)}))


def _of(call: Call) -> tuple[tuple[str, str], ...]:
    match call:
        case SaveAside(bucket=bucket, source=source):
            read = (("s3:GetObject", _objects(bucket)),) if source else ()
            return (*read, ("s3:PutObject", _objects(bucket)))
        case Publish(bucket=bucket):
            return ("s3:GetObject", _objects(bucket)), ("s3:PutObject", _objects(bucket))
        case RequireEqual(bucket=bucket) | RequireAbsent(bucket=bucket):
            # Without s3:ListBucket S3 answers 403 instead of 404 for an object that is absent.
            return ("s3:GetObject", _objects(bucket)), ("s3:ListBucket", _bucket(bucket))
        case RequireEmpty(bucket=bucket):
            return (("s3:ListBucket", _bucket(bucket)),)
        case RequireNoEntry(table=table):
            return (("dynamodb:GetItem", _table(table)),)
        case CompleteEntry(table=table) | ClearCommits(table=table) | RaiseVersion(table=table):
            return ("dynamodb:UpdateItem", _table(table)), ("dynamodb:GetItem", _table(table))
        case Register(table=table):
            return ("dynamodb:PutItem", _table(table)), ("dynamodb:GetItem", _table(table))
        case DeleteEntry(table=table) | DeleteRegistration(table=table):
            return ("dynamodb:DeleteItem", _table(table)), ("dynamodb:GetItem", _table(table))
        case DeleteLitter(bucket=bucket, table=table):
            return (
                ("s3:GetObject", _objects(bucket)),
                ("s3:DeleteObject", _objects(bucket)),
                ("dynamodb:GetItem", _table(table)),
            )


def _bucket(name: str) -> str:
    return f"arn:aws:s3:::{name}"


def _objects(bucket: str) -> str:
    return f"{_bucket(bucket)}/*"


def _table(name: str) -> str:
    return f"arn:aws:dynamodb:*:*:table/{name}"
