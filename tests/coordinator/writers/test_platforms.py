"""What is said of each platform and of each name, and how it is known."""

import ast
import json

import pytest

from coordinator.coordination.conf_documents import conf_document
from coordinator.coordination.releases import RELEASES, release_named
from coordinator.coordination.session_conf import MECHANISMS, WriterConfig
from coordinator.writers.names import PROVIDERS
from coordinator.writers.platforms import Platform
from lake.delta.facts import Mechanism

CONFIG = WriterConfig("eu-west-1", log_store="locks", coordinator="commits", bucket_region="eu-central-1")
MARKS = {"verified", "source", "documented", "inferred"}
EVERY = {"spark", "kubernetes", "emr", "glue", "databricks", "flink", "trino", "delta-rs"}


def platforms(mechanism: Mechanism) -> dict[str, Platform]:
    found = conf_document(mechanism, CONFIG, release_named("4.4.0"))["platforms"]
    return {one.name: one for one in found}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_platform_is_spoken_of_with_a_mark_for_each_claim(mechanism: Mechanism) -> None:
    found = platforms(mechanism)

    assert found.keys() == EVERY
    for one in found.values():
        assert one.claims
        assert {claim.mark for claim in one.claims} <= MARKS


@pytest.mark.parametrize("mechanism", [Mechanism.LOG_STORE, Mechanism.COORDINATED_COMMITS])
@pytest.mark.parametrize("name", ["databricks", "trino"])
def test_what_cannot_take_the_lock_gets_no_settings(mechanism: Mechanism, name: str) -> None:
    assert platforms(mechanism)[name].texts == ()


def test_delta_rs_is_given_the_locking_provider_of_the_log_store_alone() -> None:
    text = platforms(Mechanism.LOG_STORE)["delta-rs"].texts[0].text
    options = ast.literal_eval(text.partition(" = ")[2])

    assert options == {
        "AWS_REGION": "eu-central-1",
        "AWS_S3_LOCKING_PROVIDER": "dynamodb",
        "DELTA_DYNAMO_TABLE_NAME": "locks",
        "AWS_REGION_DYNAMODB": "eu-west-1",
    }
    assert platforms(Mechanism.COORDINATED_COMMITS)["delta-rs"].texts == ()


@pytest.mark.parametrize("name", ["emr", "glue"])
def test_where_both_schemes_are_served_both_take_the_lock(name: str) -> None:
    text = json.dumps(json.loads(platforms(Mechanism.LOG_STORE)[name].texts[0].text))

    assert "spark.delta.logStore.s3.impl" in text
    assert "spark.delta.logStore.s3a.impl" in text


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.delta)
def test_classes_of_credentials_are_of_the_sdk_that_reads_them(release) -> None:
    found = conf_document(Mechanism.LOG_STORE, CONFIG, release)["providers"]

    assert len(found) == len(PROVIDERS)
    assert all(one["dynamodb"].startswith("com.amazonaws.") for one in found)
    old = [one["s3a"] for one in found if one["s3a"].startswith("com.amazonaws.")]
    assert bool(old) is release.hadoop_aws.startswith("3.3.")
