"""One act from fresh checks to proof: check, finish what writers left, let Spark do it, read the table again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from changes.calls import Sending
from changes.execution import execute
from changes.plan import ChangePlan
from coordinator.contract import CheckDocument
from coordinator.coordination.checks import Check, Operation, Preflight, differing, preflight_document
from coordinator.coordination.features import LEFT_BEHIND, features_of
from coordinator.coordination.left_registrations import left_by, removal_of
from coordinator.coordination.preflight import preflight
from coordinator.coordination.progress import ActProgress, SparkSteps
from coordinator.coordination.reading import CoordinationRequest, read_outcome, read_situation
from coordinator.coordination.situation import Situation
from coordinator.coordination.table_checks import backfills_of, half_dropped
from coordinator.coordination.verification import aftermath, proofs, registration_of, snapshot, unproven
from coordinator.observation.passes import observe_one_table
from coordinator.observation.reading import Reading
from coordinator.observation.saving import save_readings
from dashboard.connections.models import Connection
from dashboard.jobs.context import JobCancelled, JobFailed, JobInterrupted
from dashboard.spark.warm import spark
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.delta.uri import TableUri
from lake.spark.errors import SparkRefused
from lake.spark.jobs import (
    append_probe,
    create_table,
    drop_coordinated_commits,
    enable_coordinated_commits,
    remove_leftover_feature,
)
from lake.spark.messages import SparkJob, SparkOutcome

STAYING = (*LEFT_BEHIND, "checkpointProtection")
"""Features that are told of where a drop leaves them; Delta puts the last one in where it removes another at once."""
MOST_BACKFILLS = 20
"""Repairs before a drop; each is planned from a reading of its own."""

Keep = Callable[..., None]
"""Stores parts of the result as they become known: `keep(before=…, preflight=…)`."""
WhatNow = Callable[[SparkOutcome | None], str]
"""What the table is after Spark was cut short, and what is to be done; None where it gave no answer."""


@dataclass(frozen=True, slots=True)
class Act:
    """What is to be done and what was confirmed: `shown` are the checks as they were shown, None where none were."""

    change: CoordinationRequest
    shown: list[CheckDocument] | None = None
    probe: bool = False
    job: UUID | None = None


class CutShort(JobCancelled):
    """Cancelled while Spark was at it: says what the table is now."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class SparkFailed(JobFailed):
    """Spark, or Delta, ended a job in trouble: `said` is its own sentence."""

    def __init__(self, code: str, said: str, what_now: str) -> None:
        super().__init__(code, f"{said} {what_now}".strip())
        self.said = said


def carry_out(connection: Connection, lake: Lake, act: Act, progress: ActProgress, keep: Keep) -> str:
    """Do it and prove it; returns the sentence of the outcome. Raises JobFailed, JobCancelled, AwsError."""
    with progress.step("Check the preconditions") as step:
        situation, checked = _checked(connection, lake, act, keep)
        step.detail = _counts(checked)
    keep(before=snapshot(situation))
    if act.change.operation is Operation.DROP and backfills_of(situation):
        situation, checked = _backfill(connection, lake, act, situation, progress, keep)
    aftermath_of = partial(_what_now, connection, lake, act, situation, progress, keep)
    spark_job = _spark_job(act.change, checked, finishing=half_dropped(situation))
    outcome = _spark(connection, lake, situation, spark_job, progress, aftermath_of)
    if act.probe:
        # Only where asked for: an append of no rows, which takes a version.
        _spark(connection, lake, situation, append_probe.job(checked.location), progress, aftermath_of)
    said = [_also_removed(connection, lake, act, situation, checked, progress, aftermath_of)]
    with progress.step("Read the table again") as step:
        after = _observed(connection, lake, act)
        keep(after=snapshot(after))
        made = proofs(checked, after)
        keep(proofs=[check.sentence for check in made])
        if wrong := unproven(made):
            told = left_by(act.change.operation, situation, after).sentence
            raise JobFailed("NotProven", f"Spark was done, and this is not as it should be: {wrong} {told}".rstrip())
        step.detail = " ".join(check.sentence for check in made)
    return " ".join(part for part in (_outcome(act.change, checked, after, outcome), *said) if part)


