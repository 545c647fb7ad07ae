"""What Levee keeps is its owner's alone: in a real process, from the first byte, and closed where it was open."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dashboard.environment import close_to_others


def levee(home: Path, *words: str, **environment: str) -> None:
    """A command of Levee in a process of its own, begun by somebody who closes nothing to anybody."""
    given = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "LEVEE_SECRET_KEY"}}
    subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), *words],
        env={**given, "LEVEE_HOME": str(home), **environment},
        check=True,
        capture_output=True,
        umask=0,
    )


def open_to_others(folder: Path) -> list[str]:
    """Files and folders from `folder` on that others can read, as far as they can get."""
    found = [folder, *folder.rglob("*")]
    return [str(path) for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077]


def test_nothing_of_a_new_home_can_be_read_by_others(tmp_path: Path) -> None:
    home = tmp_path / "home"

    levee(home, "migrate", "--verbosity=0")

    assert (home / "levee.sqlite3").exists()
    assert open_to_others(home) == []


def test_a_home_that_was_open_is_closed_at_the_start(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere.sqlite3"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    for file in (home / "levee.sqlite3", home / "secret-key", elsewhere):
        file.write_text("")
        file.chmod(0o644)
    (home / "secret-key").write_text("a key of an older release")

    levee(home, "check", DATABASE_URL=f"sqlite:///{elsewhere}")

    assert open_to_others(home) == []
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o600


def test_what_cannot_be_closed_is_told_with_the_command_that_does(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "levee.sqlite3"
    file.write_text("")
    file.chmod(0o644)

    def refuse(self: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)

    with pytest.raises(ImproperlyConfigured, match=f"chmod go= {file}$"):
        close_to_others(file)
