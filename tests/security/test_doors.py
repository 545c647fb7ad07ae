"""The lake is opened by jobs alone, which ask for read-only mode, and by one tick that asks by itself."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOBS = {
    "backups/inventory_setup.py",
    "backups/jobs.py",
    "backups/points/jobs.py",
    "backups/policies/preflight.py",
    "backups/restores/jobs.py",
    "backups/restores/many_jobs.py",
    "changes/carrying_out.py",
    "coordinator/coordination/bulk.py",
    "coordinator/coordination/jobs.py",
    "coordinator/repairs/bulk.py",
    "coordinator/repairs/jobs.py",
    "coordinator/rescue/jobs.py",
    "coordinator/tasks.py",
    "coordinator/settings/jobs.py",
    "coordinator/writer_tests/jobs.py",
}
# Carries a move of TTL on, step by step, for hours; see test_ttl_migration.py of settings.
TICKS = {"coordinator/settings/ttl_ticks.py"}


def test_no_page_and_no_command_opens_the_lake_by_itself() -> None:
    found = {
        str(file.relative_to(ROOT))
        for room in ("backups", "changes", "coordinator", "dashboard")
        for file in (ROOT / room).rglob("*.py")
        if _calls(file, "open_lake")
    }
    assert found == JOBS | TICKS


def _calls(file: Path, name: str) -> bool:
    calls = (node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id == name for called in calls)
