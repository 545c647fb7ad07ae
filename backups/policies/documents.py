"""The policies that a plan needs in its two accounts, each as JSON and as commands for the AWS CLI. Pure.

Sources: the S3 User Guide on the permissions of S3 Batch Operations copies and on the bucket policy that S3 Inventory
needs at its destination. Reading and writing are kept apart, although AWS's own sample grants everything on everything.
"""

from dataclasses import dataclass
from json import dumps
from shlex import quote
from typing import Any

from backups.policies.names import PlanNames

BATCH_SERVICE = "batchoperations.s3.amazonaws.com"
# With version actions, since a manifest of a versioned source names its versions.
READ_OBJECTS = (
    "s3:GetObject",
    "s3:GetObjectAcl",
    "s3:GetObjectTagging",
    "s3:GetObjectVersion",
    "s3:GetObjectVersionAcl",
    "s3:GetObjectVersionTagging",
)
WRITE_OBJECTS = (
    "s3:PutObject",
    "s3:PutObjectAcl",
    "s3:PutObjectTagging",
    "s3:PutObjectVersionAcl",
    "s3:PutObjectVersionTagging",
)
WATCH_JOBS = (
    "s3:DescribeJob",
    "s3:GetJobTagging",
    "s3:PutJobTagging",
    "s3:UpdateJobPriority",
    "s3:UpdateJobStatus",
)
DELETING = ("s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutBucketVersioning", "s3:PutLifecycleConfiguration")

Statement = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    """One policy. `account` is "source" or "vault"; `kind` says what it is attached to: "trust", "role", "identity",
    "bucket" or "key"; `target` is that role's, bucket's or key's name, "" where Levee cannot know it.
    """

    code: str
    title: str
    why: str
    account: str
    kind: str
    target: str
    document: dict[str, Any]

    @property
    def json(self) -> str:
        return dumps(self.document, indent=2, ensure_ascii=False)

    @property
    def cli(self) -> str:
        """Commands for a POSIX shell, with the credentials of the account that the policy belongs to."""
        document, target = quote(dumps(self.document, ensure_ascii=False)), quote(self.target)
        match self.kind:
            case "trust":
                return f"aws iam create-role --role-name {target} \\\n  --assume-role-policy-document {document}"
            case "role":
                name = quote(f"levee-{self.code}")
                call = f"aws iam put-role-policy --role-name {target} --policy-name {name}"
                return f"{call} \\\n  --policy-document {document}"
            case "bucket":
                return (
                    f"aws s3api get-bucket-policy --bucket {target}\n"
                    f"aws s3api put-bucket-policy --bucket {target} \\\n  --policy {document}"
                )
            case "key":
                return (
                    f"aws kms get-key-policy --key-id {target} --policy-name default\n"
                    f"aws kms put-key-policy --key-id {target} --policy-name default \\\n  --policy {document}"
                )
            case _:
                return f"aws iam create-policy --policy-name {quote(self.code)} \\\n  --policy-document {document}"


def policy_documents(names: PlanNames) -> tuple[PolicyDocument, ...]:
    """Every policy of the plan, those of the backup account first, because the others name its role."""
    documents = [_trust(names), _batch_role(names)] if names.uses_batch else []
    documents.append(_levee_vault(names))
    if copiers := _copiers(names):
        documents.append(_destination(names, copiers))
    if names.inventory is not None:
        documents.append(_inventory_bucket(names))
    if names.destination_key:
        documents.append(_destination_key(names))
    documents += [_source_bucket(names), _levee_source(names)]
    if names.source_key:
        documents.append(_source_key(names))
    return tuple(documents)


def _trust(names: PlanNames) -> PolicyDocument:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": BATCH_SERVICE},
        "Action": "sts:AssumeRole",
        # IfExists: AWS documents the account for this service, and does not say whether every assumption names its job.
        "Condition": {
            "StringEquals": {"aws:SourceAccount": names.vault_account},
            "ArnLikeIfExists": {"aws:SourceArn": _jobs(names)},
        },
    }
    why = "Lets S3 Batch Operations act as the role, for jobs of the backup account alone."
    return _document("batch-trust", "Trust of the batch role", why, "vault", "trust", names.role_name, statement)


