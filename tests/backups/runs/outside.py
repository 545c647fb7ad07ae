"""The command line in a process of its own that works on runs in plain Python, and may stop at a request to AWS.

Usage: python -m tests.backups.runs.outside PAUSE_AFTER WORD...

After its first request of the operation PAUSE_AFTER ("" for none) it writes a file `paused` into LEVEE_HOME and waits
there to be killed. With PAUSE_AFTER "meeting" two of them start a run at the same moment, and advance it from then on.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import django

from tests.waiting import scaled

LONGEST_PAUSE_SECONDS = scaled(60)
MEETING = "meeting"


def main(pause_after: str, *words: str) -> None:
    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from backups import actions, advancing, jobs
    from lake.aws.rare_clients import RareClient
    from lake.aws.wire import Wire
    from tests.backups.runs import plain

    jobs.parts = plain.parts
    advancing.POLL_SECONDS = 0.1
    if pause_after == MEETING:
        start_run = actions.start_run

        def start_with_the_other(*args: Any, **options: Any) -> Any:
            meet(settings.LEVEE_HOME / "ready")
            run = start_run(*args, **options)
            meet(settings.LEVEE_HOME / "started")
            return run

        actions.start_run = start_with_the_other
    elif pause_after:
        stand_behind(Wire, "send", pause_after, settings.LEVEE_HOME)
        stand_behind(RareClient, "ask", pause_after, settings.LEVEE_HOME)
    call_command(*words)


def meet(place: Path) -> None:
    """Wait until two processes are here."""
    place.mkdir(exist_ok=True)
    (place / str(os.getpid())).touch()
    until = time.monotonic() + LONGEST_PAUSE_SECONDS
    while len(list(place.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.001)


def stand_behind(owner: type, method: str, operation: str, home: Path) -> None:
    asked = getattr(owner, method)

    def ask(this: Any, request: Any, *args: Any) -> Any:
        answer = asked(this, request, *args)
        if getattr(request, "operation", request) == operation:
            (home / "paused").touch()
            time.sleep(LONGEST_PAUSE_SECONDS)
        return answer

    setattr(owner, method, ask)


if __name__ == "__main__":
    main(*sys.argv[1:])
