"""What a run costs."""

from decimal import Decimal

import pytest

from backups.runs.prices import PART_BYTES, lines, retrieval, total

MILLION = 10**6


@pytest.mark.parametrize(("storage_class", "usd"), [("", "6.25"), ("STANDARD_IA", "11.25"), ("DEEP_ARCHIVE", "51.25")])
def test_a_million_copies_by_s3_batch_cost_what_the_price_list_says(storage_class, usd):
    items = lines({}, batch_jobs=1, batch_objects=MILLION, copies=MILLION, storage_class=storage_class)

    assert total(items) == Decimal(usd)


def test_large_objects_cost_a_request_per_part():
    (line,) = lines({}, large=2, large_bytes=10 * PART_BYTES)

    assert (line.item, line.count) == ("Parts of large objects", 14)


def test_each_copy_under_a_key_asks_kms_twice():
    items = {line.item: line.count for line in lines({}, copies=5, uses_kms=True)}

    assert items["Keys of KMS"] == 10


def test_a_price_can_be_set():
    assert total(lines({"copy_thousand": "0.0055"}, copies=MILLION)) == Decimal("5.50")


def test_nothing_to_do_costs_nothing():
    assert lines({}) == ()
    assert total(()) == 0


def test_retrieval_from_an_archive_is_paid_by_request_and_by_byte_and_is_kept_for_some_days():
    """100 TB in 15 million objects of GLACIER: $750 and $1,024 (AWS re:Post), and Standard storage for a month."""
    size = 102_400 * 1024**3
    assert retrieval({}, "GLACIER", 15 * MILLION, size, 0) == Decimal("1774")
    assert retrieval({}, "DEEP_ARCHIVE", MILLION, size, 30) == 100 + 102_400 * (Decimal("0.02") + Decimal("0.023"))
