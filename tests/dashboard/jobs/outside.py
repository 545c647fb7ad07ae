"""What the tests of real workers do in a process of its own, with a database in a file: one JSON document on stdout.

Usage: python -m tests.dashboard.jobs.outside VERB [ARGUMENT]
"""

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import django

from tests.waiting import scaled

RACERS = 8


def submit(kind: str) -> Any:
    """Queue a job and print its id."""
    from dashboard.accounts.actor import Actor
    from dashboard.jobs import actions

    return str(actions.submit(Actor.command(), kind, "From outside").pk)


def cancel(job_id: str) -> Any:
    """Ask a job to stop."""
    from dashboard.accounts.actor import Actor
    from dashboard.jobs import actions
    from dashboard.jobs.models import Job

    return actions.cancel(Actor.command(), Job.objects.get(pk=job_id))


def submit_at_once(kind: str) -> Any:
    """Submit the same job from eight threads at once; print the ids."""
    return race(lambda: submit(kind))


def race(act: Callable[[], Any]) -> list[Any]:
    """Return what `act` answered in each of the threads, all of which begin at the same moment."""
    from django.db import connection

    answers: list[Any] = []
    line = threading.Barrier(RACERS)

    def run() -> None:
        connection.ensure_connection()
        line.wait(timeout=scaled(20))
        try:
            answers.append(act())
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(RACERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=scaled(60))
    return answers


VERBS: dict[str, Callable[[str], Any]] = {verb.__name__: verb for verb in (submit, cancel, submit_at_once)}

if __name__ == "__main__":
    django.setup()
    import tests.dashboard.jobs.kinds  # noqa: F401 - registers the kinds

    sys.stdout.write(json.dumps(VERBS[sys.argv[1]](sys.argv[2])))