def _batch_role(names: PlanNames) -> PolicyDocument:
    sources = [_allow("ReadSource", READ_OBJECTS, names.object_arn(names.source)), _list_source(names)]
    writes = [
        _allow("WriteCopies", WRITE_OBJECTS, names.object_arn(names.destination)),
        _allow("ReadManifest", ("s3:GetObject", "s3:GetObjectVersion"), names.object_arn(names.evidence, "runs/")),
        _allow("WriteReport", ("s3:PutObject",), names.object_arn(names.evidence, "runs/")),
        _allow("FindReportBucket", ("s3:GetBucketLocation",), names.bucket_arn(names.evidence)),
    ]
    why = "What S3 Batch Operations may do: read the source, write copies and its report. It cannot delete."
    statements = [*sources, *writes, *_key_use(names)]
    return _document("batch-role", "Policy of the batch role", why, "vault", "role", names.role_name, *statements)


def _levee_vault(names: PlanNames) -> PolicyDocument:
    places = sorted({names.bucket_arn(one) for one in (names.destination, names.evidence, names.inventory) if one})
    uploads = ("s3:PutObject", "s3:PutObjectTagging", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")
    statements = [
        _allow("ListVault", ("s3:ListBucket",), *places),
        _allow("ReadCopies", ("s3:GetObject",), names.object_arn(names.destination)),
        _allow("WriteCopies", uploads, names.object_arn(names.destination)),
        _allow("KeepEvidence", ("s3:GetObject", "s3:PutObject"), names.object_arn(names.evidence)),
        _allow(
            "ReadSource",
            ("s3:GetObject", "s3:GetObjectTagging", "s3:GetObjectVersion", "s3:GetObjectVersionTagging"),
            names.object_arn(names.source),
        ),
        _list_source(names),
    ]
    if names.inventory is not None:
        statements.append(_allow("ReadInventories", ("s3:GetObject",), names.object_arn(names.inventory)))
        statements.append(_allow("SeePolicy", ("s3:GetBucketPolicy",), names.bucket_arn(names.inventory)))
    if "{date}" in names.destination.bucket:
        statements.append(_allow("CreateBucketOfEachDate", ("s3:CreateBucket",), names.bucket_arn(names.destination)))
    statements += [*_batch_use(names), *_key_use(names)]
    why = "What Levee may do in the backup account: order and watch copies, list and read what arrived."
    return _document("levee-vault", "Levee in the backup account", why, "vault", "identity", "", *statements)


def _batch_use(names: PlanNames) -> list[Statement]:
    if not names.uses_batch:
        return []
    create = _allow("OrderCopiesOnly", ("s3:CreateJob",), "*")
    create["Condition"] = {"StringEquals": {"s3:RequestJobOperation": "S3PutObjectCopy"}}
    passing = _allow("HandOverTheRole", ("iam:PassRole",), names.batch_role)
    passing["Condition"] = {"StringEquals": {"iam:PassedToService": BATCH_SERVICE}}
    return [create, passing, _allow("ListJobs", ("s3:ListJobs",), "*"), _allow("WatchJobs", WATCH_JOBS, _jobs(names))]


def _jobs(names: PlanNames) -> str:
    return f"arn:{names.partition}:s3:{names.region}:{names.vault_account}:job/*"


def _copiers(names: PlanNames) -> list[str]:
    """Those known by name. A denial of the account as a whole would bind its admins as well."""
    return [one for one in (names.batch_role if names.uses_batch else "", names.levee_vault) if one]


def _destination(names: PlanNames, copiers: list[str]) -> PolicyDocument:
    statement = {
        "Sid": "CopiersCannotDelete",
        "Effect": "Deny",
        "Principal": {"AWS": copiers},
        "Action": list(DELETING),
        "Resource": list(names.own_arns(names.destination)),
    }
    why = "No delete path into the backup: whoever copies can neither delete nor switch versioning or lifecycle."
    target = names.destination.bucket
    return _document("destination-bucket", "Policy of the destination", why, "vault", "bucket", target, statement)


def _inventory_bucket(names: PlanNames) -> PolicyDocument:
    if names.inventory is None:
        raise ValueError("the plan has no inventory")
    statement = {
        "Sid": "DeliverInventories",
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Action": "s3:PutObject",
        "Resource": names.own_arns(names.inventory)[1],
        "Condition": {
            "ArnLike": {"aws:SourceArn": names.bucket_arn(names.source)},
            "StringEquals": {
                "aws:SourceAccount": names.source_account,
                "s3:x-amz-acl": "bucket-owner-full-control",
            },
        },
    }
    why = "Lets S3 deliver the inventories of this one source, and of nobody else."
    target = names.inventory.bucket
    return _document("inventory-bucket", "Policy of the inventory bucket", why, "vault", "bucket", target, statement)


def _source_bucket(names: PlanNames) -> PolicyDocument:
    readers = {"AWS": list(names.readers)}
    statements = [
        {**_allow("BackupReads", READ_OBJECTS, names.object_arn(names.source)), "Principal": readers},
        {**_allow("BackupTellsAbsentFromDenied", ("s3:ListBucket",), _source_arn(names)), "Principal": readers},
    ]
    why = "Lets the backup account read. Without s3:ListBucket a file that VACUUM removed looks like a denied one."
    target = names.source.bucket
    return _document("source-bucket", "Policy of the source", why, "source", "bucket", target, *statements)


def _levee_source(names: PlanNames) -> PolicyDocument:
    inventories = ("s3:GetInventoryConfiguration", "s3:PutInventoryConfiguration")
    statements = [
        _allow("ListSource", ("s3:ListBucket",), _source_arn(names)),
        _allow("ReadLogs", ("s3:GetObject",), names.object_arn(names.source)),
        _allow("SeePolicy", ("s3:GetBucketPolicy",), _source_arn(names)),
    ]
    if names.inventory is not None:
        statements.append(_allow("SetUpInventories", inventories, _source_arn(names)))
    why = "What Levee may do in the source account: read, and set up the inventory. It writes no object there."
    return _document("levee-source", "Levee in the source account", why, "source", "identity", "", *statements)


def _source_key(names: PlanNames) -> PolicyDocument:
    statement = {
        **_allow("BackupDecrypts", ("kms:Decrypt", "kms:DescribeKey"), "*"),
        "Principal": {"AWS": list(names.readers)},
    }
    why = "The key that the source's objects are encrypted with lets the copiers decrypt."
    return _document("source-key", "Policy of the source's key", why, "source", "key", names.source_key, statement)


def _destination_key(names: PlanNames) -> PolicyDocument:
    actions = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey")
    statement = {**_allow("CopiersEncrypt", actions, "*"), "Principal": {"AWS": list(names.readers)}}
    why = "The key that the copies are encrypted with lets the copiers use it."
    target = names.destination_key
    return _document("destination-key", "Policy of the copies' key", why, "vault", "key", target, statement)


def _key_use(names: PlanNames) -> list[Statement]:
    statements = []
    if names.source_key:
        statements.append(_allow("DecryptSource", ("kms:Decrypt",), names.source_key))
    if names.destination_key:
        actions = ("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey")
        statements.append(_allow("EncryptCopies", actions, names.destination_key))
    return statements


def _list_source(names: PlanNames) -> Statement:
    return _allow("TellAbsentFromDenied", ("s3:ListBucket",), _source_arn(names))


def _source_arn(names: PlanNames) -> str:
    return names.bucket_arn(names.source)


def _allow(sid: str, actions: tuple[str, ...], *resources: str) -> Statement:
    return {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": list(resources)}


def _document(
    code: str, title: str, why: str, account: str, kind: str, target: str, *statements: Statement
) -> PolicyDocument:
    return PolicyDocument(
        code, title, why, account, kind, target, {"Version": "2012-10-17", "Statement": list(statements)}
    )
