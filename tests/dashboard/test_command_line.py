"""The face of `levee`: what it names, what it does not have, and what its commands say of themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import load_command_class

from dashboard.command_line import help_text, main
from dashboard.command_names import GROUPS

NAMED = {name for group in GROUPS.values() for name in group}
OF_DJANGO = {"migrate", "check", "collectstatic"}


def test_help_names_every_command_of_levee_and_three_of_django() -> None:
    folders = settings.BASE_DIR.glob("*/**/management/commands/*.py")
    own = {file.stem for file in folders if file.stem != "__init__" and ".venv" not in file.parts}

    assert own | OF_DJANGO == NAMED
    assert all(f"  {name} " in help_text() for name in NAMED)


@pytest.mark.parametrize("words", [["flush"], ["shell"], ["help", "flush"], ["tabels"], ["--tables"]])
def test_what_levee_does_not_have_is_a_sentence_and_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err == f"levee has no command {words[-1]!r}: levee --help names them.\n"


def test_the_help_of_a_command_has_its_own_options_alone() -> None:
    said = load_command_class("coordinator", "doctor").create_parser("levee", "doctor").format_help()

    assert said.startswith("usage: levee doctor [-h] [--json]")
    djangos = ("--settings", "--pythonpath", "--traceback", "--no-color", "--verbosity")
    assert [option for option in djangos if option in said] == []


def test_a_command_that_asks_nothing_of_aws_imports_no_client_of_it_and_no_engine(tmp_path: Path) -> None:
    program = (
        "import sys, django; django.setup(); from coordinator.management.commands import tables;"
        "print(*sorted({'botocore', 'celery.app.base', 'pyspark', 'redis', 'django.contrib.admin', "
        "'coordinator.observation.passes'} & set(sys.modules)))"
    )
    environment = {**os.environ, "LEVEE_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
