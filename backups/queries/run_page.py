"""A run as its page shows it: stages, verdict, what became of the objects, copy jobs, and the largest tables."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backups.models import CopyJob, FailureGroup, Run, RunStage, RunState, Stage
from backups.outcomes import GAPS, Outcome
from backups.queries.rows import Fact, lacks_permission, objects
from dashboard.web.states import look_of
from dashboard.web.text import duration, file_size, thousands

OUTCOME_WORDS = {
    Outcome.LISTED: ("Listed", "at the source"),
    Outcome.COPIED: ("Copied", "seen at the destination"),
    Outcome.ALREADY_THERE: ("Already there", "same size and ETag"),
    Outcome.CHANGED: ("Changed meanwhile", "another object by now"),
    Outcome.VANISHED: ("Vanished", "removed before it was copied"),
    Outcome.DENIED: ("Denied", "a permission is missing"),
    Outcome.TOO_NEW: ("Too new", "after the cut-off; the next run's"),
    Outcome.ARCHIVED: ("Archived", "to be restored from its class first"),
    Outcome.FAILED: ("Failed", ""),
}


_JOB_STATES = {
    "Complete": "succeeded",
    "Failed": "failed",
    "Failing": "failed",
    "Cancelled": "cancelled",
    "Cancelling": "cancelling",
    "Suspended": "waiting_for_approval",
}
_MEANWHILE = frozenset({Outcome.CHANGED, Outcome.VANISHED, Outcome.TOO_NEW, Outcome.ARCHIVED})


@dataclass(frozen=True, slots=True)
class StageView:
    """One stage: `figure` is its number, `css` marks the one that is waited at, and those to come."""

    stage: RunStage
    state: str
    figure: str
    detail: str
    total: int | None
    css: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many objects ended so; None before it is known."""

    word: str
    number: int | None
    detail: str
    url: str


@dataclass(frozen=True, slots=True)
class RunTableRow:
    """One table: objects to be copied, those there already, and the size of all of it; None is not known.

    `path` is a part of where it is, "" for all others together.
    """

    name: str
    path: str
    objects: int
    share: str
    there: int | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class RunView:
    """What the page of a run says besides the run's own fields."""

    label: str
    headline: str
    detail: str
    facts: tuple[Fact, ...]
    stages: tuple[StageView, ...]
    outcomes: tuple[OutcomeCount, ...]
    left_over_says: str
    preflight_helps: bool


def run_view(run: Run, now: datetime) -> RunView:
    return RunView(
        label=f"{run.plan.name}, {run.label}",
        headline=_headline(run),
        detail=_detail(run),
        facts=_facts(run, now),
        stages=tuple(_stage(run, stage) for stage in run.stages.all()),
        outcomes=_outcomes(run),
        left_over_says=_left_over_says(run),
        preflight_helps=lacks_permission(run),
    )


def failures_of(run: Run) -> list[tuple[str, str, FailureGroup]]:
    """What was left over by cause, each with the word and the state of its outcome."""
    groups = [(Outcome(group.outcome), group) for group in run.failures.all()]
    return [(OUTCOME_WORDS[of][0], "attention" if of in _MEANWHILE else "failed", group) for of, group in groups]


def copy_jobs_of(run: Run) -> list[tuple[str, CopyJob]]:
    """Copy jobs, each with its state."""
    return [
        (_JOB_STATES.get(job.status, "running" if job.status else "not_started"), job) for job in run.copy_jobs.all()
    ]


def table_rows(run: Run) -> list[RunTableRow]:
    """The largest tables by what is to be copied of them, and the rest in one row."""
    rows = sorted((_table_row(one, run) for one in run.tables.get("largest", [])), key=lambda row: -row.objects)
    rest = run.objects_planned - sum(row.objects for row in rows)
    if rows and rest > 0:
        rows.append(RunTableRow("All others", "", rest, _share(rest, run), None, None))
    return rows


def _table_row(one: dict[str, Any], run: Run) -> RunTableRow:
    number, path = one["copy"] + one["multipart"], one["table"].strip("/")
    name = ".".join(path.split("/")[-2:])
    return RunTableRow(name, path, number, _share(number, run), one["already_there"], one["bytes"])


def _share(number: int, run: Run) -> str:
    return f"{100 * number / run.objects_planned:.1f} %" if run.objects_planned else ""


def _headline(run: Run) -> str:
    if run.state == RunState.WAITING_FOR_APPROVAL:
        cost = f" for ${run.estimate_usd:,.2f}" if run.estimate_usd is not None else ""
        return (
            f"This run would copy {objects(run.objects_planned)}, "
            f"{file_size(run.bytes_planned)},{cost}. A person must decide."
        )
    if run.state == RunState.FAILED and run.sentence:
        return _what_and_cure(run)[0]
    return run.sentence or f"{look_of(run.state).word}."


def _what_and_cure(run: Run) -> tuple[str, str]:
    """What ended a run, and what its sentences say after that."""
    what, stop, rest = run.sentence.partition(". ")
    return (f"{what}.", f"{rest} ") if stop else (run.sentence, "")


