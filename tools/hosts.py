"""Check that no file names a package registry's host: mirrors and proxies are chosen by the machine, not by files."""

import re
import subprocess
import sys

from tools.machine import CHECKOUT, say

# Written in parts, so that this file passes its own check.
HOSTS = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("maven", "org"),
    ("maven", "apache", "org"),
    ("sonatype", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("debian", "org"),
    ("docker", "io"),
    ("crates", "io"),
    ("golang", "org"),
    ("jsdelivr", "net"),
    ("unpkg", "com"),
)
PATTERN = re.compile("|".join(re.escape(".".join(parts)) for parts in HOSTS), re.IGNORECASE)


def named_hosts(text: str) -> list[tuple[int, str]]:
    """Return the line number and the host of every mention in a text."""
    lines = enumerate(text.splitlines(), start=1)
    return [(number, found.group()) for number, line in lines for found in PATTERN.finditer(line)]


def main() -> int:
    """Look through every file under version control; exit 1 when a host is named."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split("\0")
    mentions = 0
    for name in filter(None, names):
        path = CHECKOUT / name
        if not path.is_file():
            continue
        for number, host in named_hosts(path.read_text(errors="replace")):
            say(f"{name}:{number}: names the host {host}")
            mentions += 1
    return 1 if mentions else 0


if __name__ == "__main__":
    sys.exit(main())
