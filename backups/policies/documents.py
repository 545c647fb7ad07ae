"""The policies that a plan needs in its two accounts, each as JSON and as commands for the AWS CLI. Pure.

Sources: the S3 User Guide on the permissions of S3 Batch Operations copies and on the bucket policy that S3 Inventory
needs at its destination. Reading and writing are kept apart, although AWS's own sample grants everything on everything.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from json import dumps
from shlex import quote
from typing import Any

from backups.policies.names import PlanNames
from lake.aws.arns import literal
from lake.backup.objects import CLAIM, RESTORED, SET_ASIDE, BucketPrefix
from lake.points.copies import LOG

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
WRITE_IN_PARTS = ("s3:PutObject", "s3:AbortMultipartUpload")
DELETING = ("s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutBucketVersioning", "s3:PutLifecycleConfiguration")
BACKING_UP, FROM_ARCHIVES = "to back up", "to restore what is archived"
NEW_PATH, IN_PLACE = "to restore to a new path", "to put tables back in place"
REMOVING = "to remove restored copies"
PURPOSES = (BACKING_UP, FROM_ARCHIVES, NEW_PATH, REMOVING, IN_PLACE)
"""What a policy is for; the later ones stand beside the first."""

Statement = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    """One policy. `account` is "source" or "vault"; `kind` says what it is attached to: "trust", "role", "identity",
    "bucket" or "key"; `target` is that role's, bucket's or key's name, "" where Levee cannot know it. `purpose`
    is one of PURPOSES.
    """

    code: str
    title: str
    why: str
    account: str
    kind: str
    target: str
    document: dict[str, Any]
    purpose: str = BACKING_UP

    @property
    def section(self) -> str:
        """Under which it stands on pages."""
        account = "Source account" if self.account == "source" else "Backup account"
        return account if self.purpose == BACKING_UP else f"{account}, {self.purpose}"

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
                return self._added("s3api", f"bucket-policy --bucket {target}")
            case "key":
                return self._added("kms", f"key-policy --key-id {target} --policy-name default")
            case _:
                return f"aws iam create-policy --policy-name {quote(self.code)} \\\n  --policy-document {document}"

    def _added(self, service: str, whose: str) -> str:
        """Commands that add to the one policy of a bucket or key, since to put one replaces it."""
        statements = ",\n".join(f"#   {dumps(one, ensure_ascii=False)}" for one in self.document["Statement"])
        return (
            f"aws {service} get-{whose} --query Policy --output text > policy.json\n"
            '# Where there is none, begin with {"Version": "2012-10-17", "Statement": []}\n'
            f"# Add to the list Statement of policy.json, with commas between:\n{statements}\n"
            f"aws {service} put-{whose} --policy file://policy.json"
        )


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
    return (*documents, *_to_restore(names))


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
        "Resource": _to_protect(names),
    }
    why = "No delete path into the backup: whoever copies can neither delete nor switch versioning or lifecycle."
    target = names.destination.bucket
    return _document("destination-bucket", "Policy of the destination", why, "vault", "bucket", target, statement)


def _to_protect(names: PlanNames) -> list[str]:
    bucket, everything = names.own_arns(names.destination)
    if names.destination.bucket != names.source.bucket:
        return [bucket, everything]
    kept = (names.destination, names.evidence, names.inventory)  # tables beside them may be put back
    arns = (names.object_arn(place) for place in kept if place and place.bucket == names.source.bucket)
    return [bucket, *dict.fromkeys(arns)]


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


def _to_restore(names: PlanNames) -> Iterator[PolicyDocument]:
    """What restoring needs in addition. Levee in the backup account writes to the source's bucket; the permissions of
    the source's connection, which knows its commit stores, have what those need."""
    ask = _allow("AskArchives", ("s3:RestoreObject",), names.object_arn(names.destination))
    why = "In addition to backing up: ask S3 for copies of what is archived in the backup, for some days."
    archives = _document("levee-archives", "Levee asks for archived objects", why, "vault", "identity", "", ask)
    yield replace(archives, purpose=FROM_ARCHIVES)
    why = f"In addition to backing up: write below {RESTORED} of the source's bucket, where restores go by default."
    yield from _ways_to_write(names, NEW_PATH, "restore", why, _new_path(names))
    yield from _to_remove(names)
    why = "In addition to backing up: overwrite objects where tables are. Attach it only while one is put back."
    yield from _ways_to_write(names, IN_PLACE, "restore-in-place", why, _in_place(names))
    spark = [_allow("SparkWritesLogs", (*WRITE_IN_PARTS, "s3:DeleteObject"), *_logs(names))]
    if names.source_key:
        spark.append(_allow("SparkEncrypts", ("kms:Decrypt", "kms:GenerateDataKey"), names.source_key))
    why = "Spark writes a commit as the source's connection. Its own permissions have what commit stores need for that."
    title = "Spark writes to a table put back"
    yield replace(_document("restore-spark", title, why, "source", "identity", "", *spark), purpose=IN_PLACE)


