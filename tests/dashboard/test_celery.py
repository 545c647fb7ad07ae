"""What Celery may and may not do with jobs."""

import pytest

import coordinator.tasks
from dashboard.celery import REAP_EVERY_SECONDS, VISIBILITY_TIMEOUT_SECONDS, app
from dashboard.jobs.reaper import SILENT_AFTER, UNCLAIMED_AFTER


@pytest.mark.parametrize("tick", sorted(app.conf.beat_schedule))
def test_every_tick_names_a_task_and_a_queue_that_exist_and_expires(tick: str) -> None:
    app.loader.import_default_modules()  # as a worker does when it starts
    entry = app.conf.beat_schedule[tick]
    assert entry["task"] in app.tasks
    assert entry["options"]["queue"] in app.conf.task_queues
    assert entry["options"]["expires"] == entry["schedule"]


def test_the_tasks_of_the_lake_are_loaded() -> None:
    assert coordinator.tasks.observe_tick.name == "coordinator.tasks.observe_tick"


def test_a_message_is_acknowledged_before_the_work_and_none_is_held_back() -> None:
    assert app.conf.task_acks_late is False
    assert app.conf.worker_prefetch_multiplier == 1


def test_the_row_is_the_only_result() -> None:
    assert app.conf.task_ignore_result is True
    assert app.conf.result_backend is None


def test_nothing_but_json_is_accepted() -> None:
    assert (app.conf.accept_content, app.conf.task_serializer) == (["json"], "json")


def test_redis_keeps_a_message_longer_than_any_tick_takes() -> None:
    timeouts = {
        app.conf.visibility_timeout,
        app.conf.broker_transport_options["visibility_timeout"],
        app.conf.result_backend_transport_options["visibility_timeout"],
    }
    assert timeouts == {VISIBILITY_TIMEOUT_SECONDS}


def test_the_reaper_looks_often_enough() -> None:
    assert min(SILENT_AFTER, UNCLAIMED_AFTER).total_seconds() > REAP_EVERY_SECONDS
