"""What this machine has, and what may be installed on it. Runs on a bare Python, before any package is there."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

CHECKOUT = Path(__file__).resolve().parents[1]
OLDEST_JAVA = 17
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


class SetupError(Exception):
    """Why the machine cannot be set up, as one sentence that says what to install."""


def say(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)


@contextmanager
def telling_seconds(what: str, every: float = 5.0) -> Iterator[None]:
    """Say every few seconds that the block goes on, and after it how many it took."""
    began, over = time.monotonic(), Event()

    def tell() -> None:
        while not over.wait(every):
            say(f"  {what}: {time.monotonic() - began:.0f} s so far")

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        say(f"  {what}: {time.monotonic() - began:.1f} s")


def apt_may_install() -> bool:
    """Whether packages may be installed here: somebody asked for it with LEVEE_APT=1, or it is CI, as root with apt."""
    is_asked_for = os.environ.get("LEVEE_APT") == "1" or bool(os.environ.get("CI"))
    return is_asked_for and os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(*alternatives: str) -> bool:
    """Install the first of the alternatives (each a list of packages) that apt has; False when none could be."""
    if not apt_may_install():
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=environment, check=False)
    for packages in alternatives:
        say(f"installing {packages} with apt")
        words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages.split()]
        with telling_seconds(f"install {packages}"):
            done = subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return True
    return False


def java_version() -> int:
    """Return the major version of JAVA_HOME's Java or the one on PATH; 0 where there is none that answers."""
    java_home = os.environ.get("JAVA_HOME", "")
    java = str(Path(java_home) / "bin" / "java") if java_home else "java"
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else 0


def require_java() -> None:
    """Make sure of Java, installing it where that may be done; SetupError: it is missing or too old."""
    if java_version() >= OLDEST_JAVA:
        return
    apt_install("openjdk-17-jre-headless", "openjdk-21-jre-headless")
    if (found := java_version()) < OLDEST_JAVA:
        what = f"Java {found} was found" if found else "No Java was found"
        raise SetupError(
            f"{what}, and Spark needs Java {OLDEST_JAVA} or newer: install a full Java runtime "
            "(on Debian: apt-get install openjdk-17-jre-headless) and, if JAVA_HOME is set, let it name that one."
        )


def find_chromium() -> str:
    """Return the path of Chromium or Chrome, or an empty text."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), "")
