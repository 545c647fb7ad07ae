"""docs/tutorial.md: each of its commands, and what it says that they print."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from dashboard.processes.lock import free_port
from sandbox.log_store_tables import SAMPLES
from tests.jars_home import JARS_HOME
from tests.jvms import JVMS
from tests.processes.builders import said_by, short_folder
from tests.waiting import scaled, wait_until

TUTORIAL = (settings.BASE_DIR / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MINUTES = 12
"""How long the sandbox may take to make its tables, to back them up, and to let the accidents happen."""


def steps() -> list[tuple[str, list[str]]]:
    """Each block of commands, and the lines that it says are printed: an ellipsis in one stands for anything."""
    found: list[tuple[str, list[str]]] = []
    for language, text in BLOCK.findall(TUTORIAL):
        if language == "sh":
            found.append((text, []))
        else:
            found[-1][1].extend(text.splitlines())
    return found


def test_each_command_of_levee_in_it_is_one_that_levee_takes() -> None:
    lines = [line for commands, _ in steps() for line in commands.splitlines() if line.startswith("levee ")]
    for line in lines:
        _, name, *words = shlex.split(line.partition(" > ")[0])
        load_command_class(get_commands()[name], name).create_parser("levee", name).parse_args(words)
    assert len(lines) >= 8


def test_each_table_that_comes_to_harm_has_its_way_back_in_it() -> None:
    harmed = [sample.uri for sample in SAMPLES if sample.afterwards]
    assert len(harmed) == 3
    for uri in harmed:
        assert re.search(rf"^levee restore {uri} .*--apply", TUTORIAL, re.MULTILINE)


@contextmanager
def running(home: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """`levee run` with its sandbox, as `make run` starts it."""
    (home / "jars").symlink_to(JARS_HOME / "jars")
    words = [sys.executable, str(settings.BASE_DIR / "manage.py"), "run"]
    process = subprocess.Popen(words, cwd="/", env=environment(home) | {"PORT": str(free_port())})
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=scaled(60))


def environment(home: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "DATABASE_URL")}
    return own | {"LEVEE_HOME": str(home), "LEVEE_SANDBOX": "1", "PYTHONPATH": str(settings.BASE_DIR)}


def do_as_it_says(home: Path, folder: Path) -> list[str]:
    """What each block of commands prints, run by one shell; a command that fails ends it."""
    (folder / ".venv").symlink_to(sys.prefix)
    script = "".join(f"{commands}echo '== end'\n" for commands, _ in steps())
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=environment(home), capture_output=True,
        text=True, check=False, timeout=scaled(600),
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout.split("== end\n")[:-1]


@pytest.mark.spark
@pytest.mark.slow
def test_who_does_as_it_says_gets_each_table_back(tmp_path: Path) -> None:
    with JVMS.room(2), short_folder() as home, running(home) as levee:

        def happened() -> bool:
            assert levee.poll() is None, "levee run has ended"
            return said_by(home, "sandbox").count("its accident has happened") == 3

        assert wait_until(happened, 60 * MINUTES, every=1)

        printed = do_as_it_says(home, tmp_path)

    for (commands, expected), said in zip(steps(), printed, strict=True):
        for line in expected:
            pattern = re.escape(line).replace("…", ".*")
            assert re.search(f"^{pattern}$", said, re.MULTILINE), f"{commands}\n{said}\ndoes not say\n{line}"
