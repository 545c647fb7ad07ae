"""Check that no file names a package registry's host: mirrors and proxies are chosen by the machine, not by files."""

import subprocess
import sys

from tools.machine import CHECKOUT, say

# A dot in brackets, so that this file passes its own check.
HOSTS = (
    "pypi[.]org|pythonhosted[.]org|maven[.](apache[.])?org|sonatype[.]org|npmjs[.](org|com)|debian[.]org|"
    "docker[.]io|crates[.]io|golang[.]org|jsdelivr[.]net|unpkg[.]com"
)


def main() -> int:
    """Look through every file that git has or would take; exit 1 when a host is named."""
    words = ["git", "grep", "--untracked", "--line-number", "--ignore-case", "--extended-regexp", HOSTS]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if named := (done.stdout + done.stderr).strip():
        say(f"A registry's host is named:\n{named}")
    return 0 if done.returncode == 1 else 1  # git grep found nothing


if __name__ == "__main__":
    sys.exit(main())
