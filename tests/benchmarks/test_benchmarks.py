"""The benchmarks run at a tiny size, and contestants whose answers differ end them."""

import pytest

from benchmarks import backup_data, dynamodb_scan
from benchmarks.answers import Bucket, StoredTable, filing, reading
from benchmarks.harness import compete
from benchmarks.server import serve
from lake.aws.access import Access, open_lake

pytestmark = pytest.mark.process

OBJECTS = {key: key.encode() for key in ("a b/1", "a b/2", "c/1+", "c/2", "d", "é/😀")}


def opened(url):
    return open_lake(Access("us-east-1", endpoint_url=url, static_credentials=("key", "secret")))


def test_the_server_answers_as_s3_and_dynamodb_do():
    table = StoredTable("delta_log", "tablePath", "fileName", dynamodb_scan.entries(1_200))
    with serve(reading({"lake": Bucket(OBJECTS)}, {"delta_log": table})) as standin:
        with opened(standin.url) as lake:
            for most in (1, 1000):
                pages = list(lake.s3.list("lake", "", delimiter="/", max_keys=most))
                assert [prefix for page in pages for prefix in page.prefixes] == ["a b/", "c/", "é/"]
            assert lake.s3.get("lake", "c/1+", first=-2).data == b"1+"
            assert lake.s3.head("lake", "d").size == 1
            path = "s3a://acme-lake-prod/warehouse/sales/orders_00007"
            [forward] = lake.dynamodb.query("delta_log", "tablePath", path)
            [newest] = lake.dynamodb.query("delta_log", "tablePath", path, newest_first=True, limit=1)
            at_least = forward[1]["fileName"]["S"]
            [later] = lake.dynamodb.query("delta_log", "tablePath", path, range_name="fileName", at_least=at_least)
            assert (len(forward), forward[-1:], forward[1:]) == (3, newest, later)
        assert dynamodb_scan.scan_with_levee(standin.url) == dynamodb_scan.scan_with_boto3(standin.url) == 1_200


def test_files_are_written_and_read_by_ranges(tmp_path):
    with serve(filing(tmp_path)) as standin, opened(standin.url) as lake:
        lake.s3.put("bench", "a/b c", b"0123456789")
        assert lake.s3.get("bench", "a/b c", first=2, last=4).data == b"234"
        assert lake.s3.head("bench", "a/b c").size == 10
        assert lake.s3.head("bench", "absent") is None
    assert (tmp_path / "bench" / "a" / "b c").read_bytes() == b"0123456789"


def test_contestants_whose_results_differ_end_the_contest():
    with pytest.raises(AssertionError, match="the results differ"):
        compete({"one": lambda: 1, "other": lambda: 2})


@pytest.mark.spark
@pytest.mark.parametrize("name", ["backup_copy", "backup_reconcile", "backup_plan"])
def test_a_benchmark_of_backups_runs_and_its_contestants_agree(name, tmp_path, monkeypatch, capsys):
    from importlib import import_module

    from tests.jvms import JVMS

    module = import_module(f"benchmarks.{name}")
    for one in (backup_data, module):
        monkeypatch.setattr(one, "HOME", tmp_path)
    for setting, number in {"ROUNDS": "1", "ROWS": "3000", "OBJECTS": "30"}.items():
        monkeypatch.setenv(f"LEVEE_BENCH_{setting}", number)
    with JVMS.room(2):
        module.main()
    assert "target at most" in capsys.readouterr().out
