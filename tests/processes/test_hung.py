"""A worker that runs and does not work is killed, started again, and written down."""

import os
import signal
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from dashboard.audit.models import AuditEntry
from dashboard.jobs.beats import note_beat
from dashboard.processes import hung, programs
from dashboard.processes.hung import HUNG_AFTER, replace_hung
from dashboard.processes.supervisor import Program
from tests.dashboard.jobs.builders import job
from tests.processes.builders import python, said_by, wait_for
from tests.waiting import scaled

SLEEPS = "import time; print('ready', flush=True); time.sleep(600)"


class Watched:
    """What a supervisor is asked, all its programs having been up for long."""

    def __init__(self) -> None:
        self.replaced: list[str] = []

    def up_for(self, seconds: float) -> list[Program]:
        assert seconds == HUNG_AFTER.total_seconds()
        return [*programs.workers(), Program("beat", ()), Program("web", ())]

    def replace(self, program: Program, why: str) -> None:
        self.replaced.append(program.name)

    def say(self, text: str) -> None:
        raise AssertionError(text)


@pytest.fixture
def replaced(db, monkeypatch):
    """Names of what is replaced where the given queues are silent."""
    monkeypatch.setattr(hung.connections, "close_all", lambda: None)

    def look(*silent: str) -> list[str]:
        now = timezone.now()
        for queue in settings.QUEUES:
            note_beat(queue, f"{queue}@here", now - (HUNG_AFTER if queue in silent else timedelta()))
        replace_hung(watched := Watched())
        return watched.replaced

    return look


@pytest.mark.parametrize(
    ("silent", "names"),
    [
        ([], []),
        (["aws"], ["worker-aws"]),
        (["alerts"], []),
        (["default", "alerts"], ["worker-default"]),
        (settings.QUEUES, ["worker-default", "worker-aws", "worker-spark", "beat"]),
    ],
)
def test_what_shows_no_life_is_replaced_and_written_down(replaced, silent, names):
    assert replaced(*silent) == names
    rows = AuditEntry.objects.order_by("pk").values_list("action", "target_label", "detail")
    assert list(rows) == [("worker.replace", name, "It has shown no life for 5 minutes.") for name in names]


def test_a_job_that_shows_life_keeps_its_worker(replaced):
    job("running", queue="aws", heartbeat_at=timezone.now())
    assert replaced("aws") == []


def test_before_any_worker_has_shown_life_none_is_hung(db, monkeypatch):
    monkeypatch.setattr(hung.connections, "close_all", lambda: None)
    replace_hung(watched := Watched())
    assert watched.replaced == []


@pytest.mark.process
def test_a_stopped_process_is_killed_and_started_again(tmp_path, supervisor):
    boss, out = supervisor()
    boss.start(program := python("worker-aws", SLEEPS, tmp_path))
    wait_for(lambda: "ready" in said_by(tmp_path, "worker-aws"))
    [running] = boss._running
    os.kill(running.child.pid, signal.SIGSTOP)

    assert boss.up_for(scaled(600)) == []
    assert boss.up_for(0) == [program]
    boss.replace(program, "has shown no life")

    wait_for(lambda: boss.look_after() or said_by(tmp_path, "worker-aws").count("ready") == 2)
    assert "worker-aws has shown no life: it is killed and started again." in out.getvalue()
