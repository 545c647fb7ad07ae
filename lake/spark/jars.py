"""The pinned jars: fetched once by the Ivy that pyspark ships, checked against `jars.lock`, kept in LEVEE_HOME/jars."""

import argparse
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LOCK = Path(__file__).with_name("jars.lock")
CONFIGURATIONS = ("spark", "dynamodb-local")
FETCH_SECONDS = 900
TELL_EVERY_SECONDS = 3.0

# No host is named: Ivy's ibiblio resolver has its own default, and the cache is ours, so nothing that lies in a
# developer's own Maven or Ivy folders is ever consulted.
IVY_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir="${levee.ivy.cache}"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="false" useMavenMetadata="false"/></resolvers>
</ivysettings>
"""


class JarsError(Exception):
    """The jars cannot be had; the text is one sentence that says why and what to do."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of the lock file: where Ivy finds the file, and the SHA-256 its content must have."""

    configuration: str
    organisation: str
    name: str
    revision: str
    extension: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.revision}.{self.extension}"


def read_lock(text: str) -> tuple[Jar, ...]:
    """Read the lines 'configuration organisation:name:revision[@extension] sha256' of a lock file."""
    return tuple(_read_line(line) for line in text.splitlines() if line.strip() and not line.startswith("#"))


def _read_line(line: str) -> Jar:
    configuration, coordinates, sha256 = line.split()
    path, _, extension = coordinates.partition("@")
    organisation, name, revision = path.split(":")
    return Jar(configuration, organisation, name, revision, extension or "jar", sha256)


def class_path(home: Path, configuration: str = "spark") -> str:
    """Return the class path entry that holds every jar of one configuration, as its folder is really called."""
    return f"{_folder(home, configuration).resolve()}/*"


def fetch(
    home: Path,
    configurations: Sequence[str] = ("spark",),
    *,
    lock: Path = LOCK,
    ivy: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> None:
    """Make sure that LEVEE_HOME/jars/<configuration>/ holds exactly the pinned files, downloading what is missing.

    Where nothing has changed since the last call this only looks at file sizes and times. Two processes at once wait
    for each other. Raises JarsError: no Java, no network, a file with another checksum.
    """
    jars = read_lock(lock.read_text())
    folder = home / "jars"
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder / "fetch.lock"):
        for configuration in configurations:
            wanted = tuple(jar for jar in jars if jar.configuration == configuration)
            if _is_ready(_folder(home, configuration), wanted):
                continue
            if _first_fault(_folder(home, configuration), wanted):
                say(f"fetching {len(wanted)} jars for {configuration}")
                bundled = (jar for jar in pyspark_jars() if jar.name.startswith("ivy-"))
                _download(folder, configuration, wanted, ivy or next(bundled), say)
            _finish(_folder(home, configuration), wanted)


def pyspark_jars() -> list[Path]:
    """The jars inside the installed pyspark, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise JarsError("pyspark is not installed: run make setup.")
    return sorted((Path(spec.origin).resolve().parent / "jars").glob("*.jar"))


def java_command() -> str:
    """Return the path of `java`: JAVA_HOME's if that is set, else the one on PATH; JarsError where there is none."""
    java_home = os.environ.get("JAVA_HOME", "")
    candidate = shutil.which("java", path=str(Path(java_home) / "bin")) if java_home else shutil.which("java")
    if candidate is None:
        where = f"in JAVA_HOME ({java_home})" if java_home else "on PATH"
        raise JarsError(f"No java was found {where}: install a full Java 17 or newer, such as openjdk-17-jre-headless.")
    return candidate


def _folder(home: Path, configuration: str) -> Path:
    return home / "jars" / configuration


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold this lock file for the block; another process that wants it waits."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _is_ready(folder: Path, wanted: Sequence[Jar]) -> bool:
    """Compare sizes and times with the stamp of the last check: a fraction of what hashing the files takes."""
    expected = {jar.file_name for jar in wanted} | {"stamp.json"}
    try:
        present = {path.name for path in folder.iterdir()}
        return present == expected and bool(json.loads((folder / "stamp.json").read_text()) == _stamp(folder, wanted))
    except (OSError, ValueError):
        return False


def _stamp(folder: Path, wanted: Sequence[Jar]) -> dict[str, list[str | int]]:
    stats = {jar: (folder / jar.file_name).stat() for jar in wanted}
    return {jar.file_name: [jar.sha256, stat.st_size, stat.st_mtime_ns] for jar, stat in stats.items()}


