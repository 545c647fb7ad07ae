"""Where credentials come from, and roles."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest

from lake.aws.access import Access
from lake.aws.errors import AwsError
from tests.lake.aws.stub import Reply, quick

ROLE = "arn:aws:iam::123456789012:role/levee"
OBJECT = Reply(body=b"1", headers={"Last-Modified": "Fri, 20 Nov 2026 10:00:00 GMT"})


def assumed(minutes, key_id="ASIAROLE"):
    until = (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Reply(
        body=f"<AssumeRoleResponse xmlns='https://sts.amazonaws.com/doc/2011-06-15/'><AssumeRoleResult><Credentials>"
        f"<AccessKeyId>{key_id}</AccessKeyId><SecretAccessKey>s+/=</SecretAccessKey><SessionToken>tok&amp;en</SessionToken>"
        f"<Expiration>{until}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>".encode()
    )


def signer(heard):
    return heard.headers["authorization"].partition("Credential=")[2].partition("/")[0]


def test_keys_of_a_profile_sign(stub, monkeypatch, tmp_path):
    (tmp_path / "credentials").write_text("[team]\naws_access_key_id=of-team\naws_secret_access_key=secret\n")
    monkeypatch.setenv("AWS_PROFILE", "team")
    stub.play(OBJECT)
    with quick(stub.url, static_credentials=None) as lake:
        lake.s3.get("lake", "k")
    assert signer(stub.heard[0]) == "of-team"


def test_without_credentials_one_sentence_says_so(stub):
    with (
        quick(stub.url, static_credentials=None) as lake,
        pytest.raises(AwsError, match="no AWS credentials were found") as raised,
    ):
        lake.s3.get("lake", "k")
    assert raised.value.code == "NoCredentials"
    assert stub.heard == []


def test_an_unknown_profile_is_one_error(stub, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(AwsError, match="nobody"):
        quick(stub.url, static_credentials=None).s3.get("lake", "k")


def test_keys_given_outright_need_no_profile(stub, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    stub.play(OBJECT)
    assert quick(stub.url).s3.get("lake", "k").data == b"1"


def test_a_role_is_taken_with_its_external_id(stub):
    stub.play(assumed(60), OBJECT)
    with quick(stub.url, role_arn=ROLE, external_id="e x") as lake:
        lake.s3.get("lake", "k")
        lake.s3.get("lake", "k")
    form = parse_qs(stub.heard[0].body.decode())
    assert (form["RoleArn"], form["ExternalId"]) == ([ROLE], ["e x"])
    assert [signer(heard) for heard in stub.heard] == ["key", "ASIAROLE", "ASIAROLE"]
    assert stub.heard[1].headers["x-amz-security-token"] == "tok&en"


def test_many_threads_take_a_role_once(stub):
    stub.answer(lambda heard, number: assumed(60) if b"AssumeRole" in heard.body else OBJECT)
    with quick(stub.url, role_arn=ROLE) as lake, ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: lake.s3.get("lake", "k"), range(32)))
        assert lake.requests.by_operation == {"sts:AssumeRole": 1, "s3:GetObject": 32}


def test_a_role_is_taken_anew_before_it_ends(stub):
    stub.play(assumed(5, "ASIAFIRST"), OBJECT, assumed(60, "ASIASECOND"), OBJECT)
    with quick(stub.url, role_arn=ROLE) as lake:
        lake.s3.get("lake", "k")
        lake.s3.get("lake", "k")
    assert [signer(heard) for heard in stub.heard] == ["key", "ASIAFIRST", "key", "ASIASECOND"]


def test_another_program_gets_keys_of_a_role_that_were_taken_for_it(stub):
    stub.play(assumed(60, "ASIAFIRST"), OBJECT, assumed(60, "ASIASECOND"))
    with quick(stub.url, role_arn=ROLE) as lake:
        lake.s3.get("lake", "k")
        assert lake.keys() == ("ASIASECOND", "s+/=", "tok&en")


def test_a_refused_role_names_the_missing_permission_and_is_asked_for_once(stub):
    said = "User: arn:aws:iam::1:user/u is not authorized to perform: sts:AssumeRole on resource: " + ROLE
    stub.play(
        Reply(
            403,
            f"<ErrorResponse><Error><Code>AccessDenied</Code><Message>{said}</Message></Error></ErrorResponse>".encode(),
        )
    )
    with quick(stub.url, role_arn=ROLE) as lake:
        for _ in range(3):
            with pytest.raises(AwsError) as raised:
                lake.s3.get("lake", "k")
    assert len(stub.heard) == 1
    assert (raised.value.permission, raised.value.operation) == ("sts:AssumeRole", "sts:AssumeRole")


def test_secrets_are_not_in_an_access_repr():
    assert "hush" not in repr(Access("us-east-1", static_credentials=("id", "hush")))
