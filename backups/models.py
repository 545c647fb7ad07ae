"""Backup plans, their runs, and what became of each run's objects.

A run's changes of state are conditional UPDATEs in `backups.lifecycle`; docs/decisions tells why.
"""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q

from backups.outcomes import GAPS, OVER, Outcome
from lake.backup.batch_manifest import Manifest


class Plan(models.Model):
    """What is to be copied, from where to where, how often, and what it may cost."""

    class Engine(models.TextChoices):
        S3_BATCH = "s3-batch", "S3 Batch Operations"
        SPARK = "spark", "Spark"

    class Selection(models.TextChoices):
        INCREMENTAL = "incremental", "What the destination lacks"
        ALL = "all", "Everything"

    class Files(models.TextChoices):
        ALL = "all", "All files"
        LIVE = "live", "Files of live versions"

    name = models.CharField(max_length=64, unique=True)
    connection = models.ForeignKey("connections.Connection", on_delete=models.PROTECT, related_name="plans")
    vault_connection = models.ForeignKey("connections.Connection", on_delete=models.PROTECT, related_name="vault_plans")
    source = models.CharField(max_length=1100)  # s3a:// URI
    destination = models.CharField(max_length=1100)  # s3a:// URI; {date} in the bucket's name: one per snapshot
    inventory = models.CharField(max_length=1100, blank=True)  # s3a:// URI; empty: the source is listed
    minimum_lag_hours = models.PositiveIntegerField(default=24)
    engine = models.CharField(max_length=16, choices=Engine.choices, default=Engine.S3_BATCH)
    schedule = models.CharField(max_length=64, blank=True)  # cron, UTC; empty: by hand
    objective_hours = models.PositiveIntegerField(default=36)  # How far behind its source a table may be
    cost_ceiling_usd = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    keep = models.JSONField(default=dict)  # {daily, weekly, monthly}
    # s3a:// URI of manifests and reports; empty: _levee/ at the destination
    evidence = models.CharField(max_length=1100, blank=True)
    selection = models.CharField(max_length=16, choices=Selection.choices, default=Selection.INCREMENTAL)
    files = models.CharField(max_length=8, choices=Files.choices, default=Files.ALL)
    window_hours = models.PositiveIntegerField(default=168)  # Of live files: how far time travel reaches back
    role_arn = models.CharField(max_length=256, blank=True)  # The role that S3 Batch Operations acts as
    storage_class = models.CharField(max_length=32, blank=True)  # Of the copies; empty: STANDARD
    encryption_key = models.CharField(max_length=256, blank=True)  # ARN of the KMS key of the copies
    source_key = models.CharField(max_length=256, blank=True)  # ARN of the KMS key of the source
    notify = models.JSONField(default=list, blank=True)  # Addresses of people to tell
    paused = models.BooleanField(default=False)  # The schedule starts nothing

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class DueRun(models.Model):
    """When the schedule of a plan comes next; the tick that moves `next_at` by a conditional UPDATE starts the run."""

    plan = models.OneToOneField(Plan, on_delete=models.CASCADE, related_name="due")
    schedule = models.CharField(max_length=64)  # The line that next_at was reckoned from
    next_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.plan_id} at {self.next_at:%Y-%m-%d %H:%M}"


class InventoryState(models.TextChoices):
    ARRIVED = "arrived"
    REFUSED = "refused"


