import os
import signal
import time

import pytest

from dashboard.processes.lock import RunError
from tests.processes.builders import in_background, processes_of, python, wait_for
from tests.waiting import scaled

pytestmark = pytest.mark.process

SLEEPS = "import time; time.sleep(600)"
SAYS_AND_SLEEPS = "print('ready', flush=True)\nimport time; time.sleep(600)"


def test_each_line_carries_the_name_of_its_process(tmp_path, supervisor):
    boss, out = supervisor()
    assert boss.run_once(python("web", "print('one'); print('two'); raise SystemExit(3)", tmp_path)) == 3
    assert out.getvalue().splitlines() == ["web            | one", "web            | two"]


@pytest.mark.parametrize(("grace_period", "requests"), [(0.3, 0), (600, 2)])
def test_a_process_that_ignores_the_request_is_killed_after_the_grace_period_or_at_the_second_request(
    tmp_path, supervisor, grace_period, requests
):
    boss, out = supervisor(grace_period=grace_period)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SAYS_AND_SLEEPS
    boss.start(python("web", code, tmp_path))
    wait_for(lambda: "ready" in out.getvalue())
    for _ in range(requests):
        boss.request_stop()
    started = time.monotonic()
    boss.stop()
    assert time.monotonic() - started < scaled(10)
    assert "web did not stop and is killed." in out.getvalue()
    assert processes_of(tmp_path) == set()


def test_what_stops_last_outlives_the_others(tmp_path, supervisor):
    boss, out = supervisor()
    goodbye = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep({0}), print('{1} ends', flush=True), sys.exit()))\n"
    ) + SAYS_AND_SLEEPS
    boss.start(python("redis", goodbye.format(0, "redis"), tmp_path, stops_last=True))
    boss.start(python("web", goodbye.format(0.5, "web"), tmp_path))
    wait_for(lambda: out.getvalue().count("ready") == 2)
    boss.stop()
    assert out.getvalue().index("web ends") < out.getvalue().index("redis ends")


def test_a_process_that_is_killed_is_said_and_started_again(tmp_path, supervisor):
    boss, out = supervisor()
    boss.start(python("worker-aws", SAYS_AND_SLEEPS, tmp_path))
    wait_for(lambda: "ready" in out.getvalue())
    (first,) = processes_of(tmp_path)
    watching = in_background(boss.watch)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: out.getvalue().count("ready") == 2)
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
