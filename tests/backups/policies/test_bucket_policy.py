"""What the stored policy of a bucket says of one right."""

import json

import pytest

from backups.policies.bucket_policy import verdict

ROLE = "arn:aws:iam::222222222222:role/levee-batch"
OBJECT = "arn:aws:s3:::lake/warehouse/*"


def said(*statements: dict[str, object], who: str = ROLE, action: str = "s3:GetObject") -> str:
    return verdict(json.dumps({"Statement": list(statements)}), who, action, OBJECT)[0]


def allow(**changes: object) -> dict[str, object]:
    grant = {"Effect": "Allow", "Principal": {"AWS": ROLE}, "Action": "s3:GetObject", "Resource": "arn:aws:s3:::lake/*"}
    return {**grant, **changes}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"Principal": "*"},
        {"Principal": {"AWS": ["arn:aws:iam::222222222222:root"]}},
        {"Principal": {"AWS": "222222222222"}},
        {"Action": ["s3:PutObject", "s3:get*"]},
        {"Action": "*"},
        {"Resource": OBJECT},
        {"Resource": ["arn:aws:s3:::lake/wareho?se/*"]},
    ],
)
def test_a_grant_that_reaches_is_seen(change):
    assert said(allow(**change)) == "yes"


@pytest.mark.parametrize(
    "change",
    [
        {"Principal": {"AWS": f"{ROLE}-other"}},
        {"Principal": {"AWS": "arn:aws:iam::333333333333:root"}},
        {"Action": "s3:PutObject"},
        {"Resource": "arn:aws:s3:::lake"},
        {"Resource": "arn:aws:s3:::lake/other/*"},
        {"Principal": None},
        {"Action": None, "NotAction": "s3:PutObject"},
    ],
)
def test_a_grant_that_does_not_reach_is_none(change):
    assert said(allow(**change)) == "no"


def test_a_denial_is_stronger():
    assert said(allow(), allow(Effect="Deny")) == "no"


def test_a_denial_of_something_else_does_not_matter():
    assert said(allow(), allow(Effect="Deny", Action="s3:DeleteObject")) == "yes"


@pytest.mark.parametrize("effect", ["Allow", "Deny"])
def test_conditions_leave_it_unknown(effect):
    conditional = allow(Effect=effect, Condition={"Bool": {"aws:SecureTransport": "false"}})
    assert said(*([allow()] if effect == "Deny" else []), conditional) == "unknown"


def test_the_conditions_that_aws_asks_of_a_service_do_not_count():
    grant = allow(Principal={"Service": "s3.amazonaws.com"}, Condition={"ArnLike": {"aws:SourceArn": "arn:aws:s3:::x"}})
    assert said(grant, who="s3.amazonaws.com") == "yes"


@pytest.mark.parametrize("text", ["", "[]", "nonsense", '"text"', "7"])
def test_what_is_no_policy_is_unknown(text):
    assert verdict(text, ROLE, "s3:GetObject", OBJECT)[0] == "unknown"


@pytest.mark.parametrize("statements", ["none", [7, "x"], None, {"Effect": "Allow"}])
def test_statements_of_any_shape_are_survived(statements):
    assert verdict(json.dumps({"Statement": statements}), ROLE, "s3:GetObject", OBJECT)[0] == "no"
