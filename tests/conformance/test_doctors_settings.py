"""A session that is started with the lines that the doctor gives commits through the store that they name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coordinator.writers.doctor import examine
from coordinator.writers.pairs import read_pairs
from coordinator.writers.session import ObservedPlace
from lake.delta.facts import Mechanism
from lake.spark.jars import class_path
from lake.spark.session import SHORT_LIVED_JVM, LakeEndpoint, session_settings
from lake.spark.sql import delta_path
from sandbox.client import REGION, Client
from sandbox.ground import DELTA_COMMITS
from tests.conformance.conftest import BUCKET
from tests.coordinator.writers.test_rules import written
from tests.jars_home import JARS_HOME
from tests.jvms import JVMS
from tests.waiting import scaled

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = "spark.databricks.delta.properties.defaults.managedCommits"


def brought(stores: Client) -> str:
    """Settings as the previews' pages have them, with S3A told to create files without a look."""
    conf = json.dumps({"dynamoDBTableName": DELTA_COMMITS, "dynamoDBEndpoint": stores.dynamodb_origin})
    return "\n".join(
        (
            f"{DEFAULT}.commitOwner-preview dynamodb",
            f"{DEFAULT}.commitOwnerConf-preview {conf}",
            "spark.databricks.delta.coordinatedCommits.commitCoordinator.ddb.awsCredentialsProviderName "
            "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider",
            "spark.hadoop.fs.s3a.aws.credentials.provider "
            "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider",
            "spark.hadoop.fs.s3a.performance.flags create",
            "",
        )
    )


def write(text: str, uri: str, client: Client, scratch: Path) -> None:
    """Create a table and append to it, in a session of its own with the settings of a text."""
    ground = session_settings(
        LakeEndpoint(REGION, client.origin), jars=class_path(JARS_HOME), scratch=scratch, java_options=SHORT_LIVED_JVM
    )
    own = {entry.key: entry.value for entry in read_pairs(text).entries}
    table = delta_path(uri)
    statements = [f"CREATE TABLE {table} (id BIGINT) USING DELTA", f"INSERT INTO {table} VALUES (1)"]  # noqa: S608 - quoted
    keys = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox", "SPARK_LOCAL_IP": "127.0.0.1"}
    with JVMS.room():
        subprocess.run(
            [sys.executable, "-m", "tests.conformance.writer_session"],
            input=json.dumps({"settings": ground | own, "statements": statements}),
            env={**os.environ, **keys},
            cwd=ROOT,
            text=True,
            check=True,
            timeout=scaled(180),
        )


def registrations(client: Client, uri: str) -> list[dict]:
    items = client.dynamodb("Scan", TableName=DELTA_COMMITS, ConsistentRead=True)["Items"]
    return [item for item in items if item["path"]["S"] == uri]


def test_commits_of_a_mended_session_go_through_the_store_that_it_names(stores: Client, tmp_path: Path) -> None:
    """The same text uncorrected makes the table too, and registers it nowhere."""
    text = brought(stores)
    observed = ObservedPlace(
        mechanism=Mechanism.COORDINATED_COMMITS,
        region=REGION,
        coordinator=DELTA_COMMITS,
        endpoint=stores.dynamodb_origin,
    )
    found = examine(text, observed)
    assert all(one.lines for one in found.findings)

    write(text, f"s3a://{BUCKET}/doctor/as-brought", stores, tmp_path)
    write(written(text, found), f"s3a://{BUCKET}/doctor/corrected", stores, tmp_path)

    assert registrations(stores, f"s3a://{BUCKET}/doctor/as-brought") == []
    (item,) = registrations(stores, f"s3a://{BUCKET}/doctor/corrected")
    assert item["tableVersion"] == {"N": "1"}
    assert item["hasAcceptedCommits"] == {"BOOL": True}
