"""What looks have stored of a table: commits that they saw accepted, and that its log does not show, or no more."""

from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from backups.runs.spark_pipeline import SparkPipeline
from coordinator.models import DeltaTable, TableFinding
from dashboard.connections.accepted import tables_ahead
from dashboard.connections.models import Connection
from lake.delta.names import commit_name
from tests.backups.points.commit_stores import body, old, part, proven, shape, stores, temp
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run
from tests.backups.points.ended_runs import proven as ended
from tests.backups.points.spread import spread_all
from tests.builders.copies import LOG, appended
from tests.builders.delta import UUID, incomplete_item, log_store_item

__all__ = ["proven", "stores"]
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("connection", "fields", "said"),
    [
        ("prod", {"state": "unsafe", "summary": "Version 3 has vanished."}, "Version 3 has vanished."),
        ("prod", {"state": "blocked"}, "Something is wrong"),
        ("prod", {"state": "pending", "published_version": 2, "accepted_version": 3}, "An earlier look saw"),
        ("elsewhere", {"state": "healthy"}, "Another connection holds the table too"),
    ],
)
def test_what_earlier_looks_know_of_the_table_counts(backup, stores, proven, connection, fields, said):
    old(backup, appended(range(3)) | {temp(3): body(3)})
    stores.put(stores.log_store, log_store_item(2, stores.path))
    of_its_s3 = {"region": "eu-west-1", "endpoint_url": backup.lake.origin}
    row, _ = Connection.objects.get_or_create(name=connection, defaults=of_its_s3)
    DeltaTable.objects.create(connection=row, bucket=backup.source, prefix="t", uri=stores.path, name="t", **fields)
    point = proven()
    assert shape(point) == ("unprovable", 2, None, [])
    assert said in point["sentence"]


def seen(backup: Backup, published: int, accepted: int, connection: str = "prod", endpoint: str = "") -> DeltaTable:
    """What the last look of a connection saw of the table."""
    of, _ = Connection.objects.get_or_create(
        name=connection, defaults={"region": "eu-west-1", "endpoint_url": endpoint or backup.lake.origin}
    )
    versions = {"published_version": published, "accepted_version": accepted, "state": "blocked", "summary": "Lost."}
    place = {"bucket": backup.source, "prefix": "t", "uri": f"s3a://{backup.source}/t", "name": "t"}
    return DeltaTable.objects.create(connection=of, **place, **versions)


def vanished(table: DeltaTable, version: int) -> None:
    """As a look tells it that finds neither files nor an entry of what was seen accepted."""
    facts = {"state": "unsafe", "state_rank": 1, "severity": "critical", "opened_at": timezone.now()}
    TableFinding.objects.create(table=table, code="vanished", version=version, seen_at=timezone.now(), **facts)


@pytest.mark.parametrize("connection", ["prod", "elsewhere"])
@pytest.mark.parametrize(("hours_ago", "state"), [(40, "unprovable"), (1, "proven")])
def test_a_commit_whose_files_are_all_gone_is_missed(backup, stores, proven, connection, hours_ago, state):
    """Of a version that nothing in S3 names, it is known only that it came after the one before it."""
    backup.put(appended(range(3)), copied=True)
    backup.put(appended(range(3)), copied=False, hours_ago=hours_ago)
    stores.put(stores.log_store, log_store_item(3, stores.path))
    assert shape(proven()) == ("proven", 2, 2, []), "nobody has looked at its stores"
    seen(backup, 2, 3, connection)
    last = backup.boto().head_object(Bucket=backup.source, Key=f"{LOG}{commit_name(2)}")["LastModified"]
    point = proven()
    assert shape(point) == (state, 2, None, [])
    assert "More was accepted, or may have been" in point["sentence"]
    assert datetime.fromisoformat(point["holds_until"]) == last
    [kept] = ended(copied_run(backup)).points.all()
    assert (kept.state, kept.accepted_version, kept.holds_until) == (state, None, last)
    assert datetime.fromisoformat(kept.moments[-1][1]) == last


