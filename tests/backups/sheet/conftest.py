"""The sheet is tried with the tables that restores have."""

from tests.backups.points.conftest import backup
from tests.backups.restores.conftest import table

__all__ = ["backup", "table"]
