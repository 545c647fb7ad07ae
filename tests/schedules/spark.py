"""Spark's part of enable and drop, played by the models of writers, with others acting between its requests as well."""

from collections.abc import Callable, Mapping
from typing import Any

from lake.spark.jobs import drop_coordinated_commits, enable_coordinated_commits
from lake.spark.messages import SparkError, SparkJob, SparkOutcome, SparkProgress
from tests.schedules.coordinated_scenes import ID
from tests.schedules.coordinator import CoordinatedWriter, Upgrade
from tests.schedules.gate import Gate
from tests.schedules.world import Statement, World


class ModelSpark:
    """In place of the warm worker; `gate` counts each request of a statement among Levee's own."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def borrow(self, *_: Any, **__: Any) -> "ModelSpark":
        return self

    def run(
        self,
        job: SparkJob,
        on_progress: Callable[[SparkProgress], None] = lambda _: None,
        *,
        check: Callable[[], None] = lambda: None,
    ) -> SparkOutcome:
        world, gate = self._gate.world, self._gate
        commits = len(world.ledger.accepted)
        on_progress(SparkProgress("Start Spark"))
        check()
        is_in = _drive(PROGRAMS[job.kind](world, job.params), gate)
        made = [{"version": commit.version} for commit in world.ledger.accepted[commits:]]
        if is_in:
            return SparkOutcome("done", True, {"commits": made}, None, (), 1.0)
        error = SparkError("ConcurrentWriteException", "DELTA_CONCURRENT_WRITE", "Another commit came first.")
        return SparkOutcome("failed", True, {}, error, (), 1.0)


def _drive(statement: Statement, gate: Gate) -> bool:
    """Let the statement make its requests, each a moment at which others may act; whether its commits are in."""
    while True:
        try:
            gate.moment(f"spark: {next(statement)}")
        except StopIteration as end:
            return bool(end.value)


def _enable(world: World, params: Mapping[str, Any]) -> Statement:
    return Upgrade(world, ID, path=params["table"], endpoint=params["endpoint"], store=params["store"]).run()


def _drop(world: World, params: Mapping[str, Any]) -> Statement:
    writer = CoordinatedWriter(world, ID)
    return writer.remove_feature() if params.get("finishing") else writer.downgrade()


PROGRAMS: Mapping[str, Callable[[World, Mapping[str, Any]], Statement]] = {
    enable_coordinated_commits.KIND: _enable,
    drop_coordinated_commits.KIND: _drop,
}
