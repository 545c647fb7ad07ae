"""Names of what is saved aside."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from coordinator.repairs.rescue import rescue_folder, rescued_object, rescued_registration
from lake.delta.uri import TableUri

AT = datetime(2026, 11, 20, 9, 42, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("uri", "version", "expected"),
    [
        ("s3a://lake/a b/orders", 7, "a b/orders/_levee_rescue/20261120T094207Z-abandon-commit-7/"),
        ("s3a://lake/orders", None, "orders/_levee_rescue/20261120T094207Z-abandon-commit/"),
        ("s3a://lake", 0, "_levee_rescue/20261120T094207Z-abandon-commit-0/"),
    ],
)
def test_the_folder_lies_in_the_table_and_names_time_repair_and_version(uri, version, expected):
    assert rescue_folder(TableUri.parse(uri), "abandon-commit", version, AT) == expected


def test_the_time_is_that_of_utc():
    tokyo = AT.astimezone(timezone(timedelta(hours=9)))
    uri = TableUri.parse("s3a://lake/orders")
    assert rescue_folder(uri, "abandon-commit", 7, tokyo) == rescue_folder(uri, "abandon-commit", 7, AT)


def test_an_object_keeps_its_path_within_the_log():
    assert rescued_object("r/", ".tmp/x") == "r/_delta_log/.tmp/x"


@pytest.mark.parametrize("name", [rescued_registration])
def test_an_items_copy_is_one_name_whatever_its_key_holds(name):
    assert name("r/", "../a/b ü").count("/") == 1
