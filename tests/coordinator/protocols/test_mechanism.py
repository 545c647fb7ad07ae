"""Which mechanism guards a table."""

import pytest

from coordinator.protocols.mechanism import coordinator_store, decide_mechanism, registration_id
from lake.delta.facts import Mechanism, TableProtocol
from tests.builders.facts import TABLE_ID, coordinated_protocol, log_object, protocol, temp_name

CATALOG = protocol(features=("catalogManaged",))
PREVIEW = protocol(features=("catalogOwned-preview",))


@pytest.mark.parametrize(
    ("table_protocol", "has_entries", "mechanism"),
    [
        (coordinated_protocol(), True, Mechanism.COORDINATED_COMMITS),
        (CATALOG, True, Mechanism.CATALOG_MANAGED),
        (PREVIEW, False, Mechanism.CATALOG_MANAGED),
        (protocol(), True, Mechanism.LOG_STORE),
        (None, True, Mechanism.LOG_STORE),
        (protocol(), False, Mechanism.SINGLE_DRIVER),
        (None, False, Mechanism.UNKNOWN),
        (protocol(features=("coordinatedCommits-preview",)), False, Mechanism.SINGLE_DRIVER),
    ],
)
def test_properties_decide_before_entries(
    table_protocol: TableProtocol | None, has_entries: bool, mechanism: Mechanism
) -> None:
    assert decide_mechanism(table_protocol, has_entries) is mechanism


TEMP = [log_object(temp_name(3, "7f3c9b52-1b1c-4a6e-9d7c-5a3a0f6a2d11"))]
MOVED = [log_object("_commit_5f0c.json.tmp")]


def test_temp_files_of_a_log_store_prove_one_after_its_entries_have_expired() -> None:
    assert decide_mechanism(protocol(), False, TEMP) is Mechanism.LOG_STORE
    assert decide_mechanism(None, False, TEMP) is Mechanism.LOG_STORE


def test_properties_decide_before_temp_files() -> None:
    assert decide_mechanism(coordinated_protocol(), False, TEMP) is Mechanism.COORDINATED_COMMITS
    assert decide_mechanism(CATALOG, False, TEMP) is Mechanism.CATALOG_MANAGED


def test_a_temp_file_of_delta_rs_proves_no_store() -> None:
    assert decide_mechanism(protocol(), False, MOVED) is Mechanism.SINGLE_DRIVER


def test_a_log_store_that_was_seen_is_not_forgotten_when_its_temp_files_are_cleaned_up() -> None:
    assert decide_mechanism(protocol(), False, (), Mechanism.LOG_STORE) is Mechanism.LOG_STORE
    assert decide_mechanism(protocol(), False, (), Mechanism.COORDINATED_COMMITS) is Mechanism.SINGLE_DRIVER


def test_the_metadata_names_registration_and_store() -> None:
    assert registration_id(coordinated_protocol()) == TABLE_ID
    assert coordinator_store(coordinated_protocol()) == "commits"


@pytest.mark.parametrize("value", ["", "{", "[]", "null", '{"tableId": 5}', '{"tableId": ""}'])
def test_a_property_that_is_not_as_expected_names_nothing(value: str) -> None:
    broken = protocol(properties={"delta.coordinatedCommits.tableConf-preview": value})

    assert registration_id(broken) is None
