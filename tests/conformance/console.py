"""Levee as an operator uses it on real Spark: checks, confirmation, job, and the pages afterwards."""

import html
import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.urls import reverse

from coordinator.coordination import actions
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.offers import coordination_offers
from coordinator.models import DeltaTable
from coordinator.observation.passes import observe_one_table
from dashboard.accounts.actor import Actor
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri
from lake.spark.client import SparkWorker
from lake.spark.messages import SparkJob, SparkOutcome, SparkProgress
from lake.spark.session import SHORT_LIVED_JVM
from lake.spark.settings import WorkerSettings
from sandbox.ground import DELTA_COMMITS
from tests.builders.people import signed_in
from tests.conformance.levee import Levee
from tests.sparkworker import java_of, living, worker_home
from tests.waiting import wait_until


@dataclass
class Watched:
    """A Spark worker of the product's own; what `at_step` names happens once as the step begins."""

    worker: SparkWorker
    at_step: dict[str, Callable[[], object]]
    asked: list[str]

    def run(
        self,
        job: SparkJob,
        on_progress: Callable[[SparkProgress], None] = lambda progress: None,
        *,
        check: Callable[[], None] = lambda: None,
    ) -> SparkOutcome:
        def hear(progress: SparkProgress) -> None:
            on_progress(progress)
            if progress.seconds is None and (act := self.at_step.pop(progress.step, None)):
                act()

        self.asked.append(job.kind)
        return self.worker.run(job, hear, check=check)

    def close(self) -> None:
        self.worker.close()


@dataclass
class SparkOfLevee:
    """Stands in for the opening of a worker: a smaller one of the same kind, from its jars at hand.

    `at_step` is what the next job meets at a step, `asked` the kinds of jobs that Spark was given.
    """

    at_step: dict[str, Callable[[], object]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    newest: Watched | None = None

    def __call__(self, settings: WorkerSettings, home: Path) -> Watched:
        quick = replace(settings, java_options=SHORT_LIVED_JVM)
        self.newest = Watched(SparkWorker(quick, worker_home()), self.at_step, self.asked)
        return self.newest

    @property
    def pid(self) -> int | None:
        """The process group of the child that would take the next job; None while there is none."""
        return self.newest.worker.pid if self.newest else None

    def kill(self) -> None:
        """Kill -9 the child, and wait until nothing of its group lives; nothing where there is none."""
        if (group := self.pid) is not None:
            with suppress(ProcessLookupError):
                os.kill(group, signal.SIGKILL)
            assert wait_until(lambda: not living(group))

    def kill_java(self) -> None:
        """Kill -9 the JVM alone, as the system's out-of-memory killer does."""
        assert self.newest is not None
        os.kill(java_of(self.newest.worker), signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Page:
    """What the console shows of a table: its row, its open offers, and the words of the page."""

    table: DeltaTable
    offers: tuple[str, ...]
    text: str


class Console(Levee):
    """The same with what an operator does there."""

    def check(self, operation: Operation, uri: str, **change: Any) -> Job:
        """Every check of one act, made in this process."""
        given = {"store": DELTA_COMMITS} if operation is Operation.ENABLE else {}
        return actions.check(
            Actor.command(), self.connection, CoordinationRequest(operation, uri, **{**given, **change}), here=True
        )

    def act(self, operation: Operation, uri: str, *, probe: bool = False, **change: Any) -> Job:
        """Check, confirm what the checks say, and have it done."""
        checked = self.check(operation, uri, **change)
        found = checked.result["preflight"]
        assert found["may_run"], checked.message
        confirm = TableUri.parse(uri).name
        return actions.act(
            Actor.command(), checked, found["digest"], confirm=confirm, stated=True, probe=probe, here=True
        )

    def enable(self, uri: str, **more: Any) -> Job:
        return self.act(Operation.ENABLE, uri, **more)

    def drop(self, uri: str, **more: Any) -> Job:
        return self.act(Operation.DROP, uri, **more)

    def rehearse(self, operation: Operation, uri: str, **change: Any) -> Job:
        """Try it on a copy of the table's log."""
        given = {"store": DELTA_COMMITS} if operation is Operation.ENABLE else {}
        wanted = CoordinationRequest(operation, uri, **{**given, **change})
        return actions.rehearse(Actor.command(), self.connection, wanted, here=True)

    def observe(self, uri: str) -> None:
        with self.open() as lake:
            observe_one_table(self.connection, lake, TableUri.parse(uri))

    def page(self, uri: str) -> Page:
        """The table as stored, and as a signed-in operator sees it."""
        table = DeltaTable.objects.get(connection=self.connection, uri=uri)
        answer = signed_in().get(reverse("table", args=[table.pk]))
        assert answer.status_code == 200
        words = html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode()))
        offers = tuple(one.title for one in coordination_offers(table) if not one.reason)
        return Page(table, offers, " ".join(words.split()))
