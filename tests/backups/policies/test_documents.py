"""The policies of a plan: who may what, and that nothing more is granted."""

import json

import pytest

from backups.policies.documents import (
    BACKING_UP,
    FROM_ARCHIVES,
    IN_PLACE,
    NEW_PATH,
    REMOVING,
    PolicyDocument,
    policy_documents,
)
from backups.policies.names import UNKNOWN_SOURCE, UNKNOWN_VAULT, account_of
from lake.aws.arns import literal, partition_of
from lake.backup.objects import BucketPrefix
from tests.backups.policies.plans import NAMES, names

KEY = "arn:aws:kms:eu-west-1:222222222222:key/1"


def by_code(found: tuple[PolicyDocument, ...]) -> dict[str, PolicyDocument]:
    return {one.code: one for one in found}


def granted(policy: PolicyDocument) -> set[tuple[str, str]]:
    return {
        (action, resource)
        for statement in policy.document["Statement"]
        if statement["Effect"] == "Allow"
        for action in statement["Action"]
        for resource in statement["Resource"]
    }


def test_a_plan_with_everything_has_a_policy_for_each_party():
    found = by_code(policy_documents(names(source_key=KEY, destination_key=KEY)))
    assert {code: one.account for code, one in found.items()} == {
        "batch-trust": "vault",
        "batch-role": "vault",
        "levee-vault": "vault",
        "destination-bucket": "vault",
        "inventory-bucket": "vault",
        "destination-key": "vault",
        "source-bucket": "source",
        "levee-source": "source",
        "source-key": "source",
        "levee-archives": "vault",
        "levee-restore": "vault",
        "restore-bucket": "source",
        "restore-key": "source",
        "levee-remove": "vault",
        "remove-bucket": "source",
        "levee-restore-in-place": "vault",
        "restore-in-place-bucket": "source",
        "restore-in-place-key": "source",
        "restore-spark": "source",
    }
    purposes = [BACKING_UP] * 9 + [FROM_ARCHIVES] + [NEW_PATH] * 3 + [REMOVING] * 2 + [IN_PLACE] * 4
    assert [one.purpose for one in found.values()] == purposes


def test_the_spark_engine_needs_no_batch_role():
    found = by_code(policy_documents(names(uses_batch=False)))
    assert not {"batch-trust", "batch-role"} & set(found)
    assert "CreateJob" not in json.dumps(found["levee-vault"].document)
    assert "levee-batch" not in json.dumps([one.document for one in found.values()])


def test_a_listed_source_needs_no_inventory():
    found = by_code(policy_documents(names(inventory=None)))
    assert "inventory-bucket" not in found
    assert "Inventory" not in json.dumps([one.document for one in found.values()])


def test_the_trust_is_for_jobs_of_the_backup_account():
    [statement] = by_code(policy_documents(NAMES))["batch-trust"].document["Statement"]
    assert statement["Principal"] == {"Service": "batchoperations.s3.amazonaws.com"}
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "222222222222"},
        "ArnLikeIfExists": {"aws:SourceArn": "arn:aws:s3:eu-west-1:222222222222:job/*"},
    }


def test_the_batch_role_reads_the_source_and_writes_the_vault_and_never_the_other_way():
    rights = granted(by_code(policy_documents(NAMES))["batch-role"])
    on_source = {action for action, resource in rights if "acme-lake" in resource}
    on_vault = {action for action, resource in rights if "acme-vault" in resource}
    assert {action for action in on_source if "Put" in action or "Delete" in action} == set()
    assert {action for action in on_vault if "Get" in action} == set()
    assert "s3:ListBucket" in on_source
    assert ("s3:PutObject", "arn:aws:s3:::acme-evidence/levee/runs/*") in rights


def test_to_back_up_no_policy_grants_a_deletion_or_a_write_to_the_source():
    for policy in policy_documents(names(source_key=KEY, destination_key=KEY)):
        grants = [one for one in policy.document["Statement"] if one["Effect"] == "Allow"]
        if policy.purpose != BACKING_UP:
            continue
        assert not [one for one in grants if "s3:PutObject" in one["Action"] and "acme-lake/" in str(one["Resource"])]
        assert "Delete" not in json.dumps([one["Action"] for one in grants])


def test_jobs_other_than_copies_cannot_be_ordered():
    statements = by_code(policy_documents(NAMES))["levee-vault"].document["Statement"]
    [create] = [one for one in statements if "s3:CreateJob" in one["Action"]]
    [passing] = [one for one in statements if "iam:PassRole" in one["Action"]]
    assert create["Condition"] == {"StringEquals": {"s3:RequestJobOperation": "S3PutObjectCopy"}}
    assert passing["Resource"] == ["arn:aws:iam::222222222222:role/levee-batch"]
    assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": "batchoperations.s3.amazonaws.com"}}


