"""The class-data archive: Spark's classes as a JVM holds them in memory, made once, so that it starts in half the time.

Kept in LEVEE_HOME/jars under a name that digests the jars and the Java it was made with, and tells its size: one that
was cut off would kill the JVM that maps it, and is not used.
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread

from lake.spark.deployment import read_extra_jars
from lake.spark.errors import SparkRefused
from lake.spark.jars import JarsError, alone, fetch, java_command, pyspark_jars
from lake.spark.messages import encode
from lake.spark.session import LakeEndpoint
from lake.spark.settings import ROOT, Credentials, WorkerSettings, environment, session_conf

BUILD_SECONDS = 300
SMALLEST = 10_000_000


class ArchiveError(Exception):
    """The archive cannot be made; the text is one sentence. Spark runs without it, only starts more slowly."""


def ready(settings: WorkerSettings, home: Path) -> Path | None:
    """Return the archive for these jars and this Java; None where there is none, or not as large as it was."""
    try:
        found = (home / "jars").glob(f"{_name(settings.extra_jars, home)}-*.jsa")
        return next((path for path in found if path.stem.endswith(f"-{path.stat().st_size}")), None)
    except (OSError, JarsError):
        return None


def build(home: Path, extra_jars: tuple[Path, ...] = ()) -> Path:
    """Make the archive, half a minute, where it is not there; return its path. JarsError, ArchiveError with a sentence.

    The JVM writes it as it ends, under another name. Two processes at once wait for each other.
    """
    settings = WorkerSettings(
        LakeEndpoint("us-east-1", "http://127.0.0.1:9", environment_credentials=True),
        credentials=Credentials("training", "training"),
        extra_jars=extra_jars,
    )
    fetch(home)
    with alone(home / "jars" / "archive.lock"):
        if (found := ready(settings, home)) is not None:
            return found
        folder = home / "jars"
        for left_over in folder.glob("classes-*"):
            left_over.unlink()
        new = folder / "classes-new"
        output = _train(settings, home, new)
        if not new.is_file() or new.stat().st_size < SMALLEST:
            raise ArchiveError(f"Java wrote no class-data archive to {new}: {output.strip()[-300:]}")
        return new.rename(folder / f"{_name(extra_jars, home)}-{new.stat().st_size}.jsa")


def prepare(settings: WorkerSettings, home: Path) -> None:
    """Have the archive made where it is not there, by a process of the lowest priority; this does not wait for it.

    Sessions start without it until it is there. Whatever keeps it from being made is in spark/archive.log.
    """
    if ready(settings, home) is not None:
        return
    log = home / "spark" / "archive.log"
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    extra = {"LEVEE_HOME": str(home), "LEVEE_SPARK_EXTRA_JARS": ",".join(map(str, settings.extra_jars))}
    with log.open("w") as output:
        process = subprocess.Popen(
            ["nice", "-n", "19", sys.executable, "-m", "lake.spark.archive"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=ROOT,
            env={**os.environ, **extra},
        )
    Thread(target=process.wait, name="archive", daemon=True).start()


def _name(extra_jars: Sequence[Path], home: Path) -> str:
    digest = hashlib.sha256(_java_release())
    for jar in _class_path(extra_jars, home):
        stat = jar.stat()
        digest.update(f"{jar}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return f"classes-{digest.hexdigest()[:16]}"


def _class_path(extra_jars: Sequence[Path], home: Path) -> Iterator[Path]:
    yield from sorted((home / "jars" / "spark").resolve().glob("*.jar"))
    yield from pyspark_jars()
    yield from extra_jars


def _java_release() -> bytes:
    """Return what tells one Java from another: its path, and the file in which it states its version and build."""
    java = Path(java_command()).resolve()
    release = java.parents[1] / "release"
    return os.fsencode(java) + (release.read_bytes() if release.is_file() else str(java.stat().st_mtime_ns).encode())


def _train(settings: WorkerSettings, home: Path, new: Path) -> str:
    """Run lake.spark.training; its JVM writes the archive after Python has ended, and holds stdout open until then."""
    with tempfile.TemporaryDirectory(prefix="levee-training-") as folder:
        scratch = Path(folder)
        conf = session_conf(settings, home, scratch, f"-XX:ArchiveClassesAtExit={new}")
        process = subprocess.Popen(
            [sys.executable, "-m", "lake.spark.training"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=scratch,
            env=environment(settings) | {"AWS_MAX_ATTEMPTS": "1", "PYTHONPATH": str(ROOT)},
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(encode(conf=conf, folder=folder), timeout=BUILD_SECONDS)
        except subprocess.TimeoutExpired:
            raise ArchiveError(f"Making the class-data archive took over {BUILD_SECONDS} s: try again.") from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=20)
    if process.returncode != 0:
        raise ArchiveError(f"Spark could not be run to make the class-data archive: {output.strip()[-300:]}")
    return output


def main() -> int:
    """Make the archive in LEVEE_HOME, `var` beside the program by default; exit 1 with one sentence on failure."""
    home = Path(os.environ.get("LEVEE_HOME") or ROOT / "var").resolve()
    try:
        path = build(home, read_extra_jars(os.environ))
    except (JarsError, ArchiveError, SparkRefused) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"class-data archive: {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
