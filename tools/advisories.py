"""Look up known vulnerabilities of every locked package. Where nobody can be asked it says so and does not fail."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.lock import NAMES
from tools.machine import CHECKOUT, say

OPTIONS = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json", "--output")
# What pip-audit 2.10 says when its service does not answer: its own advice, or the error of the library below it.
UNREACHED = re.compile(r"may be blocking this service|requests\.exceptions\.\w*(Connect|Proxy|SSL|Timeout)\w*")


def main() -> int:
    """Ask about requirements/*.txt; exit 1 when a package has a known vulnerability, or the audit itself fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "audit.json"
        locks = [word for name in NAMES for word in ("--requirement", f"requirements/{name}.txt")]
        words = [sys.executable, "-m", "pip_audit", *OPTIONS, str(file), *locks]
        done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        lines, failed = judged(json.loads(file.read_text())) if file.exists() else unanswered(done.stderr)
    for line in lines:
        say(line)
    return 1 if failed else 0


def judged(document: dict[str, Any]) -> tuple[list[str], bool]:
    """Return what to say of an audit's document, and whether it is a reason to stop."""
    packages = document["dependencies"]
    found = [(package, one) for package in packages for one in package.get("vulns", [])]
    lines = [
        f"{package['name']} {package['version']}: {one['id']}, mended in {', '.join(one['fix_versions']) or 'nothing'}"
        for package, one in found
    ]
    unknown = [package for package in packages if "skip_reason" in package]
    if len(unknown) == len(packages):
        lines.append("NOT AUDITED: the advisory service that this machine reaches knows none of the packages.")
    elif unknown:
        names = ", ".join(sorted({package["name"] for package in unknown}))
        lines.append(f"Not audited, for the advisory service does not know them: {names}.")
    if not found and len(unknown) < len(packages):
        lines.append(f"{len(packages) - len(unknown)} locked packages have no known vulnerability.")
    return lines, bool(found)


def unanswered(said: str) -> tuple[list[str], bool]:
    """The same where there is no document: the service was not reached, or pip-audit could not do its work."""
    if UNREACHED.search(said):
        return ["NOT AUDITED: the advisory service cannot be reached from this machine."], False
    return [said.strip(), "The audit could not be made."], True


if __name__ == "__main__":
    sys.exit(main())
