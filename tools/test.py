"""`make test`: one layer of the suite; what this machine cannot run is named before and after, and the rest is run."""

import argparse
import os
import sys
from collections.abc import Sequence

from tools import contained
from tools.machine import apt_install, find_chromium, say

LAYERS = {
    "promises": "not slow",
    "fast": "not slow and not spark and not browser and not process",
    "slow": "slow",
    "postgres": "postgres and not slow",
}
"""What each layer runs, by marks: all that guards a promise, what one runs after each change, what a release waits for,
and what can differ on PostgreSQL, on a server of its own."""
MOST_WORKERS = 8


def main() -> int:
    """Run pytest on one layer with the arguments given; exit with its code."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--layer", choices=LAYERS, default="promises")
    options, given = parser.parse_known_args()
    needs_browser = options.layer in {"promises", "slow"} and "-m" not in given
    left_out = _left_out() if needs_browser else []
    for sentence in left_out:
        say(f"Will be left out: {sentence}")
    code = contained.run(_words(options.layer, given, without_browser=bool(left_out)), _environment())
    for sentence in left_out:
        say(f"Left out: {sentence}")
    return code


def _words(layer: str, given: Sequence[str], *, without_browser: bool) -> list[str]:
    chosen = f"({LAYERS[layer]}) and not browser" if without_browser else LAYERS[layer]
    server = ["-m", "tools.postgres", sys.executable] if layer == "postgres" else []
    pytest = ["-m", "pytest", "-n", _workers(), "--dist", "loadgroup", "-m", chosen, *given]
    return [sys.executable, *server, *pytest]


def _environment() -> dict[str, str]:
    """Bytecode is kept, whatever this shell says: each of many processes would compile all of Django anew."""
    return {"PYTHONDONTWRITEBYTECODE": ""}


def _left_out() -> list[str]:
    if find_chromium() or apt_install("chromium"):
        return []
    return ["the browser tests: no Chromium is on PATH and none may be installed here; install the package chromium."]


def _workers() -> str:
    return str(min(os.cpu_count() or 1, MOST_WORKERS))


if __name__ == "__main__":
    sys.exit(main())
