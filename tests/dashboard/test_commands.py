"""What all commands share: the document on stdout, the sentence on stderr, the exit code."""

import io
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import OperationalError

from dashboard.accounts.gate import NotAllowed
from dashboard.accounts.roles import Role
from dashboard.commands import Failed, JsonCommand, UsageError, columns
from dashboard.jobs.actions import JobBusy
from dashboard.jobs.models import Job


@dataclass(frozen=True)
class Row:
    name: str


class Command(JsonCommand):
    """Raises what it is given, else prints one document."""

    error: BaseException | None = None

    def handle(self, *args: Any, **options: Any) -> None:
        if self.error:
            raise self.error
        self.note("A remark.")
        self.emit({"at": datetime(2026, 11, 20, 10, tzinfo=UTC), "row": Row("a"), "set": {2, 1}}, ["line 1", "line 2"])


def run_from_shell(error: BaseException | None, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    command = Command(stdout=out, stderr=err)
    command.error = error
    try:
        command.run_from_argv(["manage.py", "test-command", *words])
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("connections_stay_open")]


@pytest.fixture
def connections_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command from a shell closes the process's connections at its end, which here are the tests' own."""
    monkeypatch.setattr("django.core.management.base.connections.close_all", lambda: None)


def test_json_is_one_document_on_stdout_and_remarks_are_on_stderr() -> None:
    code, out, err = run_from_shell(None, "--json")
    assert json.loads(out) == {"at": "2026-11-20T10:00:00Z", "row": {"name": "a"}, "set": [1, 2]}
    assert (code, err) == (0, "A remark.\n")


def test_without_json_the_text_is_printed() -> None:
    assert run_from_shell(None)[1] == "line 1\nline 2\n"


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (Failed("It did not work."), 1, "It did not work.\n"),
        (UsageError("That makes no sense."), 2, "That makes no sense.\n"),
        (NotAllowed("lake.declare", Role.ADMIN), 1, "lake.declare needs the role admin."),
        (JobBusy(Job(title="Observe prod", state="running")), 1, "Job "),
        (KeyboardInterrupt(), 1, "Interrupted.\n"),
        (OperationalError("no such table: x"), 1, "The database cannot be used (no such table: x)."),
    ],
)
def test_a_failure_is_one_sentence_on_stderr_and_nothing_on_stdout(
    error: BaseException, code: int, sentence: str
) -> None:
    ended, out, err = run_from_shell(error, "--json")
    assert (ended, out) == (code, "")
    assert err.startswith(sentence)
    assert "Traceback" not in err


def test_columns_line_up() -> None:
    assert columns(("A", "LONG"), [("x", None), ("yyy", 2)]) == ["A    LONG", "x    -", "yyy  2"]
