"""A whole Levee as `levee run` starts it: its processes, its sandbox lake, and the proof that it leaves nothing."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from dashboard.processes import redis
from dashboard.processes.lock import free_port
from dashboard.web.health import redis_answers
from lake.spark.session import SHORT_LIVED_JVM
from sandbox.log_store_tables import SAMPLES
from tests.processes.builders import processes_of
from tests.waiting import scaled, wait_until

MANAGE = str(Path(settings.BASE_DIR, "manage.py"))
START_SECONDS = scaled(120.0)
STOP_SECONDS = scaled(60.0)
SIGN_IN = re.compile(r"Sign in as admin, operator or viewer with the password (\S+)")


@dataclass(frozen=True)
class Levee:
    """Where the console answers, and the password that the person of each role signs in with."""

    url: str
    password: str
    home: Path


@contextmanager
def running_levee(home: Path) -> Iterator[Levee]:
    """Start everything but Spark, give it once the list shows every sample, and end it as Ctrl-C does."""
    port = free_port()
    words = [sys.executable, MANAGE, "run", "--no-spark"]
    process = subprocess.Popen(
        words,
        env=_environment(home, PORT=str(port)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines: list[str] = []
    threading.Thread(target=lambda: lines.extend(process.stdout or ()), daemon=True).start()
    try:
        _wait(lambda: process.poll() is not None or SIGN_IN.search("".join(lines)) is not None, "no sign-in", lines)
        found = SIGN_IN.search("".join(lines))
        assert found, "".join(lines)
        _wait(lambda: _listed(home) >= {sample.uri for sample in SAMPLES}, "not every sample was listed", lines)
        yield Levee(f"http://127.0.0.1:{port}", found.group(1), home)
    finally:
        _stop(process)
    assert process.returncode == 0, "".join(lines[-40:])
    assert processes_of(home) == set()
    assert not redis_answers(redis.broker_url(home))


def _environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"REDIS_URL", "DATABASE_URL"}}
    return {**kept, "LEVEE_HOME": str(home), "JAVA_TOOL_OPTIONS": SHORT_LIVED_JVM, **more}


def _listed(home: Path) -> set[str]:
    """The tables that the list shows as read."""
    words = [sys.executable, MANAGE, "tables", "--json"]
    done = subprocess.run(
        words, env=_environment(home), capture_output=True, text=True, check=True, timeout=START_SECONDS
    )
    return {table["uri"] for table in json.loads(done.stdout) if table["observed_at"]}


def _wait(happened: Callable[[], bool], sentence: str, lines: list[str]) -> None:
    assert wait_until(happened, 120, every=0.2), f"{sentence} in time:\n{''.join(lines[-40:])}"


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=STOP_SECONDS)
