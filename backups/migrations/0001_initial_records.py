"""Plans, runs and what became of them."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("connections", "0001_initial_records"),
        ("jobs", "0001_initial_records"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64, unique=True)),
                ("source", models.CharField(help_text="s3a:// URI", max_length=1100)),
                (
                    "destination",
                    models.CharField(
                        help_text="s3a:// URI; {date} in the bucket's name: one per snapshot", max_length=1100
                    ),
                ),
                (
                    "inventory",
                    models.CharField(blank=True, help_text="s3a:// URI; empty: the source is listed", max_length=1100),
                ),
                ("minimum_lag_hours", models.PositiveIntegerField(default=24)),
                (
                    "engine",
                    models.CharField(
                        choices=[("s3-batch", "S3 Batch Operations"), ("spark", "Spark")],
                        default="s3-batch",
                        max_length=16,
                    ),
                ),
                ("schedule", models.CharField(blank=True, help_text="cron, UTC; empty: by hand", max_length=64)),
                ("objective_hours", models.PositiveIntegerField(default=36)),
                ("cost_ceiling_usd", models.DecimalField(decimal_places=2, max_digits=10, null=True)),
                ("keep", models.JSONField(default=dict, help_text="{daily, weekly, monthly}")),
                (
                    "evidence",
                    models.CharField(
                        blank=True,
                        help_text="s3a:// URI of manifests and reports; empty: _levee/ at the destination",
                        max_length=1100,
                    ),
                ),
                (
                    "selection",
                    models.CharField(
                        choices=[("incremental", "What the destination lacks"), ("all", "Everything")],
                        default="incremental",
                        max_length=16,
                    ),
                ),
                (
                    "files",
                    models.CharField(
                        choices=[("all", "All files"), ("live", "Files of live versions")], default="all", max_length=8
                    ),
                ),
                (
                    "window_hours",
                    models.PositiveIntegerField(
                        default=168, help_text="Of live files: how far time travel reaches back"
                    ),
                ),
                (
                    "role_arn",
                    models.CharField(blank=True, help_text="The role that S3 Batch Operations acts as", max_length=256),
                ),
                (
                    "storage_class",
                    models.CharField(blank=True, help_text="Of the copies; empty: STANDARD", max_length=32),
                ),
                (
                    "encryption_key",
                    models.CharField(blank=True, help_text="ARN of the KMS key of the copies", max_length=256),
                ),
                (
                    "source_key",
                    models.CharField(blank=True, help_text="ARN of the KMS key of the source", max_length=256),
                ),
                ("notify", models.JSONField(blank=True, default=list, help_text="Addresses of people to tell")),
                ("paused", models.BooleanField(default=False, help_text="The schedule starts nothing")),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="plans", to="connections.connection"
                    ),
                ),
                (
                    "vault_connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="vault_plans",
                        to="connections.connection",
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="DueRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("schedule", models.CharField(help_text="The line that next_at was reckoned from", max_length=64)),
                ("next_at", models.DateTimeField()),
                (
                    "plan",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="due", to="backups.plan"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting_for_inventory", "Waiting For Inventory"),
                            ("running", "Running"),
                            ("waiting_for_approval", "Waiting For Approval"),
                            ("cancelling", "Cancelling"),
                            ("complete", "Complete"),
                            ("complete_with_gaps", "Complete With Gaps"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting_for_inventory",
                        max_length=24,
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("inventory", "Inventory"),
                            ("manifest", "Manifest"),
                            ("cost_gate", "Cost Gate"),
                            ("copy", "Copy"),
                            ("reconcile", "Reconcile"),
                        ],
                        default="inventory",
                        max_length=16,
                    ),
                ),
                ("sentence", models.TextField(blank=True, help_text="What it does or waits for, or how it ended")),
                ("error_code", models.CharField(blank=True, max_length=128)),
                (
                    "requested_by_name",
                    models.CharField(help_text="A person's name, schedule or command", max_length=150),
                ),
                (
                    "due_at",
                    models.DateTimeField(help_text="When the schedule wanted it; null: started by hand", null=True),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(help_text="When it had its inventory", null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("look_again_at", models.DateTimeField(help_text="Before this the tick leaves it alone", null=True)),
                (
                    "failed_attempts",
                    models.PositiveSmallIntegerField(default=0, help_text="Troubles with AWS in a row"),
                ),
                (
                    "inventory",
                    models.CharField(
                        blank=True, help_text="The dated folder; empty: the source is listed", max_length=32
                    ),
                ),
                ("inventory_bucket", models.CharField(blank=True, max_length=63)),
                (
                    "inventory_manifest",
                    models.CharField(blank=True, help_text="Key of its manifest.json", max_length=1100),
                ),
                (
                    "cut_off",
                    models.DateTimeField(help_text="Everything up to here is taken to be in the inventory", null=True),
                ),
                (
                    "destination",
                    models.CharField(blank=True, help_text="The plan's, with its date filled in", max_length=1100),
                ),
                (
                    "folder",
                    models.CharField(blank=True, help_text="s3a:// URI of manifests and reports", max_length=1200),
                ),
                ("estimate_usd", models.DecimalField(decimal_places=2, max_digits=12, null=True)),
                ("estimate_lines", models.JSONField(default=list, help_text="[{item, count, unit, price, usd}]")),
                (
                    "ceiling_usd",
                    models.DecimalField(decimal_places=2, help_text="The plan's, as it was", max_digits=10, null=True),
                ),
                ("actual_usd", models.DecimalField(decimal_places=2, max_digits=12, null=True)),
                ("approved_by_name", models.CharField(blank=True, max_length=150)),
                ("approved_at", models.DateTimeField(null=True)),
                (
                    "lanes",
                    models.JSONField(
                        default=list, help_text="[{lane, manifests: [{bucket, key, etag, objects, bytes}]}]"
                    ),
                ),
                ("tables", models.JSONField(default=dict, help_text="{tables, largest: [{table, objects, bytes}]}")),
                (
                    "evidence",
                    models.JSONField(default=dict, help_text="Where outcomes lie, and what is worth another try"),
                ),
                ("listed", models.BigIntegerField(default=0)),
                ("copied", models.BigIntegerField(default=0)),
                ("already_there", models.BigIntegerField(default=0)),
                ("changed", models.BigIntegerField(default=0)),
                ("vanished", models.BigIntegerField(default=0)),
                ("denied", models.BigIntegerField(default=0)),
                ("too_new", models.BigIntegerField(default=0)),
                ("archived", models.BigIntegerField(default=0)),
                ("failed", models.BigIntegerField(default=0)),
                ("objects_planned", models.BigIntegerField(default=0)),
                ("bytes_planned", models.BigIntegerField(default=0)),
                ("bytes_copied", models.BigIntegerField(default=0)),
                ("worth_retry", models.BigIntegerField(default=0, help_text="Objects that another try may bring")),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="backups.plan"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "retry_of",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="retries",
                        to="backups.run",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        blank=True,
                        help_text="Which job moves it",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-id"),
            },
        ),
        migrations.CreateModel(
            name="FailureGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("outcome", models.CharField(max_length=16)),
                (
                    "code",
                    models.CharField(blank=True, help_text="The error code of S3, empty without one", max_length=64),
                ),
                ("cause", models.TextField(help_text="What happened and what to do")),
                ("object_count", models.BigIntegerField()),
                ("bytes", models.BigIntegerField(default=0)),
                ("tables", models.BigIntegerField(default=0)),
                ("worth_retry", models.BooleanField(default=False)),
                ("examples", models.JSONField(default=list, help_text="A few keys")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="failures", to="backups.run"
                    ),
                ),
            ],
            options={
                "ordering": ("-object_count", "outcome", "code"),
            },
        ),
        migrations.CreateModel(
            name="CopyJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                ("lane", models.CharField(max_length=16)),
                (
                    "engine",
                    models.CharField(choices=[("s3-batch", "S3 Batch Operations"), ("spark", "Spark")], max_length=16),
                ),
                ("token", models.CharField(max_length=64, unique=True)),
                ("manifest_bucket", models.CharField(max_length=63)),
                ("manifest_key", models.CharField(max_length=1200)),
                ("manifest_etag", models.CharField(blank=True, max_length=64)),
                ("report_prefix", models.CharField(max_length=1200)),
                ("aws_job_id", models.CharField(blank=True, max_length=64)),
                (
                    "status",
                    models.CharField(blank=True, help_text="In AWS's words: New … Suspended … Complete", max_length=16),
                ),
                ("reason", models.TextField(blank=True, help_text="Failure reasons, in AWS's words")),
                ("done", models.BigIntegerField(default=0)),
                ("failed", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(default=0)),
                ("bytes", models.BigIntegerField(default=0)),
                ("active_seconds", models.BigIntegerField(default=0)),
                ("priority", models.PositiveIntegerField(default=10)),
                ("updated_at", models.DateTimeField(null=True)),
                (
                    "ended_at",
                    models.DateTimeField(help_text="When it ended, as AWS says; null: it says nothing", null=True),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="copy_jobs", to="backups.run"
                    ),
                ),
            ],
            options={
                "ordering": ("number",),
            },
        ),
        migrations.CreateModel(
            name="RunStage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "name",
                    models.CharField(
                        choices=[
                            ("inventory", "Inventory"),
                            ("manifest", "Manifest"),
                            ("cost_gate", "Cost Gate"),
                            ("copy", "Copy"),
                            ("reconcile", "Reconcile"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("next", "Next"),
                            ("running", "Running"),
                            ("waiting", "Waiting"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("skipped", "Skipped"),
                        ],
                        default="next",
                        max_length=8,
                    ),
                ),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(null=True)),
                ("detail", models.TextField(blank=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="stages", to="backups.run"
                    ),
                ),
            ],
            options={
                "ordering": ("number",),
            },
        ),
        migrations.CreateModel(
            name="Inventory",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(help_text="The dated folder: 2026-11-19T00-00Z", max_length=32)),
                ("manifest_bucket", models.CharField(max_length=63)),
                ("manifest_key", models.CharField(max_length=1100)),
                ("created_at", models.DateTimeField(help_text="When S3 began the scan", null=True)),
                ("state", models.CharField(choices=[("arrived", "Arrived"), ("refused", "Refused")], max_length=16)),
                ("reason", models.TextField(blank=True, help_text="Why it was refused: one sentence")),
                ("format", models.CharField(blank=True, max_length=8)),
                ("files", models.PositiveIntegerField(default=0)),
                ("bytes", models.BigIntegerField(default=0)),
                ("checked_at", models.DateTimeField()),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="inventories", to="backups.plan"
                    ),
                ),
            ],
            options={
                "ordering": ("-name",),
                "constraints": [models.UniqueConstraint(fields=("plan", "name"), name="inventory_once_per_plan")],
            },
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["-created_at", "-id"], name="run_newest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["plan", "-created_at"], name="run_plan_newest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["state", "-created_at"], name="run_state_newest"),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("state__in", ["waiting_for_inventory", "running", "waiting_for_approval", "cancelling"])
                ),
                fields=("plan",),
                name="run_one_active_per_plan",
            ),
        ),
        migrations.AddConstraint(
            model_name="failuregroup",
            constraint=models.UniqueConstraint(fields=("run", "outcome", "code"), name="failure_group_once"),
        ),
        migrations.AddConstraint(
            model_name="copyjob",
            constraint=models.UniqueConstraint(fields=("run", "number"), name="copy_job_once_per_run"),
        ),
        migrations.AddConstraint(
            model_name="runstage",
            constraint=models.UniqueConstraint(fields=("run", "name"), name="stage_once_per_run"),
        ),
    ]
