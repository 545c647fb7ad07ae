"""Which mechanism guards a table."""

import pytest

from coordinator.protocols.mechanism import coordinator_store, decide_mechanism, registration_id
from lake.delta.facts import Mechanism, TableProtocol
from tests.builders.facts import TABLE_ID, coordinated_protocol, protocol

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


def test_the_metadata_names_registration_and_store() -> None:
    assert registration_id(coordinated_protocol()) == TABLE_ID
    assert coordinator_store(coordinated_protocol()) == "commits"


@pytest.mark.parametrize("value", ["", "{", "[]", "null", '{"tableId": 5}', '{"tableId": ""}'])
def test_a_property_that_is_not_as_expected_names_nothing(value: str) -> None:
    broken = protocol(properties={"delta.coordinatedCommits.tableConf-preview": value})

    assert registration_id(broken) is None
