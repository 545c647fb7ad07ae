"""Hosts and addressing styles."""

import pytest

from lake.aws.endpoints import Endpoints
from lake.aws.errors import AwsError


def endpoints(own="", dynamodb=""):
    return Endpoints(own, dynamodb)


@pytest.mark.parametrize(
    ("service", "region", "origin"),
    [
        ("s3", "us-east-1", "https://s3.us-east-1.amazonaws.com"),
        ("dynamodb", "eu-west-1", "https://dynamodb.eu-west-1.amazonaws.com"),
        ("s3", "cn-north-1", "https://s3.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_every_partition_has_its_hosts(service, region, origin):
    assert endpoints().origin(service, region) == origin


def test_an_unknown_region_is_named():
    with pytest.raises(AwsError, match="'moon' is not the name of an AWS region"):
        endpoints().origin("s3", "moon")


def test_amazon_is_addressed_by_virtual_host():
    place = endpoints().bucket("lake", "a b", "us-west-2")
    assert (place.origin, place.path) == ("https://lake.s3.us-west-2.amazonaws.com", "/a%20b")


@pytest.mark.parametrize("bucket", ["acme.lake", "Legacy_Bucket"])
def test_a_name_that_is_no_host_label_is_addressed_by_path(bucket):
    place = endpoints().bucket(bucket, "k", "us-west-2")
    assert (place.origin, place.path) == ("https://s3.us-west-2.amazonaws.com", f"/{bucket}/k")


def test_an_endpoint_of_ones_own_is_addressed_by_path():
    place = endpoints("http://127.0.0.1:9000/").bucket("lake", "", "us-west-2")
    assert (place.origin, place.path) == ("http://127.0.0.1:9000", "/lake")


def test_dynamodb_may_have_an_endpoint_of_its_own():
    both = endpoints("http://127.0.0.1:1", "http://127.0.0.1:2")
    assert both.origin("dynamodb", "us-east-1") == "http://127.0.0.1:2"
    assert endpoints("http://127.0.0.1:1").origin("dynamodb", "us-east-1") == "http://127.0.0.1:1"
