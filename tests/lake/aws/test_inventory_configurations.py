"""Inventory configurations through Levee's own functions, against the sandbox, which answers as S3 does."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import urllib3

from lake.aws.access import open_lake
from lake.aws.errors import AwsError
from lake.aws.inventory_configurations import NEEDED_FIELDS, InventoryConfiguration, InventoryConfigurations
from lake.backup.inventory_manifest import read_manifest, verify_part
from tests.sandbox.control.ground import Ground


@pytest.fixture(scope="module")
def ground() -> Ground:
    return Ground()


@pytest.fixture
def configurations(ground: Ground) -> Iterator[InventoryConfigurations]:
    with open_lake(ground.access) as lake:
        yield InventoryConfigurations(lake)


def wanted(ground: Ground, name: str = "nightly") -> InventoryConfiguration:
    return InventoryConfiguration(name, ground.evidence, destination_prefix="inventory", enabled=False)


@pytest.mark.parametrize("encryption", ["", "SSE-S3", "arn:aws:kms:us-west-2:123456789012:key/1"])
def test_a_configuration_comes_back_as_it_was_put(
    ground: Ground, configurations: InventoryConfigurations, encryption: str
) -> None:
    configurations.put(ground.source, wanted(ground))
    full = replace(
        wanted(ground),
        destination_account="210987654321",
        format="ORC",
        frequency="Weekly",
        prefix="ä+b /",
        all_versions=True,
        fields=("Size", "ETag"),
        encryption=encryption,
    )
    assert configurations.put(ground.source, full)
    assert configurations.get(ground.source, "nightly") == full


def test_a_configuration_that_is_not_there_is_none(ground: Ground, configurations: InventoryConfigurations) -> None:
    assert configurations.get(ground.source, "absent") is None


@pytest.mark.parametrize("form", ["CSV", "ORC", "Parquet"])
def test_its_needed_columns_are_delivered(ground: Ground, configurations: InventoryConfigurations, form: str) -> None:
    ground.fill("a")
    configurations.put(ground.source, replace(wanted(ground, form), format=form))
    url = f"{ground.client.origin}/_sandbox/inventory?bucket={ground.source}&id={form}&parts=2"
    key = urllib3.request("POST", url).data.decode()
    body, checksum = (ground.client.get(ground.evidence, one) for one in (key, key.removesuffix("json") + "checksum"))
    found = read_manifest(body, checksum, source_bucket=ground.source)
    for part in found.parts:
        verify_part(part, [ground.client.get(ground.evidence, part.key)])
    assert (found.format, len(found.columns)) == (form, 2 + len(NEEDED_FIELDS))
    assert {"size", "last_modified_date", "e_tag", "storage_class"} < set(found.columns)


def test_a_refusal_names_what_was_asked_of_which_bucket(configurations: InventoryConfigurations) -> None:
    with pytest.raises(AwsError) as refusal:
        configurations.get("no-such-bucket-here", "nightly")
    assert (refusal.value.code, refusal.value.is_missing) == ("NoSuchBucket", True)
    assert "s3://no-such-bucket-here" in str(refusal.value)
    assert refusal.value.operation == "s3:GetBucketInventoryConfiguration"


def test_a_format_that_s3_does_not_know_is_refused(ground: Ground, configurations: InventoryConfigurations) -> None:
    with pytest.raises(AwsError, match="Format"):
        configurations.put(ground.source, replace(wanted(ground), format="JSON"))
