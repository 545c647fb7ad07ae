"""Restores have the same source and vault as the points that they restore."""

from pathlib import Path

import pytest

from tests.backups.points.conftest import Backup, backup
from tests.backups.restores.restoring import Table, open_by_deltalake

__all__ = ["backup"]


@pytest.fixture
def table(backup: Backup, tmp_path: Path) -> Table:
    return Table(backup, tmp_path)


@pytest.fixture
def by_deltalake(monkeypatch: pytest.MonkeyPatch, backup: Backup) -> None:
    open_by_deltalake(monkeypatch, backup)