def test_inventories_are_delivered_by_s3_from_this_source_alone():
    [statement] = by_code(policy_documents(NAMES))["inventory-bucket"].document["Statement"]
    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Resource"] == "arn:aws:s3:::acme-manifests/*"
    assert statement["Condition"] == {
        "ArnLike": {"aws:SourceArn": "arn:aws:s3:::acme-lake"},
        "StringEquals": {"aws:SourceAccount": "111111111111", "s3:x-amz-acl": "bucket-owner-full-control"},
    }


def test_whoever_copies_cannot_delete_and_admins_still_can():
    [denial] = by_code(policy_documents(NAMES))["destination-bucket"].document["Statement"]
    assert denial["Effect"] == "Deny"
    assert denial["Principal"] == {"AWS": [NAMES.batch_role, NAMES.levee_vault]}
    # Who is not known by name is not denied with its whole account.
    assert "destination-bucket" not in by_code(policy_documents(names(uses_batch=False, levee_vault="")))


def test_in_one_bucket_with_its_source_the_backup_alone_is_kept_from_deletes():
    pool, evidence = (BucketPrefix("acme-lake", one) for one in ("pool/", "_levee/"))
    found = by_code(policy_documents(names(destination=pool, evidence=evidence)))
    [denial] = found["destination-bucket"].document["Statement"]
    assert denial["Resource"] == [f"arn:aws:s3:::acme-lake{rest}" for rest in ("", "/pool/*", "/_levee/*")]


def test_to_restore_the_backup_account_is_let_in_and_may_encrypt_as_the_source_does():
    found = by_code(policy_documents(names(source_key=KEY)))
    for code in ("restore-bucket", "restore-in-place-bucket", "restore-key", "restore-in-place-key"):
        assert {str(one["Principal"]) for one in found[code].document["Statement"]} == {
            "{'AWS': ['arn:aws:iam::222222222222:role/levee-vault']}"
        }
    encrypts = ("kms:GenerateDataKey", KEY)
    assert encrypts in granted(found["levee-restore"]) & granted(found["levee-restore-in-place"])
    assert {encrypts, ("kms:Decrypt", KEY)} <= granted(found["restore-spark"])
    for code in ("restore-key", "restore-in-place-key"):
        assert granted(found[code]) == {("kms:GenerateDataKey", "*")}
    assert "kms" not in json.dumps([one.document for one in policy_documents(NAMES)])


def test_statements_that_go_into_one_policy_have_names_of_their_own():
    found = policy_documents(names(source_key=KEY, destination_key=KEY, levee_source="", levee_vault=""))
    sids = [(one.account, one.kind, one.target, said.get("Sid")) for one in found for said in one.document["Statement"]]
    assert len(sids) == len({*sids})


@pytest.mark.parametrize(
    ("prefix", "writes", "deletes"),
    [
        ("", ["*"], ["_delta_log/*", "*/_delta_log/*"]),
        ("a*/", ["a${*}/*", "a${*}.before-restore-*"], ["a${*}/_delta_log/*", "a${*}/*/_delta_log/*"]),
    ],
)
def test_in_place_reaches_what_the_plan_does_and_what_is_set_aside_beside_it(prefix, writes, deletes):
    found = by_code(policy_documents(names(source=BucketPrefix("acme-lake", prefix))))
    rights = granted(found["levee-restore-in-place"])
    of = {action: {arn.partition("acme-lake/")[2] for one, arn in rights if one == action} for action, _ in rights}
    assert of["s3:PutObject"] == {*writes}
    assert of["s3:DeleteObject"] == {*deletes}


def test_a_bucket_for_each_date_is_a_pattern_for_roles_and_a_blank_in_its_own_policy():
    dated = names(destination=BucketPrefix("acme-{date}", "pool/"))
    found = by_code(policy_documents(dated))
    assert ("s3:PutObject", "arn:aws:s3:::acme-*/pool/*") in granted(found["batch-role"])
    assert ("s3:CreateBucket", "arn:aws:s3:::acme-*") in granted(found["levee-vault"])
    assert found["destination-bucket"].document["Statement"][0]["Resource"][0] == "arn:aws:s3:::acme-{date}"
    assert "{date}" in dated.unknown


def test_accounts_that_are_not_known_are_words_to_replace():
    unknown = names(source_account=UNKNOWN_SOURCE, vault_account=UNKNOWN_VAULT)
    assert unknown.unknown == (UNKNOWN_SOURCE, UNKNOWN_VAULT)
    assert UNKNOWN_VAULT in json.dumps(by_code(policy_documents(unknown))["batch-trust"].document)


@pytest.mark.parametrize("prefix", ["a*b/", "what?/", "${aws:username}/", "plain/"])
def test_letters_that_mean_something_to_iam_are_taken_as_they_are(prefix):
    arn = names(source=BucketPrefix("lake", prefix)).object_arn(BucketPrefix("lake", prefix))
    assert "*" not in arn.removesuffix("*").replace("${*}", "")
    assert literal(prefix) in arn


@pytest.mark.parametrize(
    ("arn", "account"),
    [
        ("arn:aws:iam::111111111111:role/levee", "111111111111"),
        ("arn:aws-cn:iam::111111111111:role/path/levee", "111111111111"),
        ("arn:aws:sts::111111111111:assumed-role/levee/s", ""),
        ("", ""),
    ],
)
def test_the_account_is_read_from_a_role(arn, account):
    assert account_of(arn) == account


def test_partitions_follow_the_region():
    regions = ("eu-west-1", "cn-north-1", "us-gov-west-1")
    assert [partition_of(one) for one in regions] == ["aws", "aws-cn", "aws-us-gov"]
