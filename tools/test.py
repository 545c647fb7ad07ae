"""`make test`: the whole suite; what this machine cannot run is named before and after, and the rest is run."""

import os
import subprocess
import sys

from tools.machine import CHECKOUT, apt_install, find_chromium, say


def main() -> int:
    """Run pytest with the arguments given; exit with its code."""
    chosen = "-m" in sys.argv  # whoever chooses by marks knows what is left out
    left_out = [] if chosen else _left_out()
    for sentence in left_out:
        say(f"Will be left out: {sentence}")
    words = [sys.executable, "-m", "pytest", "-n", _workers(), "--dist", "loadgroup", *sys.argv[1:]]
    if left_out:
        words += ["-m", "not browser"]
    code = subprocess.run(words, cwd=CHECKOUT, check=False).returncode
    for sentence in left_out:
        say(f"Left out: {sentence}")
    return code


def _left_out() -> list[str]:
    if find_chromium() or apt_install("chromium"):
        return []
    return ["the browser tests: no Chromium is on PATH and none may be installed here; install the package chromium."]


def _workers() -> str:
    return str(min(os.cpu_count() or 1, 8))


if __name__ == "__main__":
    sys.exit(main())
