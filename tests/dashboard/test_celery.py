"""What Celery may and may not do with jobs."""

import subprocess
import sys

import pytest
from django.conf import settings

from dashboard.celery import REAP_EVERY_SECONDS, app
from dashboard.jobs.reaper import SILENT_AFTER, UNCLAIMED_AFTER


@pytest.mark.parametrize("tick", sorted(app.conf.beat_schedule))
def test_every_tick_names_a_task_and_a_queue_that_exist_and_expires(tick: str) -> None:
    app.loader.import_default_modules()  # as a worker does when it starts
    entry = app.conf.beat_schedule[tick]
    assert entry["task"] in app.tasks
    assert entry["options"]["queue"] in app.conf.task_queues
    assert entry["options"]["expires"] == entry["schedule"]


def test_the_reaper_looks_often_enough() -> None:
    assert min(SILENT_AFTER, UNCLAIMED_AFTER).total_seconds() > REAP_EVERY_SECONDS


def test_the_clock_knows_the_schedule_and_loads_neither_models_nor_tasks() -> None:
    start = "from dashboard.celery import clock; clock.loader.init_worker(); clock.finalize()"
    ask = "import sys; print(len(clock.conf.beat_schedule), {'django.db', 'dashboard.jobs.ticks'} & sys.modules.keys())"
    done = subprocess.run(
        [sys.executable, "-c", f"{start}; {ask}"], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"{len(app.conf.beat_schedule)} set()"
