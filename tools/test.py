"""`make test`, `make test-fast` and `make test-all`: runs of the suite, each started by itself and judged as one.

A test that failed is run once more, alone, when its run is over. Where it passes then, the run passes and says FLAKY
with the test's name and first error; its whole report is kept under var/flaky. A flaky test is a defect to be mended.
What went wrong beside the tests (a module that could not be read, a worker that died, a process left) is red at once.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tools import contained
from tools.machine import CHECKOUT, apt_install, find_chromium, say

MOST_WORKERS = 8
MOST_RUN_AGAIN = 5
"""More tests than this do not fail by chance: none of them is run again."""
FLAKY_REPORTS = CHECKOUT / "var" / "flaky"
MINUTES_ALONE = 15
"""What a run of one test may take; of all it is the run's own limit."""
TESTS_FAILED, INTERRUPTED = 1, 2
"""Exit codes of pytest."""
SEED, OUTCOMES = "LEVEE_SEED", "LEVEE_OUTCOMES"
PARTS = ("plain", "processes", "schedules", "browser", "spark", "tables", "clusters", "soaks", "postgres")
"""Parts of the suite (tests/choosing.py): every test is in one, and in `postgres` once more what can differ there."""


@dataclass(frozen=True)
class Run:
    """One start of pytest: its name, which tests by their marks, further options, and how long it may take at most."""

    name: str
    marks: str
    options: tuple[str, ...] = ()
    minutes: int = 30

    def words(self, *more: str) -> list[str]:
        server = ["-m", "tools.postgres", sys.executable] if "postgres" in self.options else []
        pytest = ["-m", "pytest", "-p", "tests.outcomes", "--durations=10", "-m", self.marks, *self.options, *more]
        return [sys.executable, *server, *pytest]


@dataclass(frozen=True)
class Result:
    """What became of a run: its exit code, its tests, the failed ones with their errors, and what broke beside them."""

    code: int
    passed: int = 0
    skipped: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    broken: Sequence[str] = ()
    seconds: float = 0.0
    flaky: tuple[str, ...] = ()

    @property
    def may_be_chance(self) -> bool:
        """Whether a few tests failed, and nothing beside them."""
        return self.code == TESTS_FAILED and not self.broken and 0 < len(self.failed) <= MOST_RUN_AGAIN


FAST = (Run("fast", "not slow", ("--part", "plain")),)
PROMISES = (Run("SQLite", "not slow"), Run("PostgreSQL", "not slow", ("--part", "postgres")))


def main() -> int:
    """Make the runs that were asked for, with all other arguments handed to pytest; exit 1 where one failed."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", choices=PARTS, default=None)
    options, given = parser.parse_known_args()
    without_browser = not (options.fast or find_chromium() or apt_install("chromium"))
    if options.all:
        runs: Sequence[Run] = [run for run in _parts(options.only) if run.name != "browser" or not without_browser]
    elif options.fast:
        runs = FAST
    else:
        # Tests that somebody names are run where they are quickest.
        runs = PROMISES[:1] if given else PROMISES
    os.environ.setdefault(SEED, tree_hash())
    results: dict[str, Result] = {}
    for run in runs:
        results[run.name] = judged(run, given, without_browser=without_browser)
        if results[run.name].code == INTERRUPTED:
            break
    _say_all(results)
    if without_browser:
        say("Left out: the tests in Chromium, which is not on PATH and may not be installed here: install chromium.")
    return int(any(result.code for result in results.values()))


def judged(run: Run, given: Sequence[str] = (), *, without_browser: bool = False) -> Result:
    """Make a run, and then once more, each by itself, the few tests that failed in it."""
    say(f"== {run.name}, with {SEED}={os.environ[SEED]}")
    also = ["-m", f"{run.marks} and not browser".removeprefix(" and ")] if without_browser else []
    result = _made(run, "-n", _workers(), "--dist", "loadgroup", *also, *given)
    for sentence in result.broken:
        say(f"Broken: {sentence}")
    if not result.may_be_chance:
        return result
    for name in result.failed:
        say(f"== once more, alone: {name}")
        again = _made(replace(run, minutes=MINUTES_ALONE), "-n", "0", name)
        if again.code or not again.passed:
            return result
    for name, error in result.failed.items():
        say(f"FLAKY {name}: {_first_error(error)}")
    say(f"What failed and then passed is told in {_keep(result.failed)}.")
    passed = result.passed + len(result.failed)
    return Result(0, passed, result.skipped, seconds=result.seconds, flaky=tuple(result.failed))


def tree_hash() -> str:
    """A digest of the tree that is checked out, with what has been changed in it since."""
    digest = hashlib.sha256()
    for words in (["git", "rev-parse", "HEAD^{tree}"], ["git", "diff", "HEAD"]):
        digest.update(subprocess.run(words, cwd=CHECKOUT, capture_output=True, check=False).stdout)
    return digest.hexdigest()[:12]


def _parts(only: str | None) -> list[Run]:
    named = [only] if only else PARTS
    return [Run(part, "", ("--everything", "--part", part), minutes=120) for part in named]


def _made(run: Run, *more: str) -> Result:
    """Run pytest to its end; without a word of its tests where it did not come to one."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="levee-outcomes-") as folder:
        told = Path(folder) / "outcomes.json"
        # Bytecode is kept, whatever this shell says: each of many processes would compile all of Django anew.
        environment = {"PYTHONDONTWRITEBYTECODE": "", OUTCOMES: str(told)}
        code = contained.run(run.words(*more), environment, limit=run.minutes * 60)
        seconds = time.monotonic() - began
        if not told.exists():
            return Result(code or TESTS_FAILED, seconds=seconds)
        return Result(code, **json.loads(told.read_text()), seconds=seconds)


def _say_all(results: Mapping[str, Result]) -> None:
    """A table of the runs, and the line that sums them up."""
    say("\n| part | passed | failed | skipped | seconds | verdict |\n|---|---|---|---|---|---|")
    for name, result in results.items():
        flaky = f", {len(result.flaky)} of them FLAKY" if result.flaky else ""
        verdict = f"failed ({result.code})" if result.code else "passed"
        counts = f"{result.passed:,}{flaky} | {len(result.failed)} | {result.skipped} | {result.seconds:,.0f}"
        say(f"| {name} | {counts} | {verdict} |")
    passed = sum(result.passed for result in results.values())
    failed = sum(len(result.failed) for result in results.values())
    say(f"\n{passed} passed, {failed} failed")


def _first_error(text: str) -> str:
    """The first line of what pytest says of an error, or the last of whatever else it says."""
    lines = text.strip().splitlines() or ["no error was told"]
    return next((line[1:].strip() for line in lines if line.startswith("E  ")), lines[-1])


def _keep(failed: Mapping[str, str]) -> Path:
    FLAKY_REPORTS.mkdir(parents=True, exist_ok=True)
    file = FLAKY_REPORTS / f"{time.strftime('%Y-%m-%dT%H-%M-%S', time.gmtime())}-{os.environ[SEED]}.txt"
    file.write_text("\n\n".join(f"{name}\n{error}" for name, error in failed.items()))
    return file


def _workers() -> str:
    """One more than there are cores: tests wait for their servers for a third of their time."""
    return str(min((os.cpu_count() or 1) + 1, MOST_WORKERS))


if __name__ == "__main__":
    sys.exit(main())
