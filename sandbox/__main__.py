"""Serve the sandbox lake and fill it: `python -m sandbox --port N --home DIRECTORY [--no-spark]`."""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

from urllib3.exceptions import HTTPError
from werkzeug.serving import BaseWSGIServer

from lake.backup.objects import place_of
from sandbox import accidents, backup_samples, ground, server
from sandbox.client import REGION, Client, ClientError
from sandbox.growth import Growth
from sandbox.log_store_tables import SAMPLES, temp_prefixes
from sandbox.mail import mail_server

ending = Event()
SECONDS_WITH_SPARK, SECONDS_WITHOUT = 90, 10
"""About how long it takes to make all tables on two cores."""


class Seeding:
    """Fills a served sandbox: log store tables in this process, Spark's tables in a child process."""

    def __init__(self, origin: str, home: Path, *, spark: bool) -> None:
        self.origin = origin
        self.home = home
        self.spark = spark
        self.child: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Fill the lake; an error while the sandbox is being ended is that end and nothing else."""
        try:
            self._fill()
        except (ClientError, HTTPError):
            if not ending.is_set():
                raise
        finally:
            self._note_that_none_is_being_made()

    def _fill(self) -> None:
        started = time.monotonic()
        tables = len(SAMPLES) + (ground.SPARK_TABLES if self.spark else 0)
        until = time.time() + (SECONDS_WITH_SPARK if self.spark else SECONDS_WITHOUT)
        write_whole(self.home / "sandbox" / "making", f"{tables} {until:.0f}")
        client = Client(self.origin)
        ground.lay(client, temp_prefixes(ground.PROD))
        backup_samples.lay(client)
        if self.spark:
            self._start_spark()
        befalling = []
        for sample in SAMPLES:
            grown = sample.make(client)
            say(f"{sample.uri}: {sample.says}")
            if sample.afterwards:
                befalling.append((grown, sample.afterwards))
        code = self.child.wait() if self.child else 0
        self._note_that_none_is_being_made()
        if not ending.is_set():
            backup_samples.ask_for_inventories(client)
        if code == 0:
            say(f"all tables are there after {time.monotonic() - started:.1f} s")
        elif not ending.is_set():
            why = self.home / "sandbox" / "spark.log"
            sys.stdout.write(f"failed: Spark did not make all of the sandbox's tables; {why} says why\n")
            sys.stdout.flush()
        if self.spark:  # only then does Levee run the plans
            backup = place_of(backup_samples.PLANS[0].destination)
            accidents.befall(backup, befalling, ending, _say_what_befell)

    def _note_that_none_is_being_made(self) -> None:
        (self.home / "sandbox" / "making").unlink(missing_ok=True)

    def end(self) -> None:
        """End Spark with its JVM, which share a process group of their own."""
        if self.child and self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()

    def _start_spark(self) -> None:
        command = [sys.executable, "-m", "sandbox.spark_tables", "--origin", self.origin, "--home", str(self.home)]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def _say_what_befell(table: Growth) -> None:
    say(f"{table.table.table_path}: its accident has happened (docs/tutorial.md)")


def say(line: str) -> None:
    sys.stdout.write(f"sandbox: {line}\n")
    sys.stdout.flush()


def main() -> int:
    """Serve until SIGTERM or SIGINT; exit 1 with one sentence where the port is taken."""
    os.umask(0o077)
    parser = argparse.ArgumentParser(
        prog="python -m sandbox", description="A lake on this machine, with sample tables."
    )
    parser.add_argument("--port", type=int, required=True, help="loopback port; 0 takes any free one")
    parser.add_argument(
        "--home", type=Path, required=True, help="LEVEE_HOME: sandbox/ below it holds endpoint and logs"
    )
    parser.add_argument("--no-spark", action="store_true", help="leave out the tables that real Spark writes")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    try:
        served = server.bind(options.port)
    except OSError:
        sys.stderr.write(f"sandbox: port {options.port} is taken: choose another with --port.\n")
        return 1
    serve(served, options.home.resolve(), spark=not options.no_spark)
    return 0


def serve(served: BaseWSGIServer, home: Path, *, spark: bool) -> None:
    """Announce the bound server in HOME/sandbox, fill it in a thread, and serve until interrupted."""
    origin = server.origin(served)
    folder = home / "sandbox"
    folder.mkdir(parents=True, exist_ok=True)
    seeding = Seeding(origin, home, spark=spark)
    try:
        with mail_server(folder / "mail") as mail_url:
            write_whole(folder / "smtp", mail_url)
            write_whole(folder / "lake.toml", ground.declaration(origin, REGION) + backup_samples.declaration())
            write_whole(folder / "endpoint", origin)
            say(f"mail on {mail_url}")
            say(f"S3, DynamoDB and STS on {origin}")
            Thread(target=seeding.run, name="seeding", daemon=True).start()
            served.serve_forever()
    finally:
        for announced in ("endpoint", "smtp", "making"):
            (folder / announced).unlink(missing_ok=True)
        seeding.end()


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees all of it or none."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text)
    new.replace(path)


def _end(number: int, frame: Any) -> None:
    ending.set()
    sys.exit(0)


if __name__ == "__main__":
    sys.exit(main())
