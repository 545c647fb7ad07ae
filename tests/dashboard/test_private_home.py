"""What Levee keeps is its owner's alone: in a real process, and closed where it was open."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dashboard.environment import private_home


def open_to_others(folder: Path) -> list[str]:
    """Files and folders from `folder` on that others can read, as far as they can get."""
    found = [folder, *folder.rglob("*")]
    return [str(path) for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077]


def test_nothing_of_a_new_home_can_be_read_by_others(tmp_path: Path) -> None:
    """Of a command in a process of its own, begun by somebody who closes nothing to anybody."""
    given = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "LEVEE_SECRET_KEY"}}
    home = tmp_path / "home"
    words = [sys.executable, str(settings.BASE_DIR / "manage.py"), "migrate", "--verbosity=0"]

    subprocess.run(words, env={**given, "LEVEE_HOME": str(home)}, check=True, capture_output=True, umask=0)

    assert (home / "levee.sqlite3").exists()
    assert open_to_others(home) == []


def test_a_home_that_was_open_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    private_home(tmp_path)

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_what_cannot_be_closed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)

    def refuse(self: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)

    with pytest.raises(ImproperlyConfigured, match="may close to others: Operation not permitted"):
        private_home(tmp_path)
