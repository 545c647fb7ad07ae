"""`levee doctor`: findings with the lines to write, what is compared, and exit codes."""

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from coordinator.models import CommitStore
from coordinator.writers.doctor import Examination
from dashboard.commands import Failed, UsageError
from tests.builders.lake import make_store, make_table

pytestmark = pytest.mark.django_db

LOG = "spark.io.delta.storage.S3DynamoDBLogStore"
WRONG = f"spark.delta.logStore.s3a.impl io.delta.storage.S3DynamoDBLogStore\n{LOG}.ddb.ttl 0\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "spark-defaults.conf"
    path.write_text(WRONG)
    return path


def document(*words: object) -> dict[str, Any]:
    """The document that is printed; a finding ends in Failed after it."""
    out = io.StringIO()
    with suppress(Failed):
        call_command("doctor", *map(str, words), "--json", stdout=out, stderr=io.StringIO())
    return dict(json.loads(out.getvalue()))


def test_findings_are_one_document(file: Path) -> None:
    found = document(file)

    assert found.keys() == Examination.__annotations__.keys()
    assert [(one["rule"], one["lines"]) for one in found["findings"]] == [("ttl", [f"{LOG}.ddb.ttl=86400"])]
    assert found["compared_with"] is None


def test_a_finding_is_exit_1_and_a_sound_text_is_not(file: Path) -> None:
    out = io.StringIO()
    with pytest.raises(Failed, match="1 finding"):
        call_command("doctor", str(file), stdout=out)
    assert "CRITICAL" in out.getvalue()
    assert "ttl=86400" in out.getvalue()

    file.write_text(WRONG.replace("ttl 0", "ttl 86400"))
    out = io.StringIO()
    call_command("doctor", str(file), stdout=out)
    assert "No rule found anything." in out.getvalue()


def test_a_text_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(WRONG))

    assert document("-")["syntax"] == "spark-defaults.conf"


def test_a_table_is_compared_with_what_was_observed_of_it(file: Path) -> None:
    store = make_store("locks", kind=CommitStore.Kind.LOG_STORE)
    table = make_table(mechanism="log_store", store=store)

    found = document(file, "--table", table.uri)

    rules = {one["rule"]: one for one in found["findings"]}
    assert found["compared_with"] == table.uri
    assert "locks" in rules["store-name"]["instead"]
    assert table.connection.region in rules["region"]["instead"] or table.connection.region == "us-east-1"


def test_a_store_of_the_connection_that_the_table_does_not_use_is_not_compared(file: Path) -> None:
    make_store("somebody_elses", kind=CommitStore.Kind.LOG_STORE)
    table = make_table(mechanism="log_store", store=None)

    assert "store-name" not in {one["rule"] for one in document(file, "--table", table.uri)["findings"]}


def test_a_store_is_compared_by_name(file: Path) -> None:
    make_store("locks", kind=CommitStore.Kind.LOG_STORE)

    assert "store-name" in {one["rule"] for one in document(file, "--store", "locks")["findings"]}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Name a file"),
        (["/nowhere/at-all"], "cannot be read"),
        (["-", "--table", "s3a://a/b", "--store", "x"], "not with both"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(words: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call_command("doctor", *words)


def test_a_file_that_is_no_text_is_a_usage_error(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(UsageError, match="no UTF-8"):
        call_command("doctor", str(file))
