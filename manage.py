#!/usr/bin/env python3
"""Run Levee's commands: `manage.py COMMAND`, installed as `levee COMMAND`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # its sentence names the variable; the way there helps nobody
        sys.exit(str(error))


if __name__ == "__main__":
    main()
