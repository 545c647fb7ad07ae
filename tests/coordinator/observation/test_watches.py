"""Where tables are looked for, and what that costs."""

import pytest

from coordinator.models import DeltaTable, Watch
from coordinator.observation import discovery
from coordinator.observation.workers import Workers
from lake.aws.list_page import ListPage
from lake.delta.uri import TableUri

pytestmark = pytest.mark.postgres("upserts")


def names() -> list[str]:
    return sorted(table.name for table in DeltaTable.objects.all())


def watch_only(connection, *uris: str) -> None:
    Watch.objects.all().delete()
    for uri in uris:
        Watch.objects.create(connection=connection, uri=uri)


def test_a_watch_on_a_whole_bucket_finds_tables_at_every_depth(written, observe):
    written.table("a")
    written.table("b/c/d/e/f")

    observe()

    assert names() == ["a", "e.f"]


def test_items_of_a_table_at_the_root_of_its_bucket_are_its_own(written, observe):
    written.put(f"_delta_log/{0:020d}.json", b'{"commitInfo":{}}\n')
    for path in (f"s3a://{written.bucket}", f"s3://{written.bucket}/"):
        item = {"tablePath": {"S": path}, "fileName": {"S": f"{0:020d}.json"}, "complete": {"S": "true"}}
        written.dynamodb.put_item(TableName=written.log_store, Item=item)

    observe()

    table = DeltaTable.objects.get()
    assert (table.mechanism, len(table.lock_domains)) == ("log_store", 2)


def test_nested_and_double_watches_find_each_table_once(written, observe, connection):
    written.table("sales/orders")
    watch_only(connection, written.uri(""), written.uri("sales/"), written.uri("sales/orders/"))

    result = observe()

    assert (names(), result.tables_seen) == (["sales.orders"], 1)


def test_a_watch_does_not_reach_a_neighbour_of_like_name(written, observe, connection):
    written.table("sales/orders")
    written.table("sales-old/orders")
    watch_only(connection, written.uri("sales/"))

    observe()

    assert names() == ["sales.orders"]


def test_hidden_and_partition_folders_are_not_looked_into(written, observe):
    written.table("sales/_staging/orders")
    written.table("sales/.trash/orders")
    written.table("sales/day=2026-01-01/orders")

    observe()

    assert names() == []


class Listing:
    """S3 with one folder of two pages; the first shows these folders."""

    def __init__(self, *folders: str) -> None:
        self.pages = 0
        self.folders = folders

    def list(self, bucket, prefix, *, delimiter):
        for prefixes in (self.folders, ("t/later/",)):
            self.pages += 1
            yield ListPage((), prefixes)

    def tables(self) -> discovery.Discovery:
        with Workers(1, lambda: None) as workers:
            return discovery.find_tables(self, TableUri.parse("s3a://lake/t"), set(), workers)


def test_a_folder_of_many_files_is_left_at_the_sight_of_its_log():
    s3 = Listing("t/_change_data/", "t/_delta_log/")

    assert ([root.key for root in s3.tables().roots], s3.pages) == (["t"], 1)


def test_a_folder_of_endless_files_is_left_and_said(monkeypatch):
    monkeypatch.setattr(discovery, "MOST_PAGES", 1)
    s3 = Listing()

    assert s3.tables().problems == ("s3a://lake/t/ holds too many files to look through for tables.",)
    assert s3.pages == 1


def test_a_prefix_of_endless_folders_is_left_and_said(written, observe, monkeypatch):
    monkeypatch.setattr(discovery, "MOST_LISTINGS", 5)
    for number in range(40):
        written.put(f"f{number}/x", b"")

    result = observe()

    assert any("were left out after 5 requests" in problem for problem in result.problems)
    assert Watch.objects.get().error_code == "NotAllOfIt"


def test_a_table_below_one_that_has_gone_is_found(written, observe):
    written.table("sales", commits=1)
    observe()
    written.delete(f"sales/_delta_log/{0:020d}.json")
    observe()
    written.table("sales/orders")

    observe()

    assert names() == ["sales", "sales.orders"]


def test_a_watch_that_is_no_place_is_said(written, observe, connection):
    watch_only(connection, "hdfs://somewhere/")
    written.table("sales/orders", log_store=True)

    result = observe()

    assert any("hdfs://somewhere/" in problem for problem in result.problems)
    assert names() == ["sales.orders"]


def test_names_are_taken_literally(written, observe):
    keys = ("sp ace", "pl+us", "per%20cent", "ünï", "a&b", 'quo"te', "semi;colon", "emoji 😀", "50%")
    uris = {written.table(f"sales/{key}", commits=1) for key in keys}

    observe()

    assert set(DeltaTable.objects.filter(published_version=0).values_list("uri", flat=True)) == uris
