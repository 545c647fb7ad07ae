"""A backup as an operator asks for it, on real Spark and the sandbox's S3, from listing to reconciliation."""

import json
from itertools import count
from types import SimpleNamespace

import pytest
import urllib3
from django.core.management import call_command

from backups.runs import spark_pipeline
from backups.runs.stages.inventory import ensure_bucket
from dashboard.connections.access import lake_access
from dashboard.connections.models import Connection
from lake.aws.access import open_lake
from sandbox.client import REGION, Client
from tests.backups.runs.world import make_plan
from tests.sandboxlake import sandbox_lake
from tests.sparkworker import warm_worker  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]

KEYS = (
    "a b",
    "a+b",
    "a%20b",
    "a\"b'c",
    "day=2026-11-20/part 1",
    "ünï/☃",
    "%",
    "_delta_log/00000000000000000000.json",
)
ROLE = "arn:aws:iam::123456789012:role/levee-backup"
numbers = count(1)


@pytest.fixture
def lake(tmp_path, settings) -> Client:
    settings.SANDBOX_ENDPOINT_FILE = tmp_path / "endpoint"
    settings.SANDBOX_ENDPOINT_FILE.write_text(sandbox_lake().origin)
    Connection.objects.create(name="prod", region=REGION, endpoint_url=sandbox_lake().origin)
    return sandbox_lake()


@pytest.fixture
def buckets(lake) -> tuple[str, str]:
    """A source and a destination of this test's own."""
    number = next(numbers)
    source, vault = f"run-source-{number}", f"run-vault-{number}"
    lake.create_bucket(source)
    lake.create_bucket(vault)
    for key in KEYS:
        lake.put(source, f"warehouse/orders/{key}", key.encode())
    lake.put(source, "warehouse/orders/empty", b"")
    lake.put(source, "warehouse/orders/large", b"x" * 5_000)
    return source, vault


@pytest.fixture
def never_by_itself(lake):
    """S3 delivers only when it is told to."""
    urllib3.request("PUT", f"{lake.origin}/_sandbox/rules", body=b'{"delivery_seconds": 3600}')
    yield
    urllib3.request("DELETE", f"{lake.origin}/_sandbox/rules")


@pytest.fixture
def backup(monkeypatch, warm_worker, capsys):  # noqa: F811
    class Warm:
        def borrow(self, *_: object) -> object:
            return warm_worker

    monkeypatch.setattr(spark_pipeline, "spark", Warm())
    monkeypatch.setattr("backups.advancing.time", SimpleNamespace(sleep=lambda seconds: None))

    def run(*words: str) -> dict:
        capsys.readouterr()
        call_command("backup", *words, "--json")
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize(("engine", "copied_again"), [("spark", 0), ("s3-batch", 1)])
def test_every_object_arrives_whole_and_a_second_run_copies_the_new_and_the_log(
    lake, buckets, backup, settings, engine, copied_again
):
    """The log is in every manifest; Spark looks before it copies, S3 does not."""
    settings.BACKUP_COPY_LIMIT_BYTES = 4_000
    source, vault = buckets
    make_plan(source=f"s3a://{source}/warehouse/", destination=f"s3a://{vault}/pool/", engine=engine, role_arn=ROLE)

    first = backup("run", "warehouse-daily")

    assert (first["state"], first["objects"]["copied"]) == ("complete", len(KEYS) + 2)
    assert {job["lane"]: job["engine"] for job in first["copy_jobs"]} == {"copy": engine, "multipart": "spark"}
    for key in KEYS:
        assert lake.get(vault, f"pool/warehouse/orders/{key}") == key.encode()
    assert len(lake.get(vault, "pool/warehouse/orders/large")) == 5_000

    lake.put(source, "warehouse/orders/new", b"new")
    second = backup("run", "warehouse-daily")
    assert (second["state"], second["objects"]["copied"]) == ("complete", 1 + copied_again)
    assert second["objects"]["already_there"] == len(KEYS) + 2 - copied_again


@pytest.mark.parametrize("form", ["Parquet", "ORC", "CSV"])
def test_a_run_takes_the_inventory_that_s3_delivered(lake, buckets, backup, never_by_itself, form):
    source, vault = buckets
    lake.create_bucket(f"lists-{source}")
    place = f"s3a://lists-{source}/{source}/levee/"
    make_plan(
        source=f"s3a://{source}/", destination=f"s3a://{vault}/", inventory=place, minimum_lag_hours=0, role_arn=ROLE
    )
    backup("inventory", "warehouse-daily", "--format", form)
    answer = urllib3.request("POST", f"{lake.origin}/_sandbox/inventory?bucket={source}&id=levee")
    assert answer.status == 200
    lake.put(source, "warehouse/orders/after", b"written after the inventory")
    lake.delete(source, "warehouse/orders/empty")

    run = backup("run", "warehouse-daily")

    assert run["state"] == "complete_with_gaps"
    assert (run["objects"]["copied"], run["objects"]["vanished"]) == (len(KEYS) + 1, 1)
    assert run["objects"]["listed"] == len(KEYS) + 2
    assert [lake.get(vault, f"warehouse/orders/{key}") for key in KEYS] == [key.encode() for key in KEYS]


def test_a_bucket_is_made_once(lake):
    with open_lake(lake_access(Connection.objects.get())) as opened:
        name = f"snapshot-2026-11-{next(numbers):02}"
        ensure_bucket(opened.s3, name, REGION)
        ensure_bucket(opened.s3, name, REGION)

        assert next(iter(opened.s3.list(name, ""))).objects == ()
