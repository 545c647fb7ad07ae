"""What every database takes."""

import math

import pytest

from coordinator.models import Commit, DeltaTable, Entry
from dashboard.storable import clean_json, clean_text, make_storable

pytestmark = pytest.mark.postgres("JSON")


@pytest.mark.parametrize(("text", "clean"), [("a\0b", "a\ufffdb"), ("a\ud800b", "a\ufffdb"), ("ä😀", "ä😀"), ("", "")])
def test_characters_without_a_place_in_a_text_column_are_replaced(text, clean):
    assert clean_text(text) == clean


def test_json_is_cleaned_at_every_depth():
    assert clean_json({"a\0": [{"b": "\0"}, ("\0",), math.nan, math.inf]}) == {
        "a\ufffd": [{"b": "\ufffd"}, ["\ufffd"], "nan", "inf"]
    }


def test_json_that_has_no_end_is_cut():
    endless: dict[str, object] = {}
    endless["again"] = endless

    assert "…" in str(clean_json(endless))


@pytest.mark.django_db
def test_a_number_out_of_range_becomes_null_where_the_column_takes_it():
    row = DeltaTable(reader_version=-1, log_bytes=2**80, published_version=2**70)

    make_storable(row)

    assert (row.reader_version, row.log_bytes, row.published_version) == (None, 2**63 - 1, None)


@pytest.mark.django_db
def test_an_ordinary_text_is_cut_and_a_name_keeps_a_digest():
    commit, one, other = (
        Commit(operation="x" * 100),
        Entry(lock_domain="y" * 2_000 + "1"),
        Entry(lock_domain="y" * 2_000 + "2"),
    )

    for row in (commit, one, other):
        make_storable(row)

    assert commit.operation == "x" * 64
    assert (len(one.lock_domain), len(other.lock_domain)) == (1100, 1100)
    assert one.lock_domain != other.lock_domain
