"""How many of Spark's tasks are done: asked of the status tracker in a JVM of our own, told by a Connect server."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from lake.spark.jobs.report import Report

LOOK_EVERY_SECONDS = 0.5


@contextmanager
def reporting_tasks(spark: Any, report: Report, *, behind_server: bool) -> Iterator[None]:
    """Report tasks for as long as the block lasts."""
    with _told_by_server(spark, report) if behind_server else _asked_of_tracker(spark, report):
        yield


@contextmanager
def _asked_of_tracker(spark: Any, report: Report) -> Iterator[None]:
    tracker, ended = spark.sparkContext.statusTracker(), Event()

    def look() -> None:
        from py4j.protocol import Py4JError

        while not ended.wait(LOOK_EVERY_SECONDS):
            try:
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            except (Py4JError, OSError):
                return  # the JVM is gone, of which the job itself will tell
            if known := [stage for stage in stages if stage is not None]:
                report.tasks(sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known))

    thread = Thread(target=look, name="tasks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=5)


@contextmanager
def _told_by_server(spark: Any, report: Report) -> Iterator[None]:
    def hear(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        if stages:
            completed, total = sum(s.num_completed_tasks for s in stages), sum(s.num_tasks for s in stages)
            report.tasks(completed, total)

    spark.registerProgressHandler(hear)
    try:
        yield
    finally:
        spark.removeProgressHandler(hear)
