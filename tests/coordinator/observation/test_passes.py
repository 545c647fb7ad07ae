"""A pass over a lake on moto: what is found, what is stored, what it costs."""

import pytest

from coordinator.models import DeltaTable, ObservationPass, Watch
from tests.builders.lake import NOW
from tests.coordinator.observation.accepted_and_lost import open_codes, the_table

pytestmark = pytest.mark.postgres("upserts")


def test_a_single_driver_table_is_found_below_a_watched_prefix(written, observe):
    uri = written.table("sales/orders", commits=3)

    result = observe()

    table = the_table()
    assert (table.uri, table.name, table.mechanism) == (uri, "sales.orders", "single_driver")
    assert (table.published_version, table.state) == (2, "healthy")
    assert table.commits.count() == 3
    record = ObservationPass.objects.get()
    assert record.finished_at is not None
    assert (record.tables_seen, record.requests) == (1, result.requests)


def test_a_table_known_only_to_the_log_store_is_found(written, observe):
    Watch.objects.all().delete()
    written.table("elsewhere/clicks", log_store=True)

    observe()

    assert the_table().uri == written.uri("elsewhere/clicks")


def test_a_table_that_vanishes_is_gone_without_a_finding_until_it_comes_back(written, observe):
    written.table("sales/orders", commits=1)
    observe()
    written.delete("sales/orders/_delta_log/00000000000000000000.json")
    assert open_codes() == {"single-driver"}
    DeltaTable.objects.update(unpublished_count=1, oldest_unpublished_at=NOW)
    observe()
    assert (the_table().gone_at is not None, open_codes()) == (True, set())
    assert (the_table().unpublished_count, the_table().oldest_unpublished_at) == (0, None)
    written.table("sales/orders", commits=2)

    observe()

    assert (the_table().gone_at, the_table().published_version) == (None, 1)


def test_a_missing_bucket_is_said_and_the_rest_goes_on(written, observe, connection):
    Watch.objects.create(connection=connection, uri="s3a://no-such-bucket-anywhere/")
    written.table("sales/orders")

    result = observe()

    assert "NoSuchBucket" in Watch.objects.get(uri__contains="no-such").error_code
    assert any("no-such-bucket-anywhere" in problem for problem in result.problems)
    assert the_table().state == "healthy"


def test_two_copies_that_differ_are_evidence_with_their_first_difference(written, observe):
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    written.commit("sales/orders", 3, b'{"commitInfo":{"operation":"OTHER"}}\n')

    observe()

    finding = the_table().findings.get(code="C4")
    assert (finding.state, finding.evidence["bytes_equal"]) == ("unsafe", False)
    assert finding.evidence["first_difference"] > 0