class Inventory(models.Model):
    """One delivery of S3 Inventory that was looked at for a plan: taken or refused, and why."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="inventories")
    name = models.CharField(max_length=32)  # The dated folder: 2026-11-19T00-00Z
    manifest_bucket = models.CharField(max_length=63)
    manifest_key = models.CharField(max_length=1100)
    created_at = models.DateTimeField(null=True)  # When S3 began the scan
    state = models.CharField(max_length=16)
    reason = models.TextField(blank=True)  # Why it was refused: one sentence
    format = models.CharField(max_length=8, blank=True)
    files = models.PositiveIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    checked_at = models.DateTimeField()

    class Meta:
        ordering = ("-name",)
        constraints = [models.UniqueConstraint(fields=["plan", "name"], name="inventory_once_per_plan")]

    def __str__(self) -> str:
        return f"{self.name} {self.state}"

    @property
    def next_at(self) -> datetime:
        """When the one after it is expected."""
        return (self.created_at or self.checked_at) + timedelta(days=1)


class RunState(models.TextChoices):
    """Where a run stands; `backups.lifecycle` has the transitions."""

    WAITING_FOR_INVENTORY = "waiting_for_inventory"
    RUNNING = "running"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    CANCELLING = "cancelling"
    COMPLETE = "complete"
    COMPLETE_WITH_GAPS = "complete_with_gaps"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = (RunState.WAITING_FOR_INVENTORY, RunState.RUNNING, RunState.WAITING_FOR_APPROVAL, RunState.CANCELLING)
FINISHED = (RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS, RunState.FAILED, RunState.CANCELLED)


class Stage(models.TextChoices):
    """The stages of a run, in order."""

    INVENTORY = "inventory"
    MANIFEST = "manifest"
    COST_GATE = "cost_gate", "Cost gate"
    COPY = "copy"
    RECONCILE = "reconcile"
    PROVE = "prove"


class Runs(models.QuerySet["Run"]):
    """Runs, with those among them that made a copy, and that proved what of its tables can be restored."""

    def copies(self) -> "Runs":
        """Those that ended with something of the source at the destination; whether it can be restored is not known."""
        return self.filter(state__in=(RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS)).exclude(
            copied=0, already_there=0
        )

    def proofs(self) -> "Runs":
        """Those that proved what can be restored of their plan's tables, the newest first."""
        return self.filter(is_proof=True).order_by("-created_at", "-id")


class Run(models.Model):
    """One backup of one plan."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(max_length=24, default=RunState.WAITING_FOR_INVENTORY)
    stage = models.CharField(max_length=16, default=Stage.INVENTORY)
    sentence = models.TextField(blank=True)  # What it does or waits for, or how it ended
    error_code = models.CharField(max_length=128, blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    requested_by_name = models.CharField(max_length=150)  # A person's name, schedule or command
    retry_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="retries")
    # Which job moves it
    worker = models.ForeignKey("jobs.Job", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    due_at = models.DateTimeField(null=True)  # When the schedule wanted it; null: started by hand
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)  # When it had its inventory
    finished_at = models.DateTimeField(null=True)
    look_again_at = models.DateTimeField(null=True)  # Before this the tick leaves it alone
    failed_attempts = models.PositiveSmallIntegerField(default=0)  # Troubles with AWS in a row

    inventory = models.CharField(max_length=32, blank=True)  # The dated folder; empty: the source is listed
    inventory_bucket = models.CharField(max_length=63, blank=True)
    inventory_manifest = models.CharField(max_length=1100, blank=True)  # Key of its manifest.json
    cut_off = models.DateTimeField(null=True)  # Everything up to here is taken to be in the inventory
    destination = models.CharField(max_length=1100, blank=True)  # The plan's, with its date filled in
    folder = models.CharField(max_length=1200, blank=True)  # s3a:// URI of manifests and reports

    estimate_usd = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    estimate_lines = models.JSONField(default=list)  # [{item, count, unit, price, usd}]
    ceiling_usd = models.DecimalField(max_digits=10, decimal_places=2, null=True)  # The plan's, as it was
    actual_usd = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    approved_by_name = models.CharField(max_length=150, blank=True)
    approved_at = models.DateTimeField(null=True)

    lanes = models.JSONField(default=list)  # [{lane, manifests: [{bucket, key, etag, objects, bytes}]}]
    # {tables, largest: [{table, objects, bytes}], points: {proven: 14, …}, restorable: [[from, to, of all tables], …]}
    tables = models.JSONField(default=dict)
    is_proof = models.BooleanField(default=False)  # It has proven the tables of the plan as that is
    # Every commit of each table that S3 was given before can be restored; null: that is not known of one
    holds_until = models.DateTimeField(null=True)
    not_known_since = models.DateTimeField(null=True)  # Then since when, in this and earlier proofs
    evidence = models.JSONField(default=dict)  # Where outcomes lie, and what is worth another try

    listed = models.BigIntegerField(default=0)
    copied = models.BigIntegerField(default=0)
    already_there = models.BigIntegerField(default=0)
    changed = models.BigIntegerField(default=0)
    vanished = models.BigIntegerField(default=0)
    denied = models.BigIntegerField(default=0)
    too_new = models.BigIntegerField(default=0)
    archived = models.BigIntegerField(default=0)
    failed = models.BigIntegerField(default=0)
    objects_planned = models.BigIntegerField(default=0)
    bytes_planned = models.BigIntegerField(default=0)
    bytes_copied = models.BigIntegerField(default=0)
    worth_retry = models.BigIntegerField(default=0)  # Objects that another try may bring

    objects = Runs.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="run_newest"),
            models.Index(fields=["plan", "-created_at"], name="run_plan_newest"),
            models.Index(fields=["state", "-created_at"], name="run_state_newest"),
            models.Index(fields=["finished_at", "plan"], name="run_ended"),
        ]
        constraints = [
            # A second start of the same plan finds the first run instead of copying everything twice.
            models.UniqueConstraint(
                fields=["plan"],
                condition=Q(state__in=[state.value for state in ACTIVE]),
                name="run_one_active_per_plan",
            )
        ]

    def __str__(self) -> str:
        return f"{self.plan} {self.id}"

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def is_reconciled(self) -> bool:
        return self.state in {RunState.COMPLETE, RunState.COMPLETE_WITH_GAPS} or self.stage == Stage.PROVE

    @property
    def counts(self) -> dict[str, int]:
        """Objects by outcome, in the order in which they are told."""
        return {outcome.value: getattr(self, outcome.value) for outcome in Outcome}

    @property
    def safe(self) -> int:
        return self.copied + self.already_there

    @property
    def points_by_state(self) -> dict[str, int]:
        """Tables by the state of their points, as they were when the run ended."""
        counts = self.tables.get("points", {})
        return {state.value: counts.get(state, 0) for state in PointState}

    @property
    def table_count(self) -> int:
        return sum(self.points_by_state.values())

    @property
    def left_over(self) -> int:
        """Objects that the source still has and that are not safe."""
        return sum(self.counts[outcome.value] for outcome in GAPS)

    @property
    def left_over_percent(self) -> float | None:
        return 100 * self.left_over / self.listed if self.listed else None

    @property
    def label(self) -> str:
        """The moment that a run holds, by which people tell it from others: 20 November 02:00."""
        moment = self.cut_off or self.due_at or self.created_at
        return f"{moment.day} {moment:%B %H:%M}"

    @property
    def took(self) -> timedelta | None:
        return self.finished_at - self.started_at if self.started_at and self.finished_at else None

    @property
    def cost_text(self) -> str:
        """What a run cost, or where that was not counted is estimated to; empty before the estimate."""
        if self.actual_usd is not None:
            return f"${self.actual_usd:,.2f}"
        return f"estimate ${self.estimate_usd:,.2f}" if self.estimate_usd is not None else ""


class StageState(models.TextChoices):
    NEXT = "next"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class RunStage(models.Model):
    """One stage of a run as a person sees it: a row for each, made with the run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="stages")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=16)
    state = models.CharField(max_length=8, default=StageState.NEXT)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    detail = models.TextField(blank=True)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="stage_once_per_run")]

    def __str__(self) -> str:
        return f"{self.name} {self.state}"

    @property
    def is_here(self) -> bool:
        """Whether the run is at this stage."""
        return self.state in {StageState.RUNNING, StageState.WAITING} and not self.run.is_finished

    @property
    def shown_state(self) -> str:
        """A stage that waits is shown as what it waits for: an inventory, a person, AWS at its work, or another try."""
        if self.state != StageState.WAITING:
            return self.state
        if self.run.failed_attempts:
            return "queued"
        if self.name == Stage.COST_GATE and self.run.state == RunState.WAITING_FOR_APPROVAL:
            return self.run.state
        return {Stage.INVENTORY: "waiting_for_inventory", Stage.COPY: "running"}.get(Stage(self.name), "queued")


