"""Runs whose objects have been told apart, and their end by what is proven of their tables."""

import gzip
import hashlib
import io
import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from django.utils import timezone
from pyarrow import parquet

from backups.models import Run, RunStage, Stage
from backups.tasks import advance_runs
from dashboard.jobs.execution import execute
from dashboard.jobs.models import Job
from tests.backups.points.conftest import Backup
from tests.backups.runs.world import NOW
from tests.builders.copies import LOG

GAPS = "complete_with_gaps"
STAGED = f"{LOG}_staged_commits/{3:020d}.00000000-0000-4000-8000-000000000000.json"


def copied_run(backup: Backup, roots: Iterable[str] | None = ("t",), **fields: Any) -> Run:
    """A run whose objects have been told apart, so that its tables are the next thing to prove."""
    plan = {}
    if roots is not None:
        body = io.BytesIO()
        parquet.write_table(pa.table({"root": pa.array(list(roots), pa.string())}), body)
        backup.lake.put(backup.vault, "_levee/roots.parquet", body.getvalue())
        plan = {"roots": {"bucket": backup.vault, "key": "_levee/roots.parquet" if list(roots) else ""}}
    values = {"plan": backup.plan, "state": "running", "stage": Stage.PROVE, "started_at": timezone.now()}
    values |= {
        "cut_off": timezone.now(),
        "destination": backup.plan.destination,
        "evidence": {"plan": plan},
        "listed": 3,
        "copied": 3,
    }
    run = Run.objects.create(**{**values, **fields})
    for number, stage in enumerate(Stage, start=1):
        is_copied = stage != Stage.PROVE
        detail = "Of 3 objects, 3 are at the destination." if stage == Stage.RECONCILE else ""
        RunStage.objects.create(
            run=run, number=number, name=stage, state="done" if is_copied else "next", detail=detail
        )
    return run


def proven(run: Run) -> Run:
    """The run after a worker has gone on with it once."""
    Run.objects.update(look_again_at=None)
    advance_runs(NOW)
    for pk in Job.objects.filter(state="queued").values_list("pk", flat=True):
        execute(pk, "worker/1")
    run.refresh_from_db()
    return run


def states(run: Run) -> dict[str, str]:
    return {point.table.rpartition("/")[2]: point.state for point in run.points.all()}


def document_of(backup: Backup, proof: str) -> Any:
    return json.loads(backup.lake.get(backup.vault, proof.removeprefix(f"s3a://{backup.vault}/")))


def lines_of(backup: Backup, document: Any) -> list[dict[str, Any]]:
    packed = gzip.decompress(backup.lake.get(backup.vault, f"pool/{document['objects']}"))
    assert hashlib.sha256(packed).hexdigest() == document["hash"]
    return [json.loads(line) for line in packed.splitlines()]


def restored(backup: Backup, proof: str) -> dict[str, bytes]:
    """The objects of a table at `t/`, from the bucket alone: document, list, and what that names."""
    return {
        f"t/{one['path']}": backup.lake.get(backup.vault, f"pool/{one['key']}")
        for one in lines_of(backup, document_of(backup, proof))
    }
