"""`make check`: every check that needs no test, each run to its end, so that one run shows all there is to mend."""

import sys
import time

from tools.machine import run_python_module, say

PACKAGES = ("backups", "benchmarks", "coordinator", "dashboard", "lake", "sandbox", "tools")

CHECKS: dict[str, tuple[str, ...]] = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "types": ("mypy", *PACKAGES, "manage.py"),
    "imports": ("importlinter.cli", "lint"),
    "migrations": ("django", "makemigrations", "--check", "--dry-run", "--settings=dashboard.settings"),
    "templates": ("djlint", "templates", "--lint", "--quiet"),
    "hosts": ("tools.hosts",),
}


def main() -> int:
    """Run all checks, or those named as arguments; exit 1 when one found something."""
    failed = []
    for name in sys.argv[1:] or CHECKS:
        say(f"== {name}")
        started = time.monotonic()
        if run_python_module(*CHECKS[name]) != 0:
            failed.append(name)
        say(f"   {time.monotonic() - started:.1f} s")
    say(f"Found something: {', '.join(failed)}." if failed else "All checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