@pytest.mark.parametrize("state", ["unsafe", "not_checked"])
def test_a_commit_that_was_seen_to_vanish_is_missed_when_its_entry_has_expired(backup, stores, proven, state):
    """Also where the last look could not read the table."""
    old(backup, appended(range(3)))
    stores.put(stores.log_store, log_store_item(2, stores.path))
    table = seen(backup, 2, 2)
    assert shape(proven()) == ("proven", 2, 2, [])
    vanished(table, 3)
    DeltaTable.objects.update(state=state)
    assert shape(proven()) == ("unprovable", 2, None, [])
    DeltaTable.objects.update(state="healthy")
    TableFinding.objects.update(resolved_at=timezone.now())
    assert shape(proven()) == ("proven", 2, 2, [])


def test_what_is_lost_may_have_been_accepted_when_the_version_before_it_was(backup, stores, proven):
    """That one was published long after it was accepted."""
    backup.put(appended(range(3)), copied=True)
    backup.put(appended(range(3)), copied=False, hours_ago=1)
    backup.put({temp(2): body(2)}, copied=False, hours_ago=60)
    backup.put({f"{LOG}_commit_{UUID}.json.tmp": b"{}"}, copied=False, hours_ago=90)  # deltalake's, of any version
    seen(backup, 2, 3)
    point = proven()
    waited = backup.boto().head_object(Bucket=backup.source, Key=temp(2))["LastModified"]
    assert shape(point) == ("unprovable", 2, None, [])
    assert datetime.fromisoformat(point["holds_until"]) == waited


@pytest.mark.parametrize("looked", [(3, "prod"), (3, "elsewhere"), (9, "in another S3")])
def test_what_a_look_saw_counts_as_long_as_the_log_does_not_show_it(backup, stores, proven, looked):
    """The entry of version 3 has expired."""
    old(backup, appended(range(4)))
    endpoint = "http://127.0.0.1:9" if looked[1] == "in another S3" else ""
    vanished(seen(backup, 2, looked[0], looked[1], endpoint), looked[0])
    assert shape(proven()) == ("proven", 3, 3, [])


def test_a_table_of_that_name_in_another_s3_is_another_table(backup, stores, proven):
    old(backup, appended(range(3)) | {temp(3): body(3)} | part(3))
    stores.put(stores.log_store, incomplete_item(3, stores.path))
    seen(backup, 2, 3, "in another S3", "http://127.0.0.1:9")
    assert shape(proven()) == ("proven", 3, 3, [3])


def test_stores_are_asked_of_no_other_table(backup, stores):
    prod = Connection.objects.get(name="prod")
    of = {"connection": prod, "bucket": backup.source}
    for name, published, is_accepted in (("behind", 2, 3), ("level", 3, 3), ("never", None, 0), ("empty", None, None)):
        versions = {"published_version": published, "accepted_version": is_accepted}
        DeltaTable.objects.create(**of, prefix=name, uri=f"s3a://{backup.source}/{name}", name=name, **versions)
    assert tables_ahead(prod, backup.source) == {"behind": 3, "never": 0}
    assert tables_ahead(prod, backup.vault) == {}


def test_of_many_tables_those_that_were_seen_ahead_are_not_left_to_spark(backup, stores, monkeypatch):
    for below in ("", "a/", "z/"):
        backup.put_both(appended(range(3)), below=below)
    backup.put(appended(range(3)), copied=False, hours_ago=40)
    seen(backup, 2, 3)
    spread_all(monkeypatch, backup)
    prove, by_spark = SparkPipeline.prove, list[str]()

    def noting(self: SparkPipeline, wanted: Any, roots: Any) -> Any:
        by_spark.extend(roots)
        return prove(self, wanted, roots)

    monkeypatch.setattr(SparkPipeline, "prove", noting)
    run = ended(copied_run(backup, ["t", "a/t", "z/t"]))
    told = {point.table.removeprefix(f"s3a://{backup.source}/"): point.state for point in run.points.all()}
    assert told == {"t": "unprovable", "a/t": "proven", "z/t": "proven"}
    assert (run.state, by_spark) == ("complete_with_gaps", ["a/t", "z/t"])
