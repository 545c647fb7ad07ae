"""Inventory configurations through Levee's own functions, against the sandbox, which answers as S3 does."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lake.aws.access import Lake, open_lake
from lake.aws.errors import AwsError
from lake.aws.inventory_configurations import NEEDED_FIELDS, InventoryConfiguration, InventoryConfigurations
from tests.sandbox.control.ground import Ground
from tests.sandbox.control.inventorying import delivered, manifest_of


@pytest.fixture
def ground() -> Ground:
    return Ground()


@pytest.fixture
def lake(ground: Ground) -> Iterator[Lake]:
    with open_lake(ground.access) as opened:
        yield opened


@pytest.fixture
def configurations(ground: Ground, lake: Lake) -> InventoryConfigurations:
    return InventoryConfigurations(lake, ground.access)


def wanted(ground: Ground) -> InventoryConfiguration:
    return InventoryConfiguration("nightly", ground.evidence, destination_prefix="inventory", enabled=False)


def test_a_configuration_comes_back_as_it_was_put(ground: Ground, configurations: InventoryConfigurations) -> None:
    full = replace(
        wanted(ground),
        destination_account="210987654321",
        format="ORC",
        frequency="Weekly",
        prefix="ä+b /",
        all_versions=True,
        fields=("Size", "ETag"),
        encryption="SSE-S3",
    )
    assert configurations.put(ground.source, full)
    assert configurations.get(ground.source, "nightly") == full


@pytest.mark.parametrize("encryption", ["", "SSE-S3", "arn:aws:kms:us-west-2:123456789012:key/1"])
def test_the_encryption_of_deliveries_is_kept(
    ground: Ground, configurations: InventoryConfigurations, encryption: str
) -> None:
    configurations.put(ground.source, replace(wanted(ground), encryption=encryption))
    found = configurations.get(ground.source, "nightly")
    assert found is not None
    assert found.encryption == encryption


def test_a_configuration_is_replaced_by_one_of_the_same_id(
    ground: Ground, configurations: InventoryConfigurations
) -> None:
    configurations.put(ground.source, wanted(ground))
    configurations.put(ground.source, replace(wanted(ground), frequency="Weekly"))
    assert [one.frequency for one in configurations.list(ground.source)] == ["Weekly"]


def test_a_configuration_that_is_not_there_is_none(ground: Ground, configurations: InventoryConfigurations) -> None:
    assert configurations.get(ground.source, "nightly") is None
    assert list(configurations.list(ground.source)) == []


def test_more_than_a_page_of_configurations_is_read_whole_and_lazily(
    ground: Ground, lake: Lake, configurations: InventoryConfigurations
) -> None:
    names = [f"i{number:03}" for number in range(101)]
    for name in names:
        configurations.put(ground.source, replace(wanted(ground), id=name))
    assert next(iter(configurations.list(ground.source))).id == "i000"
    assert [one.id for one in configurations.list(ground.source)] == names


def test_deleting_twice_is_deleting(ground: Ground, configurations: InventoryConfigurations) -> None:
    configurations.put(ground.source, wanted(ground))
    configurations.delete(ground.source, "nightly")
    configurations.delete(ground.source, "nightly")
    assert configurations.get(ground.source, "nightly") is None


def test_its_needed_columns_are_delivered(ground: Ground, configurations: InventoryConfigurations) -> None:
    ground.fill("a")
    configurations.put(ground.source, wanted(ground))
    found = manifest_of(ground, delivered(ground))
    assert (found.format, len(found.columns)) == ("Parquet", 2 + len(NEEDED_FIELDS))
    assert {"size", "last_modified_date", "e_tag", "storage_class"} < set(found.columns)


def test_a_refusal_names_what_was_asked_of_which_bucket(configurations: InventoryConfigurations) -> None:
    with pytest.raises(AwsError) as refusal:
        list(configurations.list("no-such-bucket-here"))
    assert (refusal.value.code, refusal.value.is_missing) == ("NoSuchBucket", True)
    assert "s3://no-such-bucket-here" in str(refusal.value)
    assert refusal.value.operation == "s3:GetInventoryConfiguration"


def test_a_format_that_s3_does_not_know_is_refused_and_nothing_is_kept(
    ground: Ground, configurations: InventoryConfigurations
) -> None:
    with pytest.raises(AwsError, match="Format"):
        configurations.put(ground.source, replace(wanted(ground), format="JSON"))
    assert configurations.get(ground.source, "nightly") is None