def _checked(connection: Connection, lake: Lake, act: Act, keep: Keep) -> tuple[Situation, Preflight]:
    situation = read_situation(connection, lake, act.change, own_job=act.job)
    checked = preflight(situation)
    keep(preflight=preflight_document(checked))
    if not checked.may_run:
        raise JobFailed("Refused", f"Stopped before any change: {checked.refusal()}")
    moved = differing(act.shown, checked) if act.shown is not None else ()
    if moved:
        raise JobFailed("Moved", f"Stopped before any change: a check came out otherwise than shown. {_said(moved)}")
    return situation, checked


def _said(checks: tuple[Check, ...]) -> str:
    return " ".join(f"{check.name}: {check.sentence}" for check in checks)


def _counts(checked: Preflight) -> str:
    warned = len(checked.warnings)
    return f"{len(checked.checks)} checks, none failed, {warned} to weigh." if warned else "Every check passed."


def _backfill(
    connection: Connection, lake: Lake, act: Act, situation: Situation, progress: ActProgress, keep: Keep
) -> tuple[Situation, Preflight]:
    """Publish what the coordinator accepted, by the repairs' own plans; a drop would do it unseen, or fail half-way."""
    for _ in range(MOST_BACKFILLS):
        plans = backfills_of(situation)
        if not plans:
            break
        with progress.step(plans[0].title) as step:
            execution = execute(plans[0].calls, Sending(lake, check_cancelled=progress.check))
            if not execution.is_complete:
                end = execution.end
                raise JobFailed("NotBackfilled", f"Stopped before the drop: {end.sentence if end else 'not complete'}")
            step.detail = f"{len(execution.outcomes):,} calls."
        situation, checked = _checked(connection, lake, replace(act, shown=None), keep)
    else:
        raise JobFailed("NotBackfilled", "Stopped before the drop: the table gets new unbackfilled commits; pause it.")
    return situation, checked


def _spark_job(change: CoordinationRequest, checked: Preflight, *, finishing: bool) -> SparkJob:
    location = checked.location
    try:
        match change.operation:
            case Operation.ENABLE:
                return enable_coordinated_commits.job(location, checked.store, checked.endpoint)
            case Operation.DROP:
                return drop_coordinated_commits.job(location, finishing=finishing)
            case Operation.LEFTOVERS:
                return remove_leftover_feature.job(location, change.remove_features[0])
            case Operation.CREATE:
                return create_table.job(
                    location,
                    change.columns,
                    partition_by=change.partition_by,
                    store=checked.store,
                    endpoint=checked.endpoint,
                )
    except SparkRefused as error:
        raise JobFailed("Refused", f"Stopped before any change: {error}") from error


def _spark(
    connection: Connection, lake: Lake, situation: Situation, job: SparkJob, progress: ActProgress, what_now: WhatNow
) -> SparkOutcome:
    """Let Spark do one job; whatever cuts it short is told together with what the table is then."""
    steps = SparkSteps(progress)
    try:
        log_store = situation.log_store if situation.has_log_store else ""
        port = spark.borrow(connection, lake, log_store, situation.bucket_region)
        with steps:
            outcome = port.run(job, steps, check=progress.check)
            if outcome.state != "done":
                steps.fail()
    except JobInterrupted:
        raise
    except JobCancelled as cancelled:
        raise CutShort(f"Cancelled at {steps.last or 'the start of Spark'}. {what_now(None)}") from cancelled
    except SparkRefused as error:
        raise JobFailed("Refused", f"Stopped before any change: {error}") from error
    if outcome.state == "done":
        return outcome
    raise _failure(outcome, what_now(outcome) if outcome.began else "")


