"""Session settings, their escaping, the matrix of engines, and the moves."""

import ast
import shlex

import pytest

from coordinator.coordination.compatibility import DELTALAKE, ReadSupport, WriteSupport, matrix
from coordinator.coordination.pasting import cluster_conf, pyspark, spark_submit
from coordinator.coordination.releases import release_named
from coordinator.coordination.session_conf import WriterConfig, settings_for
from coordinator.protocols.coordinator_conf import endpoint_mismatch, read_conf
from lake.delta.facts import Mechanism
from tests.coordinator.coordination.situations import conf

WORLD = WriterConfig("eu-west-1", log_store="delta_log", coordinator="commits")
HOSTILE = ["plain", "a b", "it's", 'a"b', "a\\b", "$HOME `id`", "é", "😀", "a\nb", " lead", "#x"]


def keys(mechanism: Mechanism, world: WriterConfig = WORLD, release: str = "4.4.0") -> dict[str, str]:
    return {one.key: one.value for one in settings_for(mechanism, world, release_named(release))}


@pytest.mark.parametrize(("release", "package"), [("4.4.0", "software.amazon.awssdk"), ("3.3.2", "com.amazonaws.auth")])
def test_credentials_are_spelled_as_the_releases_sdk_has_them(release: str, package: str) -> None:
    world = WriterConfig("eu-west-1", environment_credentials=True)

    found = keys(Mechanism.SINGLE_DRIVER, world, release)

    assert found["spark.hadoop.fs.s3a.aws.credentials.provider"].startswith(package)


@pytest.mark.parametrize("value", HOSTILE)
def test_a_shell_reads_back_what_was_pasted(value: str) -> None:
    words = shlex.split(spark_submit([("k", value)], ["p"]).replace(" \\\n", " "))

    assert f"k={value}" in words


@pytest.mark.parametrize("value", HOSTILE)
def test_python_reads_back_what_was_pasted(value: str) -> None:
    tree = ast.parse(pyspark([("k", value)], ["p"]))

    assert value in [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_properties_file_stays_one_line_of_ascii(value: str) -> None:
    line = cluster_conf([("k", value)], ["p"]).splitlines()[1:]

    assert len(line) == 1
    assert line[0].isascii()


def test_a_properties_file_doubles_backslashes_and_escapes_what_is_not_ascii() -> None:
    assert cluster_conf([("k", "a\\b\né😀")], ["p"]).splitlines()[1] == "k a\\\\b\\u000a\\u00e9\\ud83d\\ude00"


def row(mechanism: Mechanism, name: str, version: str, features: tuple[str, ...] = ()):
    rows = matrix(mechanism, features, features)
    return next(one for one in rows if one.name == name and version in one.versions)


def test_a_feature_that_deltalake_lacks_shuts_it_out() -> None:
    found = row(Mechanism.SINGLE_DRIVER, DELTALAKE, "1.6.1", ("vacuumProtocolCheck",))

    assert (found.read, found.write) == (ReadSupport.REFUSED, WriteSupport.REFUSED)
    assert "vacuumProtocolCheck" in found.reason


@pytest.mark.parametrize(
    ("endpoint", "own", "words"),
    [
        ("https://dynamodb.eu-west-1.amazonaws.com", "", ""),
        ("https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com", "", ""),
        ("https://dynamodb.us-east-1.amazonaws.com", "", "signs for us-east-1"),
        ("https://dynamodb.eu-west-1.amazonaws.com.evil.example", "", "is not AWS's"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/", ""),
        ("http://127.0.0.1:8001", "http://127.0.0.1:8000", "reaches DynamoDB at"),
        ("https://user@dynamodb.eu-west-1.amazonaws.com", "", "is no origin"),
        ("nonsense", "", "is no origin"),
    ],
)
def test_an_endpoint_has_to_be_the_one_that_levee_reads(endpoint: str, own: str, words: str) -> None:
    said = endpoint_mismatch(endpoint, "eu-west-1", own)

    assert words in said
    assert bool(said) is bool(words)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '"x"', "[" * 100_000])
def test_settings_that_are_no_json_object_are_a_problem(text: str) -> None:
    assert read_conf(conf() | {"delta.coordinatedCommits.commitCoordinatorConf-preview": text}).problem
