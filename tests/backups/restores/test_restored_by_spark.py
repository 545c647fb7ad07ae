"""Tables of real Spark's restored to a path of their own: read and written there, and the original as it was."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from backups.restores import copying, path_contents
from coordinator.models import CommitStore
from dashboard.connections.models import Connection
from lake.delta.opened_log import READ_ONLY
from lake.delta.uri import TableUri
from lake.spark.jobs import copy_files
from lake.spark.sql import delta_path
from sandbox.coordinated import take_back_backfill
from sandbox.ground import DELTA_COMMITS
from sandbox.spark_tables import SparkLake
from tests.backups.points.conftest import Backup
from tests.backups.points.ended_runs import copied_run, proven
from tests.backups.restores.restoring import copy_all, everything, open_by, restore, rows
from tests.backups.restores.test_opened_by_spark import KINDS, ROW, counts_of, make, registrations
from tests.backups.restores.test_removing import before_its_listing
from tests.backups.sheet.by_hand import do_as_the_sheet_says
from tests.choosing import slowly
from tests.sparksession import spark_lake

__all__ = ["spark_lake"]
pytestmark = [pytest.mark.django_db, pytest.mark.spark]

WRITES = ("DELETE FROM {t} WHERE id = 1", "OPTIMIZE {t}", "VACUUM {t}", "ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b')")


def backed_up(backup: Backup, lake: SparkLake, kind: str) -> str:
    """The URI of a table of this kind that is in the backup."""
    root, properties, clause = KINDS[kind]
    is_coordinated, uri = kind == "coordinated", f"s3a://{backup.source}/{root}"
    prod = Connection.objects.get(name="prod")
    CommitStore.objects.create(connection=prod, name=DELTA_COMMITS, kind=CommitStore.Kind.COMMIT_COORDINATOR)
    make(lake, uri, properties | (lake.coordinator() if is_coordinated else {}), clause)
    if is_coordinated:
        take_back_backfill(backup.lake, backup.source, root, [5])  # accepted, and never published
    copy_all(backup)
    proven(copied_run(backup, [root]))
    return uri


def test_a_coordinated_table_opens_and_is_committed_to_beside_its_living_original(
    backup: Backup, spark_lake: SparkLake, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    uri = backed_up(backup, spark_lake, "coordinated")
    expected, items = rows(spark_lake, uri), registrations(backup)
    before, counts = everything(backup.lake, backup.source, backup.vault), counts_of(spark_lake, uri)
    asked = open_by(monkeypatch, spark_lake)
    monkeypatch.setattr(copying, "MANY", 1)
    monkeypatch.setattr(copying, "OF_A_JOB", 3)

    opened = restore(capsys, uri, "--instant", "--apply")
    told = restore(capsys, uri, "--apply")
    by_hand = f"s3a://{backup.source}/by/hand"
    said = do_as_the_sheet_says(backup, tmp_path, by_hand.replace("s3a", "s3", 1))

    assert (opened["refused"], opened["job"]["state"], opened["version"]) == ("", "succeeded", 5)
    assert rows(spark_lake, opened["to"]) == rows(spark_lake, told["to"]) == expected
    with pytest.raises(Exception, match=f"DELTA_UNSUPPORTED_FEATURES_FOR_WRITE.*{READ_ONLY}"):
        spark_lake.insert(opened["to"], ROW)
    seen = opened["job"]["verified"]["spark"]
    assert {**seen, **opened["job"]["verified"]["deltalake"], "rows": len(expected)} == seen
    assert counts.items() <= seen.items()
    assert asked.count(copy_files.KIND) > 1
    assert (seen["files_equal"], seen["vectors"] > 0) == (True, True)
    assert (told["refused"], told["job"]["state"], told["version"]) == ("", "succeeded", 5)
    assert told["job"]["verified"]["expected"]["version"] == 6  # one more, by which it left its coordinator
    assert "VacuumProtocolCheck" in told["job"]["verified"]["deltalake"]["reason"]
    [_, _, ended] = said
    assert ended.splitlines()[-1].startswith(f"{uri} is at ")
    assert rows(spark_lake, by_hand) == expected
    for to in (told["to"], by_hand):
        spark_lake.insert(to, ROW)
    after = everything(backup.lake, backup.source, backup.vault)
    assert before.items() <= after.items()
    places = tuple(f"{one.removeprefix('s3a://')}/" for one in (opened["to"], told["to"], by_hand))
    assert all(key.startswith(places) for key in after.keys() - before.keys())
    assert registrations(backup) == items
    spark_lake.insert(uri, ROW)
    assert registrations(backup) != items
    assert len({len(rows(spark_lake, to)) for to in (uri, told["to"], by_hand)} | {len(expected)}) == 2
    [detail] = spark_lake.sql(f"DESCRIBE DETAIL {delta_path(told['to'])}")
    assert not [name for name in detail["properties"] if "coordinatedCommits" in name]
    assert "coordinatedCommits-preview" not in detail["tableFeatures"]

    monkeypatch.setattr(path_contents, "WRITERS_PAUSE", timedelta(0))
    [registered] = registrations(backup)
    back = restore(capsys, uri, "--in-place", "--apply", "--confirm", TableUri.parse(uri).name)
    assert (back["refused"], back["job"]["state"]) == ("", "succeeded")
    assert rows(spark_lake, uri) == expected
    closed = [registered | {"acceptingCommits": {"BOOL": False}, "commits": {"L": []}}]
    assert registrations(backup) == closed
    spark_lake.insert(uri, ROW)
    assert registrations(backup) == closed
    assert len(rows(spark_lake, uri)) > len(expected)


@pytest.mark.parametrize("kind", [*map(slowly, KINDS)])
def test_a_destroyed_table_is_restored_with_its_rows_and_takes_writes(
    backup: Backup, spark_lake: SparkLake, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path, kind: str
) -> None:
    uri = backed_up(backup, spark_lake, kind)
    point_rows = rows(spark_lake, uri)
    for key, _ in list(backup.lake.list(backup.source, "")):
        backup.lake.delete(backup.source, key)
    before, items = everything(backup.lake, backup.source, backup.vault), registrations(backup)
    open_by(monkeypatch, spark_lake)

    told = restore(capsys, uri, "--apply")

    assert (told["refused"], told["job"]["state"]) == ("", "succeeded")
    assert rows(spark_lake, told["to"]) == point_rows
    assert told["job"]["verified"]["spark"]["files_equal"]
    again = restore(capsys, uri, "--apply")["job"]
    assert again["state"] == "succeeded"
    assert again["verified"]["spark"]["version"] == again["verified"]["expected"]["version"] + 1
    refused = list[str]()

    def write() -> None:
        with pytest.raises(Exception, match=f"DELTA_UNSUPPORTED_FEATURES_FOR_WRITE.*{READ_ONLY}"):
            spark_lake.sql(WRITES[-1].format(t=delta_path(told["to"])))  # which leaves no file of its own
        refused.append(READ_ONLY)

    with monkeypatch.context() as closed:
        before_its_listing(closed, 4, write)
        removed = restore(capsys, told["to"], "--remove", "--apply")
    assert (removed["refused"], refused) == ("", [READ_ONLY])
    assert everything(backup.lake, backup.source, backup.vault) == before
    assert restore(capsys, uri, "--apply")["job"]["state"] == "succeeded"
    for statement in WRITES:
        spark_lake.sql(statement.format(t=delta_path(told["to"])))
    assert rows(spark_lake, told["to"]) == [row for row in point_rows if row[0] != 1]
    after = everything(backup.lake, backup.source, backup.vault)
    assert before.items() <= after.items()
    assert all(key.startswith(told["to"].removeprefix("s3a://")) for key in after.keys() - before.keys())
    do_as_the_sheet_says(backup, tmp_path, f"s3://{backup.source}/by-hand")
    assert rows(spark_lake, f"s3a://{backup.source}/by-hand") == point_rows
    assert registrations(backup) == items
    refusal = restore(capsys, told["to"], "--remove", "--apply")["refusal"]
    assert "somebody has written to the table since" in refusal["reason"]

    back = restore(capsys, uri, "--in-place", "--apply", "--confirm", TableUri.parse(uri).name)
    assert (back["refused"], back["job"]["state"]) == ("", "succeeded")
    assert rows(spark_lake, uri) == point_rows
