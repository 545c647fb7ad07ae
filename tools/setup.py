"""`make setup`: a virtual environment with the locked packages, the `levee` command, Java and the Spark jars.

Every step looks first whether it has been done, so a second run is quick and downloads nothing. Runs on the machine's
own Python, before any package is there.
"""

import argparse
import fcntl
import hashlib
import os
import shlex
import shutil
import ssl
import subprocess
import sys
from collections.abc import Sequence

from tools.machine import CHECKOUT, SetupError, apt_install, require_java, say, telling_seconds

VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = CHECKOUT / "requirements"
UV_REQUIREMENTS = REQUIREMENTS / "uv.txt"
RUNS, TESTS = "run", "dev"
"""What is installed for running, and for tests, checks and benchmarks, which holds all of the other."""
STAMP = VENV / "levee-setup"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is missing; exit 1 with one sentence when something cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tools.setup")
    parser.add_argument("--tests", action="store_true", help="also the packages of tests, checks and benchmarks")
    parser.add_argument("--dynamodb-local", action="store_true", help="also the jars of DynamoDB Local")
    options = parser.parse_args(arguments)
    try:
        require_java()
        lock = (CHECKOUT / ".venv.lock").open("w")  # held until this process ends: two makes may begin at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_installed(for_tests=options.tests):
            name = TESTS if options.tests else RUNS
            _install_packages(name)
            _write_levee_command()
            STAMP.write_text(_fingerprint(name))
        _require_redis()
    except SetupError as error:
        say(str(error))
        return 1
    jars = ["--dynamodb-local"] if options.dynamodb_local else []
    return subprocess.run([PYTHON, "-m", "lake.spark.jars", *jars], cwd=CHECKOUT, check=False).returncode


def _is_installed(*, for_tests: bool) -> bool:
    if not (STAMP.exists() and PYTHON.exists()):
        return False
    return STAMP.read_text() in {_fingerprint(name) for name in ((TESTS,) if for_tests else (RUNS, TESTS))}


def _fingerprint(name: str) -> str:
    """Digest what makes the environment another one: the locks, the Python, and the path that its scripts hold."""
    digest = hashlib.sha256()
    locks = ((REQUIREMENTS / f"{name}.txt").read_bytes(), UV_REQUIREMENTS.read_bytes())
    for part in (*locks, sys.version.encode(), os.fsencode(CHECKOUT)):
        digest.update(part)
    return digest.hexdigest()


def _install_packages(name: str) -> None:
    uv = uv_on_path()
    if not _environment_has_this_python():
        _make_environment(uv)
    if not uv:
        say("installing uv")
        words = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(UV_REQUIREMENTS)]
        _run([str(PYTHON), *words], "install uv")
        uv = str(VENV / "bin" / "uv")
    say(f"installing the Python packages of requirements/{name}.txt")
    # Bytecode at once: where the shell forbids writing it later, each process would compile all of Django anew.
    words = ["pip", "install", "--compile-bytecode", "--python", str(PYTHON)]
    _run([uv, *words, "--require-hashes", "-r", str(REQUIREMENTS / f"{name}.txt")], "install the Python packages")
    size = sum(file.stat().st_size for file in VENV.rglob("*") if file.is_file() and not file.is_symlink())
    say(f"the Python packages are there: {size / 1e6:,.0f} MB in {VENV.name}")


def uv_on_path() -> str:
    """Return a uv that works, or an empty text; a version manager's placeholder is on PATH without working."""
    uv = shutil.which("uv") or ""
    return uv if uv and subprocess.run([uv, "--version"], capture_output=True, check=False).returncode == 0 else ""


def _environment_has_this_python() -> bool:
    if not PYTHON.exists():
        return False
    words = [str(PYTHON), "-c", "import sys; print(sys.version)"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == sys.version.strip()


def _make_environment(uv: str) -> None:
    if uv:
        words = [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV)]
        _run(words, "make a virtual environment")
        return
    words = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    if subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode == 0:
        return
    # Debian keeps the part of Python that brings pip into an environment in a package of its own.
    apt_install(f"python3.{sys.version_info.minor}-venv", "python3-venv")
    _run(words, "make a virtual environment (on Debian: apt-get install python3-venv)")


def _require_redis() -> None:
    """Make sure of a redis-server where no wheel carries one for this Python or processor."""
    if not _redis_sentence():
        return
    apt_install("redis-server")
    if sentence := _redis_sentence():
        raise SetupError(sentence)


def _redis_sentence() -> str:
    """Ask the console's own code, which knows where it looks; empty when it finds a server."""
    code = "from dashboard.processes import redis; print('' if redis.find_server() else redis.NO_SERVER)"
    words = [str(PYTHON), "-c", code]
    return subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.strip()


def _write_levee_command() -> None:
    command = VENV / "bin" / "levee"
    words = shlex.join([str(PYTHON), str(CHECKOUT / "manage.py")])
    command.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    command.chmod(0o755)


def _run(words: list[str], purpose: str) -> None:
    """Run an installer, and show what it says as it says it, but no line for each package that is there."""
    environment = {**_installers_environment(), **os.environ}
    with (
        telling_seconds(purpose),
        subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child,
    ):
        for line in child.stdout or ():
            if not line.startswith((" + ", " - ", " ~ ")):
                say(f"  {line.strip()}")
    if child.returncode != 0:
        raise SetupError(f"Could not {purpose}: the lines above say why; a second try goes on from here.")


def _installers_environment() -> dict[str, str]:
    # Only the Python that was chosen counts: uv would otherwise fetch one of its own.
    variables = {"UV_PYTHON_DOWNLOADS": "never", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    # Behind a proxy that signs with its own authority the machine knows it, and uv's built-in list does not.
    paths = ssl.get_default_verify_paths()
    if paths.cafile or (paths.capath and any(os.scandir(paths.capath))):
        variables["UV_SYSTEM_CERTS"] = "1"
    return variables


if __name__ == "__main__":
    sys.exit(main())
