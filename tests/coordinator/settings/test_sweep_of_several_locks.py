"""The sweep where several locks, stores, regions or connections know of a table."""

import pytest

from coordinator.models import CommitStore, DeltaTable, ProvenanceRow
from coordinator.settings import sweep
from coordinator.settings.sweep import FINISHED, SweepTable
from dashboard.connections.models import Connection
from tests.builders.delta import incomplete_item
from tests.builders.lake import NOW, make_table
from tests.coordinator.settings.conftest import SWEPT as ROOT
from tests.coordinator.settings.conftest import commit_of, temp_key


@pytest.fixture
def second(swept) -> str:
    """Another log store of the connection."""
    name = swept.lake.second_log_store()
    CommitStore.objects.create(connection=swept.connection, name=name, kind="log_store")
    return name


def test_files_of_a_version_that_two_locks_gave_to_different_commits_stay(swept, lately, lake):
    swept.lake.entry(ROOT, 1, scheme="s3", tempPath={"S": f".tmp/{1:020d}.json.another"})
    domains = tuple((swept.lake.log_store, f"{scheme}://{swept.lake.bucket}/{ROOT}") for scheme in ("s3a", "s3"))
    call = SweepTable(swept.lake.bucket, f"{ROOT}/_delta_log/", lately.before, domains, "")
    verdicts = {file.key: file.verdict for file in sweep.temp_files(call, lake)}

    assert verdicts[temp_key(0)] == FINISHED
    assert verdicts[temp_key(1)] == "several locks gave its version to different commits"


@pytest.mark.parametrize("path", ["s3://{}/{}", "s3n://{}/{}", "s3a://{}/{}/"])
def test_an_incomplete_entry_under_another_spelling_keeps_the_file(swept, lately, path):
    item = incomplete_item(1, path.format(swept.lake.bucket, ROOT))
    swept.lake.dynamodb.put_item(TableName=swept.lake.log_store, Item=item)

    swept.applied(lately)

    assert temp_key(1) in swept.objects()


def test_an_incomplete_entry_in_another_log_store_keeps_the_file(swept, lately, second):
    swept.lake.dynamodb.put_item(TableName=second, Item=incomplete_item(1, swept.lake.uri(ROOT)))

    swept.applied(lately)

    assert temp_key(1) in swept.objects()


def test_a_table_whose_entries_lie_in_two_stores_is_left_out(swept, lately, second):
    swept.lake.entry(ROOT, 2, store=second)
    swept.observe()

    refusal = swept.refusal_of(lately)

    assert refusal["why"] == "several-locks"
    assert "may be all that is left of an accepted commit" in refusal["reason"]


def test_the_other_tables_are_swept(swept, lately, second):
    swept.lake.table("sales/returns", 2, log_store=True)
    swept.lake.entry("sales/returns", 1, store=second)
    swept.observe()

    told = swept.plan_of(lately)["consequences"]

    assert any("1 table left out: entries lie, or lay, in several log stores" in one for one in told)


def test_a_version_that_two_stores_gave_away_since_keeps_its_files(swept, lately, second):
    planned = swept.planned(lately)
    swept.lake.entry(ROOT, 1, store=second, tempPath={"S": f".tmp/{1:020d}.json.another"})

    swept.apply(planned)

    assert temp_key(1) in swept.objects()
    assert temp_key(0) not in swept.objects()


def test_a_table_that_had_two_lock_domains_is_left_out_after_ttl_has_taken_the_entries_of_one(swept, lately):
    swept.lake.entry(ROOT, 2, scheme="s3", tempPath={"S": f".tmp/{2:020d}.json.loser"})
    swept.lake.put(temp_key(2), commit_of("of the other"))
    swept.observe()
    key = {"tablePath": {"S": f"s3://{swept.lake.bucket}/{ROOT}"}, "fileName": {"S": f"{2:020d}.json"}}
    swept.lake.dynamodb.delete_item(TableName=swept.lake.log_store, Key=key)
    swept.observe()

    assert swept.refusal_of(lately)["why"] == "several-locks"


def row_elsewhere(console, **fields) -> DeltaTable:
    """The row of another region's connection, which looks at the same bucket."""
    other = Connection.objects.create(name="eu", region="eu-west-1", endpoint_url=console.connection.endpoint_url)
    return make_table(console.lake.uri(ROOT), connection=other, **fields)


def test_a_table_whose_entries_another_region_held_is_left_out_after_ttl_has_taken_them(swept, lately):
    row_elsewhere(swept)

    assert swept.refusal_of(lately)["why"] == "several-locks"


def accepted_elsewhere(console, version: int, name: str, **fields) -> None:
    row = row_elsewhere(console, lock_domains=[])
    lock = {"store": console.lake.log_store, "region": "eu-west-1", "lock_domain": console.lake.uri(ROOT)}
    seen = {**lock, "file_name": name, "accepted_at": NOW}
    ProvenanceRow.objects.create(table=row, version=version, **(fields or seen))


@pytest.mark.parametrize("name", ["loser", "another"])
def test_a_file_that_another_region_was_seen_to_accept_meanwhile_stays_and_so_do_its_rivals(swept, lately, name):
    planned = swept.planned(lately)
    accepted_elsewhere(swept, 1, f".tmp/{1:020d}.json.{name}")

    swept.apply(planned)

    assert temp_key(1) in swept.objects()
    assert temp_key(0) not in swept.objects()


def test_a_file_that_was_given_up_in_another_region_stays(swept, lately):
    given_up = {"store": swept.lake.log_store, "region": "eu-west-1", "lock_domain": swept.lake.uri(ROOT)}
    planned = swept.planned(lately)
    accepted_elsewhere(swept, 1, "", abandoned=[given_up | {"file_name": f".tmp/{1:020d}.json.loser"}])

    swept.apply(planned)

    assert temp_key(1) in swept.objects()


def test_what_a_connection_to_another_s3_knows_keeps_nothing(swept, lately):
    planned = swept.planned(lately)
    accepted_elsewhere(swept, 1, f".tmp/{1:020d}.json.loser")
    Connection.objects.filter(name="eu").update(endpoint_url="http://127.0.0.1:1")

    swept.apply(planned)

    assert temp_key(1) not in swept.objects()


def test_without_the_store_that_guards_the_table_only_copies_go(swept, lately, second):
    """It is on the list no more, and its entry names the loser; the store that is asked names another."""
    CommitStore.objects.exclude(name=second).delete()
    swept.lake.entry(ROOT, 1, store=second)

    assert "which lock guards its table is not known" in swept.refusal_of(lately)["reason"]
