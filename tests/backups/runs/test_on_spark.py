"""A backup as an operator asks for it, on real Spark and the sandbox's S3, from listing to reconciliation."""

import json
from itertools import count

import pytest
from django.core.management import call_command

from backups.runs import spark_pipeline
from backups.runs.buckets import ensure_bucket
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
    source, vault = f"backup-source-{number}", f"backup-vault-{number}"
    lake.create_bucket(source)
    lake.create_bucket(vault)
    for key in KEYS:
        lake.put(source, f"warehouse/orders/{key}", key.encode())
    lake.put(source, "warehouse/orders/empty", b"")
    lake.put(source, "warehouse/orders/large", b"x" * 5_000)
    return source, vault


@pytest.fixture
def backup(monkeypatch, warm_worker, capsys):  # noqa: F811
    class Warm:
        def borrow(self, *_: object) -> object:
            return warm_worker

    monkeypatch.setattr(spark_pipeline, "spark", Warm())
    monkeypatch.setattr("backups.advancing.time.sleep", lambda seconds: None)

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


def test_a_bucket_is_made_once(lake):
    with open_lake(lake_access(Connection.objects.get())) as opened:
        name = f"snapshot-2026-11-{next(numbers):02}"
        ensure_bucket(opened.s3, name, REGION)
        ensure_bucket(opened.s3, name, REGION)

        assert next(iter(opened.s3.list(name, ""))).objects == ()
