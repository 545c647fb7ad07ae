"""`make lock`: compile requirements/*.in to *.txt, every file of every platform with its hash."""

import subprocess
import sys

from tools.machine import CHECKOUT
from tools.setup import VENV, uv_on_path

NAMES = ("base", "run", "dev", "uv")
OPTIONS = ("--generate-hashes", "--universal", "--python-version", "3.11", "--no-header", "--quiet")


def main() -> int:
    """Compile all; versions that still fit are kept. Exit 1 when one has no solution."""
    uv = uv_on_path() or str(VENV / "bin" / "uv")
    for name in NAMES:
        words = [uv, "pip", "compile", *OPTIONS, f"requirements/{name}.in", "-o", f"requirements/{name}.txt"]
        if subprocess.run(words, cwd=CHECKOUT, stdout=subprocess.DEVNULL, check=False).returncode != 0:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
