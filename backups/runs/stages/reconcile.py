"""Last stage: report, manifest and a listing of the destination say what became of each object."""

from datetime import datetime

from django.db import transaction

from backups import lifecycle
from backups.models import FailureGroup, Plan, Run, RunState, Stage, StageState
from backups.outcomes import GAPS, WORTH_RETRY, Outcome
from backups.runs.causes import cause_of
from backups.runs.ports import Reconciled, Reports
from backups.runs.reports import reports_of
from backups.runs.work import Done, Elsewhere, GivenUp, RunFailed, StageAnswer, Work


def advance(work: Work) -> StageAnswer:
    if not work.has_spark:
        return Elsewhere()
    work.say("Verifies the reports by their MD5s, and compares them and the manifests with the destination.")
    run = work.run
    reports = reports_of(work.vault.s3, run.copy_jobs.all())
    found = work.pipeline.reconcile(work.wanted(), run.evidence.get("plan", {}), reports, _copied_until(run))
    counts: dict[Outcome, int] = {
        outcome: int(found.counts.get(outcome, 0)) for outcome in Outcome if outcome != Outcome.LISTED
    }
    if sum(counts.values()) != run.listed:
        raise RunFailed(
            "OutcomesDoNotAddUp",
            f"{sum(counts.values()):,} objects have an outcome, and {run.listed:,} were listed: "
            "none of them is called safe.",
        )
    work.show(Stage.RECONCILE, done=run.listed, total=run.listed)
    return _store(work, found, counts, reports)


def _copied_until(run: Run) -> datetime | None:
    """When the last job of S3 Batch Operations ended, whose reports name no ETag; None where one does not say."""
    ends = run.copy_jobs.filter(engine=Plan.Engine.S3_BATCH).values_list("ended_at", flat=True)
    known = [ended for ended in ends if ended is not None]
    return max(known) if known and len(known) == len(ends) else None


@transaction.atomic
def _store(work: Work, found: Reconciled, counts: dict[Outcome, int], reports: Reports) -> Done:
    run = work.run
    broken = [row for row in run.copy_jobs.all() if row.status != "Complete"]
    gaps = sum(counts[outcome] for outcome in GAPS)
    state = RunState.FAILED if broken else RunState.COMPLETE_WITH_GAPS if gaps or reports.doubts else RunState.COMPLETE
    safe = counts[Outcome.COPIED] + counts[Outcome.ALREADY_THERE]
    known = " known to be" if reports.doubts else ""
    sentence = f"{safe:,} of {run.listed:,} objects are{known} at the destination with their size and ETag or checksum."
    if gaps:
        sentence += f" {gaps:,} are not{known}: see the causes."
    if reports.doubts:
        sentence += f" {' '.join(reports.doubts)} What nothing else reports counts as not copied."
    if broken:
        reason = f": {broken[0].reason.rstrip('.')}" if broken[0].reason else ""
        sentence = f"Copy job {broken[0].number} {broken[0].status.lower()}{reason}. {sentence}"
    fields = {outcome.value: count for outcome, count in counts.items()}
    moved = lifecycle.move(
        run.pk,
        state,
        job=work.context.job,
        sentence=sentence,
        error_code="CopyJobFailed" if broken else "",
        bytes_copied=found.bytes_copied,
        worth_retry=int(found.retry.get("objects", 0)),
        evidence={**run.evidence, "reconciled": dict(found.facts), "retry": dict(found.retry)},
        **fields,
    )
    if not moved:
        raise GivenUp
    run.failures.all().delete()
    FailureGroup.objects.bulk_create(
        FailureGroup(
            run=run,
            outcome=group.outcome,
            code=group.code,
            cause=cause_of(group.outcome, group.code),
            object_count=group.objects,
            bytes=group.bytes,
            tables=group.tables,
            worth_retry=group.outcome in WORTH_RETRY,
            examples=list(group.examples),
        )
        for group in found.groups
    )
    lifecycle.close_stage(run.pk, Stage.RECONCILE, StageState.DONE, sentence)
    run.state = state
    return Done(sentence)
