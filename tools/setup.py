"""`make setup`: a virtual environment with the locked packages, the `levee` command, Java and the Spark jars.

Every step looks first whether it has been done, so a second run is quick and downloads nothing. Runs on the machine's
own Python, before any package is there.
"""

import hashlib
import os
import shlex
import shutil
import ssl
import subprocess
import sys

from tools.machine import CHECKOUT, SetupError, apt_install, require_java, say

VENV = CHECKOUT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = CHECKOUT / "requirements" / "dev.txt"
UV_REQUIREMENTS = CHECKOUT / "requirements" / "uv.txt"
STAMP = VENV / "levee-setup"


def main() -> int:
    """Do what is missing; exit 1 with one sentence when something cannot be had."""
    try:
        require_java()
        fingerprint = _fingerprint()
        if not (STAMP.exists() and PYTHON.exists() and STAMP.read_text() == fingerprint):
            _install_packages()
            _write_levee_command()
            STAMP.write_text(fingerprint)
        _require_redis()
    except SetupError as error:
        say(str(error))
        return 1
    return subprocess.run([PYTHON, "-m", "lake.spark.jars", *sys.argv[1:]], cwd=CHECKOUT, check=False).returncode


def _fingerprint() -> str:
    """Digest what makes the environment another one: the locks, the Python, and the path that its scripts hold."""
    digest = hashlib.sha256()
    for part in (REQUIREMENTS.read_bytes(), UV_REQUIREMENTS.read_bytes(), sys.version.encode(), os.fsencode(CHECKOUT)):
        digest.update(part)
    return digest.hexdigest()


def _install_packages() -> None:
    uv = uv_on_path()
    if not _environment_has_this_python():
        _make_environment(uv)
    if not uv:
        say("installing uv")
        words = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(UV_REQUIREMENTS)]
        _run([str(PYTHON), *words], "install uv")
        uv = str(VENV / "bin" / "uv")
    say("installing the locked Python packages")
    # Bytecode at once: where the shell forbids writing it later, each process would compile all of Django anew.
    words = ["pip", "install", "--quiet", "--compile-bytecode", "--python", str(PYTHON)]
    _run([uv, *words, "--require-hashes", "-r", str(REQUIREMENTS)], "install the Python packages")


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
    if subprocess.run(words, env={**_installers_environment(), **os.environ}, check=False).returncode != 0:
        raise SetupError(f"Could not {purpose}: the lines above say why; a second make setup goes on from here.")


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
