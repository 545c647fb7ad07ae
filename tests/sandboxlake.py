"""A sandbox in a process of its own, started once for all tests of a run that want one.

moto keeps one state per process; tests that mock AWS inside this one would wipe a lake that is served from here.
"""

import functools
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from sandbox.client import Client
from tests.endings import ENDINGS
from tests.waiting import scaled


def start_sandbox(home: Path, *options: str) -> subprocess.Popen[str]:
    """Start `python -m sandbox` on any free port in a process group of its own."""
    command = [sys.executable, "-m", "sandbox", "--port", "0", "--home", str(home), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(process: subprocess.Popen[str], words: str) -> list[str]:
    """Read the sandbox's lines up to the one that holds `words`; RuntimeError where it ends without saying them."""
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if words in line:
            return lines
    raise RuntimeError(f"the sandbox ended without saying {words!r}: {''.join(lines)}")


def end(process: subprocess.Popen[str]) -> int:
    """Ask the sandbox to end, and wait for its exit code; one that does not end is killed after 20 s."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout=scaled(20))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def reader_options(lake: Client) -> dict[str, str]:
    """How deltalake reaches this lake."""
    keys = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox", "AWS_ALLOW_HTTP": "true"}
    return keys | {"AWS_ENDPOINT_URL": lake.origin, "AWS_REGION": lake.region}


@functools.cache
def sandbox_lake() -> Client:
    """Return a client of the shared sandbox with its log store tables; tests write elsewhere, under tests/."""
    stack = ExitStack()
    ENDINGS.callback(stack.close)
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="levee-sandbox-")))
    process = start_sandbox(home, "--no-spark")
    stack.callback(end, process)
    wait_for(process, "all tables are there")
    return Client((home / "sandbox" / "endpoint").read_text())
