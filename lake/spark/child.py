"""One Spark worker process as its parent holds it: its pipes, its scratch folder and its process group."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread

from lake.spark.messages import Json, SparkJob, decode, encode
from lake.spark.settings import WorkerSettings, environment, session_conf
from lake.spark.worker_log import log_file, remove_old

END_SECONDS = 20.0


class Child:
    """Started by its construction. `messages` gives what it says, and None once it has ended."""

    def __init__(self, settings: WorkerSettings, home: Path, archive: Path | None) -> None:
        self.archive = archive
        self.ready = False
        self.overdue = False
        self.messages: SimpleQueue[Json | None] = SimpleQueue()
        self._ending = Lock()
        folder = home / "spark"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._log = log_file(home)
        remove_old(folder)
        self._scratch = Path(tempfile.mkdtemp(prefix="worker-", dir=folder))
        option = f"-XX:SharedArchiveFile={archive} -Xshare:auto" if archive else ""
        self._process = self._spawn(environment(settings))
        self.pid = self._process.pid
        Thread(target=self._read, name=f"spark-{self.pid}", daemon=True).start()
        self._send(
            conf=session_conf(settings, home, self._scratch, option),
            idle_seconds=settings.idle_seconds,
        )

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    def give(self, job: SparkJob) -> bool:
        """Hand over a job; False where the child is no longer there to take it."""
        return self._send(job=job.kind, params=dict(job.params))

    def kill(self) -> None:
        """End the whole process group, wait for the child, and remove its scratch folder. Safe to repeat."""
        with self._ending:
            # Until it is waited for, a dead leader keeps its number, so no other group can be hit.
            if self._process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
                self._process.wait(timeout=END_SECONDS)
            self._close()

    def last_words(self) -> str:
        """Say how the process ended."""
        code = self._process.returncode or 0
        return f"signal {-code}" if code < 0 else f"exit code {code}, see spark/{self._log.name} in LEVEE_HOME"

    def _spawn(self, variables: dict[str, str]) -> subprocess.Popen[str]:
        with self._log.open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "lake.spark.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._scratch,
                env=variables | {"LEVEE_SPARK_SCRATCH": str(self._scratch)},
                encoding="utf-8",
                start_new_session=True,
            )

    def _send(self, **message: object) -> bool:
        stdin = self._process.stdin
        try:
            if stdin is None or stdin.closed:
                return False
            stdin.write(encode(**message))
            stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def _read(self) -> None:
        """Queue its messages; at the end of them see to it that the process and its JVM are gone."""
        for line in self._process.stdout or ():
            with suppress(ValueError):
                self.messages.put(decode(line))
        self._await_exit(END_SECONDS)
        self.kill()
        self.messages.put(None)

    def _await_exit(self, seconds: float) -> None:
        """Wait for the child without taking its number, which is its group's, away before `kill` has used it."""
        deadline = time.monotonic() + seconds
        with suppress(ChildProcessError):
            while time.monotonic() < deadline:
                if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                    return
                time.sleep(0.02)

    def _close(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
