"""What readers have to see of a restored table, and in which sentences it is said that they see something else."""

import json
from dataclasses import replace
from typing import Any

import pytest

from backups.restores.planning import RESTORED_FROM
from backups.restores.verification import Expected, after_writing, differences
from lake.backup.objects import BucketPrefix
from lake.delta.columns import columns_of
from lake.delta.coordinator_properties import COORDINATOR
from lake.delta.fingerprint import Fingerprint
from lake.delta.opened_log import READ_ONLY
from lake.delta.restorable import TableAtVersion
from lake.points.reading import KeptPoint, RestorableVersion

SCHEMA = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}
FILES: Fingerprint = {"partitions": 3, "vectors": 2, "digest": "6a0c"}
OTHER_FILES = (
    "Spark sees other data files than the log of the backup has, by their places, sizes, partition values or deletion "
    "vectors."
)
COUNTED = (
    "Spark counts 5 rows in the files that it opened, and the log gives 4 for them: its statistics are wrong, or the "
    "files are not what they were."
)
DOCUMENT = "s3a://vault/_levee/points/lake/t/@5-9b1d6e0f3a7c2584.json"


def expected(*, is_open: bool = False, **configuration: str) -> Expected:
    metadata = {
        "schemaString": json.dumps(SCHEMA),
        "partitionColumns": ["place"],
        "configuration": {"a": "b", **configuration},
    }
    state = TableAtVersion(5, "id", 6, 100, 1_700_000_000_000, has_own_time=True)
    point: Any = KeptPoint(DOCUMENT, BucketPrefix("vault"), {"table": "s3a://lake/t"}, {})  # type: ignore[typeddict-item]
    return Expected(RestorableVersion(point, state, (), (), metadata, {}), is_open, FILES, None)


def seen(**changed: Any) -> dict[str, Any]:
    facts = {"version": 5, "files": 6, "bytes": 100, "rows": 9, "columns": columns_of(SCHEMA), "features": [READ_ONLY]}
    files = {"fingerprint": FILES, "counted": [4, 4]}
    return files | facts | {"partition_columns": ["place"], "properties": {"a": "b"}} | changed


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"files": 7}, "Spark sees files 7, and 6 is expected."),
        ({"version": 4}, "Spark sees version 4, and 5 is expected."),
        ({"bytes": 1}, "Spark sees bytes 1, and 100 is expected."),
        ({"rows": 7}, "Spark counts 7 rows, deltalake 9."),
        ({"features": ["appendOnly"]}, "Spark does not see that it is read-only."),
        ({"columns": {}}, "Spark sees other columns than the log of the backup has."),
        ({"partition_columns": ["id"]}, "Spark sees other partition columns than the log of the backup has."),
        ({"properties": {"a": "c"}}, "Spark sees other table properties than the log of the backup has."),
        (
            {"fingerprint": FILES | {"digest": ""}},
            OTHER_FILES,
        ),
        ({"counted": [5, 4]}, COUNTED),
    ],
)
def test_what_one_reader_sees_otherwise_is_said(changed, says):
    assert differences(expected(is_open=True), seen(**changed), seen()) == [says]
    assert differences(expected(is_open=True), seen(), seen()) == []


def test_rows_are_compared_with_those_of_the_log_where_it_counts_them():
    counted = replace(expected(), rows=9)
    assert differences(counted, written(), written()) == []
    says = [f"{name} counts 8 rows, and the log of the backup 9." for name in ("Spark", "deltalake")]
    assert differences(counted, written(rows=8), written(rows=8)) == says
    assert after_writing(counted, seen(rows=8), written(rows=8)) == [f"After its write {says[0]}"]


def test_a_reader_that_did_not_read_it_is_compared_with_nothing():
    assert differences(expected(is_open=True), seen(), {"reason": "It does not know a feature."}) == []


def test_a_table_off_its_coordinator_has_a_version_more_and_no_feature_of_it():
    coordinated = expected(**{COORDINATOR: "dynamodb"})
    assert differences(coordinated, seen(version=6), seen(version=6)) == []
    [said, *_] = differences(coordinated, seen(), seen(version=6))
    assert said == "Spark sees version 5, and 6 is expected."
    attached = seen(version=6, features=["coordinatedCommits-preview"])
    assert differences(coordinated, attached, seen(version=6)) == ["Spark sees a feature of a commit coordinator."]
    attached = seen(version=6, properties={"a": "b", COORDINATOR: "dynamodb"})
    assert "Spark sees other table properties" in differences(coordinated, attached, seen(version=6))[0]


def written(**changed: Any) -> dict[str, Any]:
    return seen(version=6, properties={"a": "b", RESTORED_FROM: "s3a://lake/t@5"}) | changed


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"rows": 8}, "After its write Spark counts 8 rows, and 9 before."),
        ({"version": 7}, "After its write Spark sees version 7, and 6 is expected."),
        ({"version": 5, "properties": {"a": "b"}}, "After its write Spark does not see it."),
        ({"files": 5}, "After its write Spark sees files 5, and 6 is expected."),
        ({"counted": [5, 4]}, f"After its write {COUNTED}"),
        ({"fingerprint": FILES | {"digest": ""}}, f"After its write {OTHER_FILES}"),
    ],
)
def test_what_a_write_has_changed_otherwise_is_said(changed, says):
    assert after_writing(expected(), seen(), written(**changed)) == [says]
    assert after_writing(expected(), seen(), written()) == []


def test_a_restore_that_was_written_to_before_is_read_as_such():
    assert differences(expected(), written(), written()) == []


def test_the_mark_of_an_earlier_restore_is_none_of_this_one():
    of_a_restored_table = expected(**{RESTORED_FROM: "s3a://lake/t@2"})
    before = seen(properties={"a": "b", RESTORED_FROM: "s3a://lake/t@2"})
    assert differences(of_a_restored_table, before, before) == []
    assert after_writing(of_a_restored_table, before, written()) == []
