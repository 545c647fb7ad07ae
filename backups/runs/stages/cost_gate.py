"""Third stage: copy jobs are created, suspended; what they cost is reckoned, and asked for above the ceiling."""

import hashlib
from decimal import Decimal

from django.conf import settings
from django.db import transaction

from backups import lifecycle
from backups.models import CopyJob, Plan, Run, RunState, Stage, StageState
from backups.outcomes import COPY_REFUSED
from backups.runs import prices
from backups.runs.work import Done, GivenUp, RunFailed, StageAnswer, Waiting, Work
from lake.backup.batch_manifest import Manifest

WAIT_SECONDS = 15.0


def advance(work: Work) -> StageAnswer:
    run = work.run
    if run.approved_at is not None:
        return Done(f"{run.approved_by_name} approved ${run.estimate_usd}.")
    items = items_of(run)
    estimate = prices.total(items)
    work.save(estimate_usd=estimate, estimate_lines=[item.document() for item in items])
    ready = _create_jobs(work)
    if ready is not None:
        return ready
    ceiling = run.ceiling_usd
    if ceiling is None or estimate <= ceiling:
        return Done(f"${estimate} is under the ceiling." if ceiling is not None else f"${estimate}, without a ceiling.")
    return _ask(work, estimate, ceiling)


def items_of(run: Run) -> tuple[prices.CostItem, ...]:
    """What the manifests of a run cost."""
    manifests = manifests_of(run)
    batch = [one for one in manifests if engine_of(run.plan, one) == Plan.Engine.S3_BATCH]
    large = [one for one in manifests if one.lane == "multipart"]
    return prices.lines(
        settings.BACKUP_PRICES,
        batch_jobs=len(batch),
        batch_objects=sum(one.objects for one in batch),
        copies=sum(one.objects for one in manifests if one.lane != "multipart"),
        large=sum(one.objects for one in large),
        large_bytes=sum(one.bytes for one in large),
        listed=run.listed if run.plan.inventory else 2 * run.listed,
        storage_class=run.plan.storage_class,
        uses_kms=bool(run.plan.encryption_key or run.plan.source_key),
    )


def engine_of(plan: Plan, manifest: Manifest) -> Plan.Engine:
    """S3 Batch copies up to 5 GB an object (User Guide, "Copy objects"); what is larger goes to Spark."""
    return Plan.Engine.SPARK if manifest.lane == "multipart" else Plan.Engine(plan.engine)


def _create_jobs(work: Work) -> Waiting | None:
    """Create every copy job; None once all are suspended with the number of tasks that the manifest has."""
    # Where a worker died while it ended the run, the other copy jobs are cancelled: this one is the reason.
    if refused := work.run.copy_jobs.filter(status="Failed").first():
        raise _refusal(refused)
    for number, manifest in enumerate(manifests_of(work.run), start=1):
        row = _row(work.run, number, manifest)
        if row.status in {"", "New", "Preparing"}:
            work.save_status(row, work.batch.look(row) if row.aws_job_id else work.batch.create(row))
        if row.status in {"New", "Preparing"}:
            return Waiting(WAIT_SECONDS, f"Waits until S3 has read the manifest of copy job {number}.")
        if row.total != manifest.objects and row.status != "Failed":
            raise RunFailed(
                "ManifestMiscounted",
                f"Copy job {number} has {row.total:,} tasks, and its manifest {manifest.objects:,} objects: "
                "nothing is copied.",
            )
        if row.is_over:
            raise _refusal(row)
    return None


def _refusal(row: CopyJob) -> RunFailed:
    said = (row.reason or row.status).rstrip(".")
    cure = "Run the preflight of the plan, mend what it finds, and start another run."
    return RunFailed(COPY_REFUSED, f"S3 refused copy job {row.number}: {said}. {cure}")


def manifests_of(run: Run) -> list[Manifest]:
    return [Manifest(**one) for one in run.lanes]


def _row(run: Run, number: int, manifest: Manifest) -> CopyJob:
    """Spark is told nothing before it copies, so that its copy job stands suspended from the first."""
    engine = engine_of(run.plan, manifest)
    row, _ = CopyJob.objects.get_or_create(
        run=run,
        number=number,
        defaults={
            "lane": manifest.lane,
            "engine": engine,
            "status": "Suspended" if engine == Plan.Engine.SPARK else "",
            "token": hashlib.sha256(f"{run.pk} {number} {manifest.etag}".encode()).hexdigest(),
            "manifest_bucket": manifest.bucket,
            "manifest_key": manifest.key,
            "manifest_etag": manifest.etag,
            "report_prefix": f"report/{number}/",
            "total": manifest.objects,
            "bytes": manifest.bytes,
        },
    )
    return row


def _ask(work: Work, estimate: Decimal, ceiling: Decimal) -> Waiting:
    sentence = f"${estimate} is above the ceiling of ${ceiling}: an operator approves or rejects it."
    with transaction.atomic():
        if not lifecycle.move(work.run.pk, RunState.WAITING_FOR_APPROVAL, job=work.context.job, sentence=sentence):
            raise GivenUp
        work.show(Stage.COST_GATE, state=StageState.WAITING, detail=sentence)
    work.run.state = RunState.WAITING_FOR_APPROVAL
    return Waiting(0, sentence)
