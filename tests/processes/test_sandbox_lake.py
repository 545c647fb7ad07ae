"""What a start does with the sandbox's lake once it is announced."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.processes import embedded
from dashboard.processes.supervisor import Program
from sandbox.backup_samples import PLANS, declaration

pytestmark = pytest.mark.process


class Recorder:
    """Takes the programs that would run; `codes` are the exit codes of those named."""

    stopping = False

    def __init__(self, **codes: int) -> None:
        self.codes = codes
        self.ran: list[tuple[str, ...]] = []

    def wait_until(self, ready: Callable[[], bool], waiting_for: str) -> None:
        assert ready()

    def run_once(self, program: Program) -> int:
        self.ran.append(program.command[2:])
        return self.codes.get(program.name, 0)

    def say(self, text: str) -> None:
        assert "not shown" in text


@pytest.fixture
def choices(tmp_path: Path) -> Callable[..., embedded.Choices]:
    def make(**changes: bool) -> embedded.Choices:
        made = embedded.Choices(tmp_path, 0, with_sandbox=True, with_redis=False, **changes)
        made.lake_file.parent.mkdir()
        made.lake_file.write_text(declaration())
        made.endpoint_file.write_text("http://127.0.0.1:9")
        return made

    return make


def test_each_sample_plan_is_run_anew(choices: Callable[..., embedded.Choices]) -> None:
    recorder = Recorder()
    embedded._declare_sandbox_lake(choices(), recorder)
    assert [words[0] for words in recorder.ran[:2]] == ["apply", "observe"]
    assert recorder.ran[2:] == [("backup", "run", plan.name, "--anew", "--enqueue") for plan in PLANS]


def test_nothing_is_run_of_a_lake_that_could_not_be_declared(choices: Callable[..., embedded.Choices]) -> None:
    recorder = Recorder(apply=1)
    embedded._declare_sandbox_lake(choices(), recorder)
    assert len(recorder.ran) == 1