def _to_remove(names: PlanNames) -> Iterator[PolicyDocument]:
    place = names.object_arn(BucketPrefix(names.source.bucket, RESTORED))
    delete = _allow("RemoveRestored", ("s3:DeleteObject",), place)
    why = f"In addition to restoring to a new path: delete what lies below {RESTORED}. Attach it only for that time."
    own = _document("levee-remove", "Levee removes restored copies", why, "vault", "identity", "", delete)
    yield replace(own, purpose=REMOVING)
    title, why = "Policy of the source, to remove copies", f"Lets the backup account delete what lies below {RESTORED}."
    let_in = delete | {"Principal": {"AWS": [names.vault_principal]}}
    of_bucket = _document("remove-bucket", title, why, "source", "bucket", names.source.bucket, let_in)
    yield replace(of_bucket, purpose=REMOVING)


def _ways_to_write(
    names: PlanNames, purpose: str, code: str, why: str, statements: list[Statement]
) -> Iterator[PolicyDocument]:
    where = f"below {RESTORED}" if purpose == NEW_PATH else "where tables are"
    encrypt = "EncryptRestored" if purpose == NEW_PATH else "EncryptInPlace"
    principal, use = {"Principal": {"AWS": [names.vault_principal]}}, ("kms:GenerateDataKey",)
    own = [*statements, *([_allow(encrypt, use, names.source_key)] if names.source_key else [])]
    levee = _document(f"levee-{code}", f"Levee writes {where}", why, "vault", "identity", "", *own)
    yield replace(levee, purpose=purpose)
    why = f"Lets the backup account write {where}; with ACLs on it would own that, so set BucketOwnerEnforced first."
    title, let_in = f"Policy of the source, {where}", [one | principal for one in statements]
    of_bucket = _document(f"{code}-bucket", title, why, "source", "bucket", names.source.bucket, *let_in)
    yield replace(of_bucket, purpose=purpose)
    if key := names.source_key:
        title, why = f"Policy of the source's key, {where}", f"Lets Levee encrypt what it writes {where}."
        let_use = _allow(encrypt, use, "*") | principal
        yield replace(_document(f"{code}-key", title, why, "source", "key", key, let_use), purpose=purpose)


def _new_path(names: PlanNames) -> list[Statement]:
    place = BucketPrefix(names.source.bucket, RESTORED)
    return [
        _allow("WriteRestored", ("s3:GetObject", *WRITE_IN_PARTS), names.object_arn(place)),
        # S3A renames a file that Spark writes beside a commit, by a copy and a delete.
        _allow("ReplaceRestoredLogs", ("s3:DeleteObject",), _logs_below(names, place)),
        _allow("SeeClaims", ("s3:GetObject",), _claims(names)),
    ]


def _in_place(names: PlanNames) -> list[Statement]:
    prefix = literal(names.source.prefix.rstrip("/"))
    # What a plan of one table sets aside lies beside all that the plan reaches.
    aside = [f"{_source_arn(names)}/{prefix}.{SET_ASIDE}*"] if prefix else []
    return [
        _allow("WriteInPlace", WRITE_IN_PARTS, names.object_arn(names.source), *aside),
        _allow("RemoveLogs", ("s3:DeleteObject",), *_logs(names)),
        _allow("SeeClaimsInPlace", ("s3:GetObject",), _claims(names)),
    ]


def _logs(names: PlanNames) -> tuple[str, str]:
    """The log of the table that is all of the source, and those of tables below it."""
    return names.object_arn(names.source, LOG), _logs_below(names, names.source)


def _logs_below(names: PlanNames, place: BucketPrefix) -> str:
    return f"{names.bucket_arn(place)}/{literal(place.prefix)}*/{LOG}*"


def _claims(names: PlanNames) -> str:
    """Of other restores, above a path or at it."""
    return f"{_source_arn(names)}/*{CLAIM}"


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