class CopyJob(models.Model):
    """One manifest given to one engine. `token` makes a second creation at AWS find the first."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="copy_jobs")
    number = models.PositiveSmallIntegerField()
    lane = models.CharField(max_length=16)
    engine = models.CharField(max_length=16, choices=Plan.Engine.choices)
    token = models.CharField(max_length=64, unique=True)
    manifest_bucket = models.CharField(max_length=63)
    manifest_key = models.CharField(max_length=1200)
    manifest_etag = models.CharField(max_length=64, blank=True)
    report_prefix = models.CharField(max_length=1200)
    aws_job_id = models.CharField(max_length=64, blank=True)
    status = models.CharField(max_length=16, blank=True)  # In AWS's words: New … Suspended … Complete
    reason = models.TextField(blank=True)  # Failure reasons, in AWS's words
    done = models.BigIntegerField(default=0)
    failed = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    active_seconds = models.BigIntegerField(default=0)
    priority = models.PositiveIntegerField(default=10)
    updated_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)  # When it ended, as AWS says; null: it says nothing

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="copy_job_once_per_run")]

    def __str__(self) -> str:
        return f"{self.lane} {self.status or 'to be created'}"

    @property
    def is_over(self) -> bool:
        return self.status in OVER

    @property
    def manifest(self) -> Manifest:
        return Manifest(self.lane, self.manifest_bucket, self.manifest_key, self.manifest_etag, self.total, self.bytes)


class PointState(models.TextChoices):
    """PROVEN: a version restores, with every commit that is older than the plan's objective. BEHIND: with some of these
    lacking. TOO_NEW: the whole table is younger. UNPROVABLE: none restores, or what is lacking is not known."""

    PROVEN = "proven"
    TOO_NEW = "too_new"
    BEHIND = "behind"
    UNPROVABLE = "unprovable"


AS_PROMISED = frozenset({PointState.PROVEN, PointState.TOO_NEW})
"""States of tables that break no promise of their plan."""


class Points(models.QuerySet["RestorePoint"]):
    """Restore points, with those among them that the newest proof of their plan, or a run since, has made."""

    def newest(self) -> "Points":
        """Those of tables that were not found any more stay as they were, and are none of these: two queries."""
        proofs = Run.objects.proofs().filter(plan=models.OuterRef("plan")).values("created_at")[:1]
        made = Run.objects.filter(pk__in=self.order_by().values("run")).annotate(proven_at=models.Subquery(proofs))
        runs = made.filter(created_at__gte=models.F("proven_at")).order_by().values_list("pk", flat=True)
        return self.filter(earlier="", run__in=list(runs)).order_by()


class RestorePoint(models.Model):
    """What can be restored of a table, as the newest run of the plan that found it at the source has proven it.

    What is kept in the backup stays, as an earlier point, where a later run finds another table at that place or cannot
    keep a point of it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="points")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="points")
    destination = models.CharField(max_length=1100)  # The run's
    table = models.CharField(max_length=1100)  # s3a:// URI at the source
    incarnation = models.TextField(blank=True)  # metaData.id
    earlier = models.CharField(max_length=36, blank=True)  # Of an earlier point its id, empty for the newest
    state = models.CharField(max_length=16, choices=PointState.choices)
    sentence = models.TextField()
    anchored = models.BooleanField()  # Its log was compared with the source's
    version = models.BigIntegerField(null=True)  # The newest that can be restored
    committed_at = models.DateTimeField(null=True)
    # Every commit that S3 was given before is in `version`; null: not known
    holds_until = models.DateTimeField(null=True)
    accepted_version = models.BigIntegerField(null=True)  # At the source when it was proven
    accepted_at = models.DateTimeField(null=True)
    rpo_seconds = models.BigIntegerField(null=True)
    ranges = models.JSONField(default=list)  # All versions that can be restored, [first, last] each
    moments = models.JSONField(default=list)  # To which it can be restored, the newest: [[from, to], …]
    unpublished = models.JSONField(default=list)  # [{version, key}] of those that DynamoDB alone shows
    blocked = models.JSONField(default=list)  # [{first_version, version, key, reason}], some of blocked_total
    blocked_total = models.BigIntegerField(default=0)
    files = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    in_commit_timestamps = models.BooleanField(null=True)  # Whether the commit of `version` has one
    proof = models.CharField(max_length=2300, blank=True)  # s3a:// URI of the point's document in the backup
    not_kept = models.TextField(blank=True)  # Why there is none, although something can be restored
    problems = models.JSONField(default=list)  # Sentences on what of the log could not be read
    proven_at = models.DateTimeField()

    objects = Points.as_manager()

    class Meta:
        ordering = ("plan", "table")
        indexes = [
            models.Index(fields=["table"], name="point_of_table"),
            models.Index(fields=["run", "state", "table"], name="point_of_run"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["plan", "table", "earlier"], name="point_once_of_each_table"),
        ]

    def __str__(self) -> str:
        return f"{self.table} {self.state}"


class FailureGroup(models.Model):
    """Objects of a run that are not safe, by one cause."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="failures")
    outcome = models.CharField(max_length=16)
    code = models.CharField(max_length=64, blank=True)  # The error code of S3, empty without one
    cause = models.TextField()  # What happened and what to do
    object_count = models.BigIntegerField()
    bytes = models.BigIntegerField(default=0)
    tables = models.BigIntegerField(default=0)
    worth_retry = models.BooleanField(default=False)
    examples = models.JSONField(default=list)  # A few keys

    class Meta:
        ordering = ("-object_count", "outcome", "code")
        constraints = [models.UniqueConstraint(fields=["run", "outcome", "code"], name="failure_group_once")]

    def __str__(self) -> str:
        return f"{self.outcome} {self.code} {self.object_count}"
