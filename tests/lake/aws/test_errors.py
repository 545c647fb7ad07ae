"""Sentences and kinds of errors."""

import pickle

from lake.aws.errors import AwsError, missing_permission


def test_an_error_is_one_sentence():
    error = AwsError("AccessDenied", "Access\n  Denied.", "R1", "s3:GetObject", "s3:GetObject", "s3://lake/k")
    assert str(error) == (
        "s3:GetObject on s3://lake/k failed: Access Denied (AccessDenied, request R1); "
        "the permission s3:GetObject is missing."
    )


def test_an_error_without_facts_is_still_a_sentence():
    assert str(AwsError("X", "")) == "The request failed: no reason was given (X)."


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(AwsError("X", "m", "r", "o", "p", "t")))  # noqa: S301
    assert (error.code, error.target, error.permission) == ("X", "t", "p")


def test_listing_needs_list_bucket():
    assert missing_permission("s3:ListObjectsV2", "Access Denied") == "s3:ListBucket"
