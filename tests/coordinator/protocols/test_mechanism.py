"""Which mechanism guards a table."""

import pytest

from coordinator.protocols.mechanism import coordinator_store, decide_mechanism, registration_id
from lake.delta.facts import Mechanism
from tests.builders.facts import TABLE_ID, coordinated_protocol, log_object, protocol, temp_name

COORDINATED, PLAIN = coordinated_protocol(), protocol()
CATALOG, PREVIEW = protocol(features=("catalogManaged",)), protocol(features=("catalogOwned-preview",))
FEATURE_ALONE = protocol(features=("coordinatedCommits-preview",))
TEMP = [log_object(temp_name(3, "7f3c9b52-1b1c-4a6e-9d7c-5a3a0f6a2d11"))]
MOVED = [log_object("_commit_5f0c.json.tmp")]
UNKNOWN = Mechanism.UNKNOWN


@pytest.mark.parametrize(
    ("given", "has_entries", "temp_files", "before", "mechanism"),
    [
        (COORDINATED, True, TEMP, UNKNOWN, Mechanism.COORDINATED_COMMITS),
        (CATALOG, True, TEMP, UNKNOWN, Mechanism.CATALOG_MANAGED),
        (PREVIEW, False, (), UNKNOWN, Mechanism.CATALOG_MANAGED),
        (PLAIN, True, (), UNKNOWN, Mechanism.LOG_STORE),
        (None, True, (), UNKNOWN, Mechanism.LOG_STORE),
        (PLAIN, False, TEMP, UNKNOWN, Mechanism.LOG_STORE),
        (None, False, TEMP, UNKNOWN, Mechanism.LOG_STORE),
        (PLAIN, False, MOVED, UNKNOWN, Mechanism.SINGLE_DRIVER),
        (PLAIN, False, (), Mechanism.LOG_STORE, Mechanism.LOG_STORE),
        (PLAIN, False, (), Mechanism.COORDINATED_COMMITS, Mechanism.SINGLE_DRIVER),
        (FEATURE_ALONE, False, (), UNKNOWN, Mechanism.SINGLE_DRIVER),
        (None, False, (), UNKNOWN, UNKNOWN),
    ],
)
def test_properties_decide_then_entries_then_temp_files(given, has_entries, temp_files, before, mechanism) -> None:
    assert decide_mechanism(given, has_entries, temp_files, before) is mechanism


def test_the_metadata_names_registration_and_store() -> None:
    assert (registration_id(COORDINATED), coordinator_store(COORDINATED)) == (TABLE_ID, "commits")


@pytest.mark.parametrize("value", ["", "{", "[]", "null", '{"tableId": 5}', '{"tableId": ""}'])
def test_a_property_that_is_not_as_expected_names_nothing(value: str) -> None:
    assert registration_id(protocol(properties={"delta.coordinatedCommits.tableConf-preview": value})) is None
