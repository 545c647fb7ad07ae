"""Copies of items as JSON: what was written is read, and what anybody else wrote is refused with a reason."""

import json
from typing import Any

import pytest

from coordinator.repairs.rescue import MOST_ITEM_BYTES, kept_document, read_kept
from tests.builders.delta import incomplete_item, registration_item
from tests.coordinator.repairs.world import URI

ITEMS = [
    incomplete_item(7, URI),
    registration_item(7, (6, 7)),
    {"a": {"M": {"b": {"L": [{"NULL": True}, {"BOOL": False}]}}}, "c": {"SS": ["x"]}, "d": {"B": "AA=="}},
]


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_keeps_each_attribute_with_its_type_and_its_table(item: dict[str, Any]) -> None:
    kept = read_kept(kept_document("delta_log", item))
    assert (kept.table, kept.item) == ("delta_log", item)


@pytest.mark.parametrize("item", ITEMS)
def test_a_copy_of_an_earlier_release_is_the_bare_item(item: dict[str, Any]) -> None:
    kept = read_kept(json.dumps(item).encode())
    assert (kept.table, kept.item) == ("", item)


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return {"a": value}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        b'{"a": "x"}',
        b'{"a": {"S": 1}}',
        b'{"a": {"S": "x", "N": "1"}}',
        b'{"a": {"X": "x"}}',
        b'{"a": {"BOOL": "true"}}',
        b'{"a": {"L": {"S": "x"}}}',
        b'{"levee_rescue": 2, "dynamodb_table": "t", "item": {"a": {"S": "x"}}}',
        b'{"levee_rescue": 1, "dynamodb_table": 7, "item": {"a": {"S": "x"}}}',
        b'{"levee_rescue": 1, "dynamodb_table": "t", "item": {}}',
        b'{"levee_rescue": 1, "dynamodb_table": "t"}',
        json.dumps(deep(40)).encode(),
        b" " * (MOST_ITEM_BYTES + 1),
    ],
    ids=range(18),
)
def test_what_is_no_copy_of_an_item_is_refused_with_one_sentence(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        read_kept(data)
