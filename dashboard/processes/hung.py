"""Workers that run and do not work: stopped, deadlocked, or waiting for what never answers."""

from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connections
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.audit.log import record
from dashboard.jobs.beats import silent_queues
from dashboard.processes.supervisor import Supervisor

HUNG_AFTER = timedelta(minutes=5)
"""Longer than a tick takes: that of mails takes on work for one minute. A job shows life of its own."""
CLOCK = "beat"


def replace_hung(supervisor: Supervisor) -> None:
    """Kill each worker of whose queues none showed life for HUNG_AFTER, and the clock where no queue did; both are
    started again, and it is written into the audit log. A database that cannot be asked is asked again later."""
    try:
        silent = set(silent_queues(timezone.now(), HUNG_AFTER))
        for program in supervisor.up_for(HUNG_AFTER.total_seconds()):
            is_hung = bool(program.queues) and silent.issuperset(program.queues)
            if is_hung or (program.name == CLOCK and silent.issuperset(settings.QUEUES)):
                why = f"has shown no life for {HUNG_AFTER.total_seconds() / 60:.0f} minutes"
                supervisor.replace(program, why)
                record(
                    Actor.schedule(),
                    "worker.replace",
                    target_type="worker",
                    target_label=program.name,
                    detail=f"It {why}.",
                )
    except DatabaseError as error:
        supervisor.say(f"whether the workers answer cannot be read now: {error}")
    finally:
        connections.close_all()
