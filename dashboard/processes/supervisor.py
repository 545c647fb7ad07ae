"""Start processes, keep their lines in files, start again what dies, and end all together.

A process that dies is said and started again, because a console that is left alone for weeks has to outlive one
worker that the kernel killed; one that dies at once three times in a row has a fault that starting again cannot mend,
and stops everything.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from dashboard.processes.lock import RunError
from dashboard.processes.logs import LogFile
from dashboard.processes.with_parent import ending_with_parent

CHECKOUT = Path(__file__).resolve().parents[2]
QUICK_DEATH_SECONDS = 10.0
QUICK_DEATHS_ALLOWED = 3
LOOK_EVERY_SECONDS = 0.1
SAY_EVERY_SECONDS = 5.0
EXAMINE_EVERY_SECONDS = 15.0
FAILED = "failed: "
"""A process's line that begins so is said on the terminal too."""
# For the C library: threads that wait most of the time share two heaps, and what is freed goes back to the system.
_GIVING_MEMORY_BACK = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_TRIM_THRESHOLD_": "65536",
}


@dataclass(frozen=True)
class Program:
    """A command line that runs under a name; `stops_last` for what the others need in order to stop well, `queues`
    for the worker of these."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stops_last: bool = False
    queues: tuple[str, ...] = ()


@dataclass
class _Running:
    program: Program
    child: subprocess.Popen[bytes]
    reader: threading.Thread
    started_at: float
    stays: bool
    quick_deaths: int = 0


class Supervisor:
    """The processes of one Levee; `grace_period` is how many seconds each may take to stop before it is killed.

    `out` gets what the supervisor says itself, the folder `logs` a file of what each process says.
    """

    def __init__(self, out: TextIO, logs: Path, *, grace_period: float = 10.0) -> None:
        self.grace_period = grace_period
        self._out = out
        self._folder = logs
        self._logs: dict[str, LogFile] = {}
        self._stays_last: tuple[str, ...] = ()
        self._printing = threading.Lock()
        self._running: list[_Running] = []
        self._stop_requests = 0

    # -- what is said

    def say(self, *lines: str, name: str = "levee") -> None:
        """Print lines under a process's name, and again what stays last; a terminal that has gone is no reason to
        fail."""
        with self._printing, suppress(OSError, ValueError):
            self._out.writelines(f"{name:<14} | {line}\n" for line in lines)
            if not self.stopping:
                self._out.writelines(f"{'levee':<14} | {line}\n" for line in self._stays_last)
            self._out.flush()

    def say_last(self, *lines: str) -> None:
        """Print lines that stay the last ones, whatever is said after them, until a signal asks for the end."""
        self._stays_last = lines
        self.say()

    @contextmanager
    def step(self, done: str) -> Iterator[None]:
        """Say after the block what is done, and in how many seconds."""
        began = time.monotonic()
        yield
        if not self.stopping:
            self.say(f"{done} ({time.monotonic() - began:.1f} s)")

    def _say_end(self, name: str, text: str) -> None:
        """Say how a process ended, with its last lines and where all of them are."""
        log = self._logs[name]
        self.say(f"{name} {text} What it said last, all of it in {log.path}:", *(f"    {line}" for line in log.last))

    # -- starting

    def start(self, program: Program) -> None:
        """Start a program that is meant to stay."""
        self._running.append(self._spawn(program, stays=True))

    def run_once(self, program: Program) -> int:
        """Run a program that is meant to end, and return its exit code; a stop request ends it."""
        running = self._spawn(program, stays=False)
        self._running.append(running)
        for _ in self._looking_after(lambda: running.child.poll() is not None):
            pass
        code = running.child.returncode or 0
        if not self.stopping:
            self._running.remove(running)
            running.reader.join(timeout=1)
            if code:
                self._say_end(program.name, f"failed ({_how(code)}).")
        return code

    def wait_until(self, ready: Callable[[], bool], waiting_for: str) -> None:
        """Wait for `ready` while the processes live, and say now and then what it waits for; a stop request ends it."""
        began = said_at = time.monotonic()
        for _ in self._looking_after(ready):
            now = time.monotonic()
            if now - said_at >= SAY_EVERY_SECONDS:
                self.say(f"{waiting_for} ({now - began:.0f} s)")
                said_at = now

    def _spawn(self, program: Program, *, stays: bool) -> _Running:
        environment = {**_GIVING_MEMORY_BACK, **os.environ, "PYTHONUNBUFFERED": "1", **program.environment}
        child = subprocess.Popen(
            ending_with_parent(program.command),
            cwd=CHECKOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal reaches this process alone, which then stops them in order
        )
        log = self._logs.get(program.name) or LogFile(self._folder, program.name)
        self._logs[program.name] = log
        reader = threading.Thread(target=self._relay, args=(program.name, child, log), daemon=True)
        reader.start()
        return _Running(program, child, reader, time.monotonic(), stays)

    def _relay(self, name: str, child: subprocess.Popen[bytes], log: LogFile) -> None:
        assert child.stdout is not None  # noqa: S101 - Popen was asked for a pipe
        for line in child.stdout:
            if text := line.decode(errors="replace").rstrip():
                log.write(text)
                if text.startswith(FAILED):
                    self.say(text, name=name)

    # -- watching

    @property
    def stopping(self) -> bool:
        """Whether a signal has asked for the end."""
        return self._stop_requests > 0

    def request_stop(self, *_signal: object) -> None:
        """Ask for the end; asking again ends the grace period at once. Serves as a signal handler."""
        self._stop_requests += 1

    def obey_signals(self) -> None:
        """Let Ctrl-C, a termination and a closed terminal ask for the end."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.request_stop)

    def watch(self, examine: Callable[[], object] = lambda: None) -> None:
        """Look after the processes until a signal asks for the end, and `examine` them every quarter of a minute."""
        examined_at = time.monotonic()
        for _ in self._looking_after(lambda: False):
            if time.monotonic() - examined_at >= EXAMINE_EVERY_SECONDS:
                examine()
                examined_at = time.monotonic()

    def _looking_after(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """Look after the processes, yielding after each look, until it is over or a signal has asked for the end."""
        while not self.stopping and not is_over():
            self.look_after()
            yield
            time.sleep(LOOK_EVERY_SECONDS)

    def up_for(self, seconds: float) -> list[Program]:
        """Return the programs that were started at least that long ago."""
        now = time.monotonic()
        return [one.program for one in self._running if one.stays and now - one.started_at >= seconds]

    def replace(self, program: Program, why: str) -> None:
        """Kill a program that runs and does not work; `look_after` starts it again."""
        self.say(f"{program.name} {why}: it is killed and started again.")
        for running in self._running:
            if running.program is program:
                _kill_group(running.child)

    def look_after(self) -> None:
        """Start again what has died. Raises RunError where a process died at once, several times in a row."""
        for place, running in enumerate(self._running):
            code = running.child.poll()
            if running.stays and code is not None and not self.stopping:
                self._running[place] = self._start_again(running, code)

    def _start_again(self, dead: _Running, code: int) -> _Running:
        name = dead.program.name
        quick = time.monotonic() - dead.started_at < QUICK_DEATH_SECONDS
        deaths = dead.quick_deaths + 1 if quick else 0
        if deaths >= QUICK_DEATHS_ALLOWED:
            raise RunError(
                f"{name} ended {deaths} times right after its start ({_how(code)}): its lines above say why."
            )
        dead.reader.join(timeout=1)
        self._say_end(name, f"ended ({_how(code)}) and is started again.")
        _kill_group(dead.child)
        running = self._spawn(dead.program, stays=True)
        running.quick_deaths = deaths
        return running

    # -- stopping

    def stop(self) -> None:
        """End every process: the asked-for way first, with its group by force once the grace period is over.

        What left its group has a leash of its own: a Spark worker ends when whoever started it is gone.
        """
        for last in (False, True):
            self._stop_these([running for running in self._running if running.program.stops_last is last])
        for running in self._running:
            running.reader.join(timeout=1)
        self._running.clear()

    def _stop_these(self, these: list[_Running]) -> None:
        # The leader alone is asked: a Celery or gunicorn parent ends its children itself, after their work.
        for running in reversed(these):
            with suppress(ProcessLookupError):
                running.child.terminate()
        until = time.monotonic() + self.grace_period
        while time.monotonic() < until and self._stop_requests < 2:
            if all(running.child.poll() is not None for running in these):
                break
            time.sleep(0.05)
        for running in these:
            if running.child.poll() is None:
                self.say(f"{running.program.name} did not stop and is killed.")
            _kill_group(running.child)
            running.child.wait()


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    # A group outlives its leader for as long as one member lives, and its number is not given away before that.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _how(code: int) -> str:
    return f"by signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
