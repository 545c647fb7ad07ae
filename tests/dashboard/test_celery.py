"""What Celery may and may not do with jobs."""

import pytest

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
