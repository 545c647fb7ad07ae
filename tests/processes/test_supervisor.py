import os
import signal
import subprocess
import sys
import time

import pytest

from dashboard.processes import logs
from dashboard.processes.lock import RunError
from tests.processes.builders import in_background, processes_of, python, said_by, wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process

SLEEPS = "import time; time.sleep(600)"
SAYS_AND_SLEEPS = "print('ready', flush=True)\nimport time; time.sleep(600)"


def test_what_a_process_says_is_in_its_file_and_on_the_terminal_where_it_fails(tmp_path, supervisor):
    boss, out = supervisor()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "web.log").write_text("of the run before")
    assert boss.run_once(python("web", "print('fine')", tmp_path)) == 0
    assert out.getvalue() == ""
    boss.say_last("Levee is at")
    assert boss.run_once(python("web", "print('failed: one'); print('two'); raise SystemExit(3)", tmp_path)) == 3

    lines = [line.split(" | ") for line in out.getvalue().splitlines()]
    told = f"web failed (exit code 3). What it said last, all of it in {tmp_path}/logs/web.log:"
    last = ["levee         ", "Levee is at"]
    assert lines[:4] == [last, ["web           ", "failed: one"], last, ["levee         ", told]]
    assert [text.strip() for _, text in lines[4:]] == ["fine", "failed: one", "two", "Levee is at"]
    assert [line.split(" ", 1)[1] for line in said_by(tmp_path, "web").splitlines()] == ["fine", "failed: one", "two"]
    assert (tmp_path / "logs" / "web.log.1").read_text() == "of the run before"


def test_a_file_that_is_full_goes_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MOST_BYTES", 100)
    log = logs.LogFile(tmp_path, "beat")
    for number in range(40):
        log.write(f"line {number}")
    kept = (tmp_path / "beat.log.1").read_text() + log.path.read_text()
    assert kept.endswith("line 39\n")
    assert len(kept) < 400


@pytest.mark.parametrize(("grace_period", "requests"), [(0.3, 0), (600, 2)])
def test_a_process_that_ignores_the_request_is_killed_after_the_grace_period_or_at_the_second_request(
    tmp_path, supervisor, grace_period, requests
):
    boss, out = supervisor(grace_period=grace_period)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SAYS_AND_SLEEPS
    boss.start(python("web", code, tmp_path))
    wait_for(lambda: "ready" in said_by(tmp_path, "web"))
    for _ in range(requests):
        boss.request_stop()
    started = time.monotonic()
    boss.stop()
    assert time.monotonic() - started < scaled(10)
    assert "web did not stop and is killed." in out.getvalue()
    assert processes_of(tmp_path) == set()


def test_what_stops_last_outlives_the_others(tmp_path, supervisor):
    boss, _ = supervisor()
    goodbye = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep({0}), print(time.monotonic(), flush=True), sys.exit()))\n"
    ) + SAYS_AND_SLEEPS
    boss.start(python("redis", goodbye.format(0), tmp_path, stops_last=True))
    boss.start(python("web", goodbye.format(0.5), tmp_path))
    wait_for(lambda: all("ready" in said_by(tmp_path, name) for name in ("redis", "web")))
    boss.stop()
    ended = {name: float(said_by(tmp_path, name).split()[-1]) for name in ("redis", "web")}
    assert ended["web"] < ended["redis"]


def test_a_process_that_is_killed_is_said_and_started_again(tmp_path, supervisor):
    boss, out = supervisor()
    boss.start(python("worker-aws", SAYS_AND_SLEEPS, tmp_path))
    wait_for(lambda: "ready" in said_by(tmp_path, "worker-aws"))
    (first,) = processes_of(tmp_path)
    watching = in_background(boss.watch)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: said_by(tmp_path, "worker-aws").count("ready") == 2)
    boss.request_stop()
    watching.join(timeout=scaled(5))
    boss.stop()
    assert "worker-aws ended (by signal SIGKILL) and is started again." in out.getvalue()


def test_a_process_that_dies_at_once_every_time_stops_everything(tmp_path, supervisor):
    boss, _ = supervisor()
    boss.start(python("beat", "raise SystemExit(2)", tmp_path))
    try:
        with pytest.raises(RunError, match=r"beat ended 3 times right after its start \(exit code 2\)"):
            boss.watch()
    finally:
        boss.stop()


def test_a_process_that_ignores_requests_to_end_does_not_outlive_a_killed_parent(tmp_path):
    ignores = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\n"
    child = python("child", f"{ignores}time.sleep(600)", tmp_path)
    starts = "import subprocess, sys; from dashboard.processes.with_parent import ending_with_parent\n"
    starts += "subprocess.Popen(ending_with_parent(sys.argv[1:]), start_new_session=True).wait()"
    with subprocess.Popen([sys.executable, "-c", starts, *child.command], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        parent.kill()
    wait_for(lambda: not processes_of(tmp_path))
