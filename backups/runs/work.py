"""What a stage works with, and what it answers."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from backups import lifecycle
from backups.models import Run, Stage
from backups.runs.ports import CopyEngine, Pipeline, Planned, Wanted, place_of
from dashboard.jobs.context import JobContext
from lake.aws.access import Lake
from lake.backup.batch_manifest import Manifest
from lake.backup.objects import BucketPrefix


class RunFailed(Exception):
    """The run cannot be done, whatever is tried: a code and one sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class GivenUp(Exception):
    """Another job holds the run, or somebody has ended it: this one changes nothing any more."""


@dataclass(frozen=True, slots=True)
class Done:
    """The stage is over; the detail is kept with it."""

    detail: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The stage waits on somebody else; look again after so many seconds."""

    seconds: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The next thing to do belongs to the other queue."""


StageAnswer = Done | Waiting | Elsewhere


@dataclass(slots=True)
class Work:
    """One run, as the job that acquired it works on it."""

    run: Run
    context: JobContext
    vault: Lake
    pipeline: Pipeline
    engines: Mapping[str, CopyEngine]
    has_spark: bool
    now: Callable[[], datetime]

    def save(self, **fields: Any) -> None:
        """Store facts of the run. Raises GivenUp if it is no longer this job's."""
        if not lifecycle.save(self.run.pk, self.context.job, **fields):
            raise GivenUp
        for name, value in fields.items():
            setattr(self.run, name, value)

    def say(self, sentence: str) -> None:
        """Tell what the run does now, on its own page and on the job's."""
        self.save(sentence=sentence)
        self.context.say(sentence)

    def show(self, stage: Stage, **fields: Any) -> None:
        lifecycle.show_stage(self.run.pk, self.context.job, stage, **fields)

    @property
    def folder(self) -> BucketPrefix:
        return place_of(self.run.folder)

    def wanted(self) -> Wanted:
        run, plan = self.run, self.run.plan
        return Wanted(
            run=str(run.pk),
            source=place_of(plan.source),
            destination=place_of(run.destination),
            folder=self.folder,
            inventory_bucket=run.inventory_bucket,
            inventory_manifest=run.inventory_manifest,
            cut_off=until_of(run),
            selection=plan.selection,
            files=plan.files,
            window_hours=plan.window_hours,
            storage_class=plan.storage_class,
            encryption_key=plan.encryption_key,
            retry=run.retry_of.evidence.get("retry", {}) if run.retry_of else {},
            pool=_pool(run),
        )


def until_of(run: Run) -> datetime:
    """What was written later is too new; a second try takes what stands at the source when it begins."""
    moment = run.started_at if run.retry_of else run.cut_off
    if moment is None:
        raise RunFailed("NoCutOff", "The run has no cut-off: its inventory stage did not end.")
    return moment


def _pool(run: Run) -> Mapping[str, Any]:
    """Where the outcomes of the last run into the same destination lie, {} before the first."""
    earlier = run.plan.runs.filter(destination=run.destination, evidence__has_key="reconciled").exclude(pk=run.pk)
    last = earlier.order_by("-created_at").first()
    found: Mapping[str, Any] = last.evidence["reconciled"].get("reconciled", {}) if last else {}
    return found


def as_fields(planned: Planned) -> dict[str, object]:
    """What a run keeps of its planning."""
    return {
        "listed": planned.listed,
        "already_there": planned.already_there,
        "too_new": planned.too_new,
        "archived": planned.archived,
        "objects_planned": sum(one.objects for one in planned.manifests),
        "bytes_planned": sum(one.bytes for one in planned.manifests),
        "lanes": [asdict(one) for one in planned.manifests],
        "tables": dict(planned.tables),
        "evidence": {"plan": dict(planned.facts)},
    }


def manifests_of(run: Run) -> tuple[Manifest, ...]:
    return tuple(Manifest(**one) for one in run.lanes)
