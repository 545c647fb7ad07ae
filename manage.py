#!/usr/bin/env python3
"""Run Levee's commands, installed as `levee COMMAND`; `python -m django` has those of Django."""

import sys

from dashboard.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