def _first_fault(folder: Path, wanted: Sequence[Jar]) -> str:
    """What is wrong with the first jar that is missing or of other bytes, "" where all are as pinned."""
    for jar in wanted:
        path = folder / jar.file_name
        if not path.is_file():
            return f"{jar.file_name} was not delivered although Ivy reported no error: try again."
        if (found := _sha256(path)) != jar.sha256:
            return (
                f"{jar.file_name} has the SHA-256 {found} where jars.lock wants {jar.sha256}: "
                "it was discarded; try again, and if it differs again ask whoever runs the network or mirror between."
            )
    return ""


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _download(folder: Path, configuration: str, wanted: Sequence[Jar], ivy: Path, say: Callable[[str], None]) -> None:
    """Retrieve into a folder aside, verify there, then move each file into place."""
    incoming = folder / "incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    _run_ivy(folder, configuration, wanted, ivy, say)
    try:
        if fault := _first_fault(incoming, wanted):
            raise JarsError(fault)
        target = folder / configuration
        target.mkdir(exist_ok=True)
        for jar in wanted:
            (incoming / jar.file_name).replace(target / jar.file_name)
    finally:
        # A file with a wrong checksum must not be served from the cache again, and a right one is in place.
        shutil.rmtree(incoming, ignore_errors=True)
        shutil.rmtree(folder / "cache", ignore_errors=True)


def _run_ivy(folder: Path, configuration: str, wanted: Sequence[Jar], ivy: Path, say: Callable[[str], None]) -> None:
    (folder / "ivysettings.xml").write_text(IVY_SETTINGS)
    (folder / "ivy.xml").write_text(ivy_module(wanted))
    command = [
        java_command(),
        f"-Dlevee.ivy.cache={folder / 'cache'}",
        *("-jar", str(ivy), "-warn"),
        *("-settings", str(folder / "ivysettings.xml"), "-ivy", str(folder / "ivy.xml"), "-confs", configuration),
        *("-retrieve", f"{folder}/incoming/[artifact]-[revision].[ext]"),
    ]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        while True:
            try:
                said, _ = running.communicate(timeout=TELL_EVERY_SECONDS)
                break
            except subprocess.TimeoutExpired:
                seconds = time.monotonic() - began
                say(_fetched(folder / "cache", wanted, seconds))
                if seconds > FETCH_SECONDS:
                    running.kill()
                    raise JarsError(
                        f"Fetching the {configuration} jars took over {FETCH_SECONDS} s: try again."
                    ) from None
    if running.returncode != 0:
        raise JarsError(_why_ivy_failed(configuration, said))
    say(_fetched(folder / "incoming", wanted, time.monotonic() - began))


def _fetched(folder: Path, wanted: Sequence[Jar], seconds: float) -> str:
    """`12 of 49 jars, 96 MB, 10 s`; what Ivy is still writing counts among the bytes."""
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        with suppress(OSError):  # Ivy renames a file once it is whole
            sizes[path.name] = path.stat().st_size
    whole = sum(jar.file_name in sizes for jar in wanted)
    return f"{whole} of {len(wanted)} jars, {sum(sizes.values()) / 1e6:,.0f} MB, {seconds:.0f} s"


def ivy_module(wanted: Sequence[Jar]) -> str:
    """Write the Ivy module that asks for exactly these files, nothing they depend on."""
    dependencies = "\n".join(
        f'<dependency org="{jar.organisation}" name="{jar.name}" rev="{jar.revision}" transitive="false"'
        f' conf="{jar.configuration}->default">'
        f'<artifact name="{jar.name}" type="{jar.extension}" ext="{jar.extension}"/></dependency>'
        for jar in wanted
    )
    return (
        '<ivy-module version="2.0"><info organisation="levee" module="jars"/>\n'
        f'<configurations><conf name="{wanted[0].configuration}"/></configurations>\n'
        f"<dependencies>\n{dependencies}\n</dependencies></ivy-module>\n"
    )


def _why_ivy_failed(configuration: str, output: str) -> str:
    cure = "check the network (a proxy goes into JAVA_TOOL_OPTIONS as -Dhttps.proxyHost and -Dhttps.proxyPort)"
    said = " ".join(output.split())[-300:]
    return f"The {configuration} jars could not be fetched: {cure} and try again; Ivy said: {said}"


def _finish(folder: Path, wanted: Sequence[Jar]) -> None:
    """Remove files that are not pinned, which would be on the class path too, and write the stamp."""
    names = {jar.file_name for jar in wanted}
    for path in folder.iterdir():
        if path.name not in names and path.is_file():
            path.unlink()
    stamp = folder / "stamp.json.new"
    stamp.write_text(json.dumps(_stamp(folder, wanted)))
    stamp.replace(folder / "stamp.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch the jars into LEVEE_HOME, `var` beside the program by default; exit 1 with one sentence on failure."""
    parser = argparse.ArgumentParser(prog="python -m lake.spark.jars", description="Fetch the pinned jars.")
    parser.add_argument("--dynamodb-local", action="store_true", help="also fetch DynamoDB Local, which tests use")
    options = parser.parse_args(arguments)
    home = Path(os.environ.get("LEVEE_HOME") or LOCK.parents[2] / "var").resolve()
    try:
        fetch(
            home,
            CONFIGURATIONS if options.dynamodb_local else CONFIGURATIONS[:1],
            say=lambda line: _say(f"jars: {line}"),
        )
    except JarsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    _say(f"jars: ready in {home / 'jars'}")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