def _failure(outcome: SparkOutcome, what_now: str) -> SparkFailed:
    told = outcome.error
    code = (told.condition or told.type) if told else outcome.state
    said = told.sentence if told else f"Spark's job ended as {outcome.state}."
    return SparkFailed(code, said if outcome.began else f"Stopped before any change: {said}", what_now)


def _what_now(
    connection: Connection,
    lake: Lake,
    act: Act,
    before: Situation,
    progress: ActProgress,
    keep: Keep,
    outcome: SparkOutcome | None,
) -> str:
    """Look once, without any step: a cancelled job may begin none. What the act left is told, or removed."""
    try:
        after = _observed(connection, lake, act)
        left = left_by(act.change.operation, before, after)
        said = aftermath(act.change.operation, after)
        if not left.registrations:
            return f"{said} {left.sentence}".rstrip()
        removed = _remove(lake, removal_of(left, after, outcome), progress, keep)
        keep(after={**snapshot(after), "left": left.document(removed=bool(removed))})
        if removed:
            _observed(connection, lake, act)
        return f"{said} {left.sentence} {removed or left.stays}"
    except AwsError as error:
        return f"The table could not be read again ({error}): observe it before anything else."


def _remove(lake: Lake, plan: ChangePlan | None, progress: ActProgress, keep: Keep) -> str:
    """Remove what the act itself left, if it is still as it was read; the sentence of the call, "" where it stays."""
    if plan is None:
        return ""
    try:
        execution = execute(plan.calls, Sending(lake, check_cancelled=progress.check))
    except JobCancelled:
        return ""
    keep(aws_request_ids=list(execution.request_ids))
    for outcome in execution.outcomes:
        progress.note(outcome.sentence)
    return execution.outcomes[0].sentence if execution.is_complete else ""


def _observed(connection: Connection, lake: Lake, act: Act) -> Situation:
    """Read once what has to be proven, and store the same reading for the pages."""

    def store(reading: Reading) -> None:
        save_readings(connection, [reading])

    after = read_outcome(connection, lake, act.change, store)
    if after.error:
        observe_one_table(connection, lake, TableUri.parse(act.change.uri))
    return after


def _also_removed(
    connection: Connection,
    lake: Lake,
    act: Act,
    situation: Situation,
    checked: Preflight,
    progress: ActProgress,
    what_now: WhatNow,
) -> str:
    """After a drop, remove what it leaves behind; Delta may refuse, and the drop stands either way."""
    if act.change.operation is not Operation.DROP:
        return ""
    said = []
    for feature in act.change.remove_features:
        try:
            job = remove_leftover_feature.job(checked.location, feature)
            _spark(connection, lake, situation, job, progress, what_now)
            said.append(f"{feature} was removed.")
        except SparkFailed as error:
            progress.note(f"{feature} stays: {error.said}", level="WARN")
            said.append(f"{feature} stays, as Delta says: {error.said}")
    return " ".join(said)


def _outcome(change: CoordinationRequest, checked: Preflight, after: Situation, outcome: SparkOutcome) -> str:
    newest = after.repair.verdict.published_version if after.repair else None
    item = registration_of(after)
    registered = f" as {item.table_id}" if item else ""
    match change.operation:
        case Operation.ENABLE:
            return f"Coordinated commits are on: registered in {checked.store}{registered}, at version {newest}."
        case Operation.CREATE:
            return f"The table is there, coordinated by {checked.store}{registered}."
        case Operation.LEFTOVERS:
            return f"{change.remove_features[0]} is gone, at version {newest}."
        case Operation.DROP:
            commits = [str(one.get("version")) for one in outcome.result.get("commits", [])]
            features = features_of(after.protocol) if after.protocol else frozenset()
            left = ", ".join(feature for feature in STAYING if feature in features) or "no feature"
            return (
                f"Coordinated commits are off since version {commits[-1] if commits else newest} "
                f"(commits {', '.join(commits) or 'none'}). "
                f"Left behind: {left}, and the coordinator's item, which accepts no more."
            )
