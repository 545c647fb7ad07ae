"""`make check`: every check that needs no test, each run to its end, so that one run shows all there is to mend."""

import os
import subprocess
import sys
import time

from tools.machine import CHECKOUT, say

PACKAGES = ("backups", "benchmarks", "changes", "coordinator", "dashboard", "lake", "sandbox", "tools")

CHECKS: dict[str, tuple[str, ...]] = {
    "lint": ("-m", "ruff", "check", "."),
    "format": ("-m", "ruff", "format", "--check", "."),
    "types": ("-m", "mypy", *PACKAGES, "manage.py"),
    # import-linter has a command and no module that runs; a command's first line cannot hold a path with spaces.
    "imports": ("-c", "from importlinter.cli import lint_imports_command as run; run(['--no-logo'])"),
    "migrations": ("-m", "django", "makemigrations", "--check", "--dry-run"),
    "templates": ("-m", "djlint", "templates", "--lint", "--quiet"),
    "ratchets": ("-m", "tools.ratchets"),
    "hosts": ("-m", "tools.hosts"),
    "advisories": ("-m", "tools.advisories"),
}


def main() -> int:
    """Run all checks, or those named as arguments; exit 1 when one found something."""
    failed = []
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "dashboard.settings"}
    for name in sys.argv[1:] or CHECKS:
        say(f"== {name}")
        started = time.monotonic()
        if subprocess.run([sys.executable, *CHECKS[name]], cwd=CHECKOUT, env=environment, check=False).returncode != 0:
            failed.append(name)
        say(f"   {time.monotonic() - started:.1f} s")
    say(f"Found something: {', '.join(failed)}." if failed else "All checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
