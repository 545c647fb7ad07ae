"""The printed script: it compiles whatever is in it, can be pasted line by line, and says what it did not prove."""

import ast
import code
import contextlib
import io

import pytest

from coordinator.writer_tests.actions import IN_SESSION, script_of
from tests.coordinator.writer_tests.sessions import ConnectSession

TOKEN = "0123456789abcdef" * 2
URI = f"s3a://lake/_levee_writer_test/{TOKEN}"
PROPERTIES = {"delta.x": '{"dynamoDBTableName":"delta_commits"}'}
HOSTILE = ["it's", 'a"b', "a\\b", '""" + x', "é", "\U0001f600", "a\nb", "{0} %s", "\ud800", "'); import os #"]


def printed(session: object, script: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script, "printed", "exec"), {"spark": session})  # noqa: S102 - as whoever pastes it would
    return out.getvalue()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values_arrive_as_they_are_and_run_nothing(name: str) -> None:
    call = ast.parse(script_of(TOKEN, f"s3a://lake/{name}", {name: name})).body[-1]

    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert [ast.literal_eval(one) for one in call.value.args[1:]] == [TOKEN, f"s3a://lake/{name}", {name: name}]


def test_an_interactive_python_takes_it_line_by_line() -> None:
    out, console = io.StringIO(), code.InteractiveConsole({"spark": ConnectSession()})
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        for line in [*script_of(TOKEN, URI, PROPERTIES).split("\n"), ""]:
            console.push(line)

    assert "Error" not in out.getvalue()
    assert f"levee writer-test --check {TOKEN}" in out.getvalue()


def test_it_takes_no_module_but_pythons_own() -> None:
    named = {one.module or "" for one in ast.walk(ast.parse(IN_SESSION.read_text())) if isinstance(one, ast.ImportFrom)}

    assert named == {"__future__", "collections.abc", "concurrent.futures", "functools", "typing"}


def test_behind_spark_connect_it_says_what_was_not_proven() -> None:
    said = printed(ConnectSession(), script_of(TOKEN, URI, {}))

    assert "NOT PROVEN: behind Spark Connect the log store's class" in said
    assert "proven by the items in DynamoDB" in said


def test_it_touches_its_own_table_alone() -> None:
    session = ConnectSession()

    printed(session, script_of(TOKEN, URI, PROPERTIES))

    assert session.places == {URI}
    assert session.options == PROPERTIES


def test_rivals_that_gave_way_pass() -> None:
    said = printed(ConnectSession(), script_of(TOKEN, URI, PROPERTIES))

    assert "13 commits were accepted, 0 refused; 5 had to give way" in said
    assert "PASSED in this session" in said


def test_an_accepted_row_that_is_lost_fails() -> None:
    said = printed(ConnectSession(loses=lambda row: row == 13), script_of(TOKEN, URI, PROPERTIES))

    assert "FAILED: rows were accepted and are lost: {13}." in said
    assert "PASSED" not in said


def test_a_table_without_the_coordinator_fails() -> None:
    script = script_of(TOKEN, URI, PROPERTIES).replace("writer = writer.option(key, value)", "pass")

    said = printed(ConnectSession(), script)

    assert "FAILED: the table has delta.x = None." in said


def test_settings_that_may_hold_secrets_are_not_printed() -> None:
    session = ConnectSession()
    session.conf = {
        "spark.hadoop.fs.s3a.secret.key": "hunter2",
        "spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName": "delta_log",
    }

    said = printed(session, script_of(TOKEN, URI, {}))

    assert "ddb.tableName = delta_log" in said
    assert "hunter2" not in said
