"""`levee`: its own help and version, and no command of Django that could empty a database."""

import os
import sys
from collections.abc import Sequence

from dashboard.command_names import GROUPS, help_of

VERSION = "0.1.0"
EXIT_CODES = "Exit codes: 0 done, 1 failed or found something, 2 asked for something that makes no sense."


def help_text() -> str:
    """Every command by what it is about."""
    width = max(len(name) for group in GROUPS.values() for name in group)
    lines = ["Usage: levee COMMAND [--json] …, levee COMMAND --help, levee --version"]
    for title, group in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {name:<{width}}  {line}" for name, line in group.items())]
    return "\n".join([*lines, "", EXIT_CODES])


def main(words: Sequence[str]) -> int:
    """Print help or version, or run one of the commands named here."""
    name = words[0] if words else "--help"
    if name in {"--version", "version"}:
        print(f"levee {VERSION}")  # noqa: T201
        return 0
    if name in {"--help", "-h", "help"} and len(words) < 2:
        print(help_text())  # noqa: T201
        return 0
    if name == "help":
        name, words = words[1], (words[1], "--help")
    if not help_of(name):
        sys.stderr.write(f"levee has no command {name!r}: levee --help names them.\n")
        return 2
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(["levee", *words])
    except ImproperlyConfigured as error:  # its sentence names the variable; the way there helps nobody
        sys.exit(str(error))
    return 0