def _detail(run: Run) -> str:
    if run.state == RunState.WAITING_FOR_APPROVAL:
        above = f"above the ${run.ceiling_usd:,.2f} that Levee may spend by itself. " if run.ceiling_usd else ""
        begin = "The estimate is " if above else ""
        return f"{begin}{above}Nothing has been copied. Source tables are only read."
    if run.state == RunState.FAILED:
        code = f"The code of the refusal is {run.error_code}. " if run.error_code else ""
        return f"{_what_and_cure(run)[1]}{code}What had been copied stays where it is."
    return ""


def _facts(run: Run, now: datetime) -> tuple[Fact, ...]:
    facts = [Fact("Cut-off", at=run.cut_off)] if run.cut_off else [Fact("Cut-off", "Not known yet")]
    length = run.took
    if length is not None:
        facts.append(Fact("Took", duration(length)))
    elif run.state == RunState.WAITING_FOR_APPROVAL:
        gate = next((one for one in run.stages.all() if one.name == Stage.COST_GATE), None)
        facts.append(Fact("Waiting for", duration(now - (gate.started_at if gate and gate.started_at else now))))
        facts.append(Fact("Objective missed", at=_missed_at(run)))
    elif run.started_at and not run.is_finished:
        facts.append(Fact("Elapsed", duration(now - run.started_at)))
    if cost := run.cost_text:
        estimate = f"estimate ${run.estimate_usd:,.2f}" if run.actual_usd is not None and run.estimate_usd else ""
        facts.append(Fact("Cost", cost, estimate))
    return tuple(fact for fact in facts if fact.value or fact.at)


def _missed_at(run: Run) -> datetime | None:
    """When the plan's newest copy becomes older than its objective; None without a copy."""
    newest = (
        run.plan.runs.copies()
        .filter(cut_off__isnull=False)
        .order_by("-cut_off")
        .values_list("cut_off", flat=True)
        .first()
    )
    return newest + timedelta(hours=run.plan.objective_hours) if newest else None


def _stage(run: Run, stage: RunStage) -> StageView:
    figure, detail = _figure(run, stage)
    is_here = stage.state in {"running", "waiting"} and not run.is_finished
    state = _waiting_state(run, stage) if stage.state == "waiting" else stage.state
    tone = look_of(state).tone
    css = f"{tone} here" if state == "waiting_for_approval" else "next" if stage.state == "next" else ""
    total = stage.total if is_here and stage.total else None
    return StageView(stage, state, figure, _said(run, stage, detail), total, css, is_here)


def _said(run: Run, stage: RunStage, of_figure: str) -> str:
    if stage.state == "failed" and stage.detail == run.sentence:
        return "The run ended here."
    return of_figure if stage.state == "done" and of_figure else stage.detail or of_figure


def _waiting_state(run: Run, stage: RunStage) -> str:
    """What a stage waits for: an inventory, a person, AWS at its work, or another try after trouble."""
    if run.failed_attempts:
        return "queued"
    if stage.name == Stage.COST_GATE:
        return "waiting_for_approval" if run.state == RunState.WAITING_FOR_APPROVAL else "queued"
    return {Stage.INVENTORY: "waiting_for_inventory", Stage.COPY: "running"}.get(Stage(stage.name), "queued")


def _figure(run: Run, stage: RunStage) -> tuple[str, str]:
    """The number of a stage, and what it counts; "" for what the stage says better itself."""
    if stage.state in {"next", "skipped"}:
        return "", ""
    match Stage(stage.name):
        case Stage.INVENTORY:
            said = f"objects listed. {stage.detail}".rstrip()
            return (thousands(run.listed), said) if run.listed else (run.inventory, "")
        case Stage.MANIFEST:
            said = f"objects to copy, {file_size(run.bytes_planned)}; {thousands(run.already_there)} there already"
            return (thousands(run.objects_planned), said) if stage.state == "done" else ("", "")
        case Stage.COST_GATE:
            return (f"${run.estimate_usd:,.2f}", "") if run.estimate_usd is not None else ("", "")
        case Stage.COPY:
            return thousands(stage.done or run.copied), ""
        case Stage.RECONCILE:
            safe, gaps = run.safe, run.left_over
            said = f"at the destination, {thousands(gaps)} left over"
            return (thousands(safe), said) if stage.state == "done" else ("", "")


def _outcomes(run: Run) -> tuple[OutcomeCount, ...]:
    is_known = run.state in {RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS} or any(
        stage.name == Stage.RECONCILE and stage.state == "done" for stage in run.stages.all()
    )
    if not is_known:
        listed = OutcomeCount("Listed", run.listed or None, "at the source", "")
        return listed, OutcomeCount("Safe, or left over", None, "said once the destination has been listed", "")
    counts = run.counts
    return tuple(
        OutcomeCount(
            word, counts[outcome.value], detail, "#failures" if outcome in GAPS and counts[outcome.value] else ""
        )
        for outcome, (word, detail) in OUTCOME_WORDS.items()
    )


def _left_over_says(run: Run) -> str:
    gaps = run.left_over
    share = f", {100 * gaps / run.listed:.2f} %" if run.listed else ""
    again = f"; a retry would try {thousands(run.worth_retry)} of them again" if run.worth_retry else ""
    return f"{thousands(gaps)} of {objects(run.listed)}{share}{again}"
