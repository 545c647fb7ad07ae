"""How many of Spark's tasks are done: asked of the status tracker."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from lake.spark.jobs.report import Report

LOOK_EVERY_SECONDS = 0.5


@contextmanager
def reporting_tasks(spark: Any, report: Report) -> Iterator[None]:
    """Report tasks for as long as the block lasts."""
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
