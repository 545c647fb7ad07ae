"""The benchmarks of backups at a tiny size: they run, and what Levee finds is what its peers find."""

import pytest

from benchmarks import backup_copy, backup_data, backup_incremental, backup_reconcile
from benchmarks.backup_plan import counts_of, duckdb_plan
from benchmarks.backup_standin import copying_s3
from tests.jvms import JVMS

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for module in (backup_data, backup_copy, backup_incremental, backup_reconcile):
        monkeypatch.setattr(module, "HOME", tmp_path)
    with JVMS.room(2):
        yield tmp_path


def test_an_inventory_of_day_two_lacks_some_objects_and_has_others_anew():
    from pyarrow.dataset import dataset

    folders = [backup_data.inventory(5_000, day=day) / "data" for day in (1, 2)]
    keys = [set(dataset(folder).to_table(["key"])["key"].to_pylist()) for folder in folders]
    assert len(keys[0]) == 5_000
    assert 0 < len(keys[0] - keys[1]) < 100
    assert backup_incremental.duckdb_difference(
        backup_data.inventory(5_000, day=2), backup_data.inventory(5_000)
    ) in range(10, 100)


def test_duckdb_gives_every_object_a_lane(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    counts = duckdb_plan(backup_data.inventory(5_000), out)
    tables = counts.pop("tables")
    assert sum(counts.values()) == 5_000
    assert min(counts.values()) > 0
    assert tables > 100


def test_the_answer_of_a_plan_is_told_as_the_peers_tell_theirs():
    result = {
        "manifests": [{"lane": "copy", "objects": 3}, {"lane": "copy", "objects": 4}],
        "archived": 1,
        "too_new": 2,
        "tables": {"count": 5},
    }
    assert counts_of(result) == {"archived": 1, "copy": 7, "multipart": 0, "tables": 5, "too_new": 2}


def test_levee_s5cmd_and_boto3_copy_every_object():
    contest, share = backup_copy.measure(30, 1, untimed=0, latency=0.001)
    assert {lap.result for laps in contest.laps.values() for lap in laps} == {30}
    assert set(share) == set(contest.laps)


def test_levee_and_duckdb_reconcile_alike():
    contest = backup_reconcile.measure(3_000, 1, {}, untimed=0)
    outcomes = contest.laps[backup_reconcile.LEVEE][0].result
    assert sum(objects for objects, _ in outcomes.values()) == 3_000
    assert {"copied ", "vanished NoSuchKey", "denied AccessDenied"} <= set(outcomes)


def test_the_standin_waits_before_each_answer(tmp_path):
    from time import perf_counter
    from urllib.request import Request, urlopen

    with copying_s3(latency=0.05, home=tmp_path, processes=1) as standin:
        began = perf_counter()
        urlopen(Request(f"{standin.url}/b/k", method="PUT", headers={"x-amz-copy-source": "/a/k"})).read()  # noqa: S310
        assert perf_counter() - began >= 0.05
        assert standin.copies == 1


def test_the_standin_keeps_the_files_of_one_bucket(tmp_path):
    from urllib.request import Request, urlopen

    with copying_s3(latency=60, home=tmp_path, processes=1) as standin:
        url = f"{standin.url}/{backup_data.BUCKET}/a/b%20c"
        urlopen(Request(url, b"0123456789", method="PUT")).read()  # noqa: S310
        assert (tmp_path / backup_data.BUCKET / "a" / "b c").read_bytes() == b"0123456789"
        assert urlopen(Request(url, headers={"Range": "bytes=-3"})).read() == b"789"  # noqa: S310
