"""KMS keys as policies can name them."""

import pytest

from lake.aws.arns import KmsKey, kms_key, service_host

ARN = "arn:aws:kms:eu-central-1:222222222222:key/1234"
ANY = "arn:aws:kms:eu-west-1:111122223333:key/*"


@pytest.mark.parametrize(
    ("named", "key"),
    [
        (ARN, KmsKey(ARN, "eu-central-1")),
        ("1234", KmsKey("arn:aws:kms:eu-west-1:111122223333:key/1234", "eu-west-1")),
        ("alias/lake", KmsKey(ANY, "eu-west-1", "alias/lake")),
        ("arn:aws:kms:eu-west-1:111122223333:alias/lake", KmsKey(ANY, "eu-west-1", "alias/lake")),
        ("alias/aws/s3", None),
        ("arn:aws:kms:eu-west-1:111122223333:alias/aws/s3", None),
        ("", None),
    ],
)
def test_a_key_is_named_by_its_arn_and_an_alias_by_a_condition(named, key):
    assert kms_key(named, "eu-west-1", "111122223333") == key


def test_services_of_china_have_hosts_of_their_own():
    assert service_host("s3", "eu-west-1") == "s3.eu-west-1.amazonaws.com"
    assert service_host("dynamodb", "cn-north-1") == "dynamodb.cn-north-1.amazonaws.com.cn"
