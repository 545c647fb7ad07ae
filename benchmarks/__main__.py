"""`python -m benchmarks [NAME ...]` runs the named benchmarks, or all, each in a process of its own."""

import argparse
import subprocess
import sys

BENCHMARKS = (
    "backup_copy",
    "backup_plan",
    "backup_reconcile",
    "lists",
    "observation",
    "opened_in_place",
    "proof_fleet",
    "proof_share",
    "restorable",
    "restored",
)


def main() -> int:
    """Run them one after the other; exit with the code of the first that fails."""
    known = ", ".join(BENCHMARKS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Levee against its peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {known}; all if omitted")
    names = parser.parse_args().names or BENCHMARKS
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {known}")
    codes = (subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode for name in names)
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
