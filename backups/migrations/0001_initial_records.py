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
                ("source", models.CharField(max_length=1100)),
                ("destination", models.CharField(max_length=1100)),
                ("inventory", models.CharField(blank=True, max_length=1100)),
                ("minimum_lag_hours", models.PositiveIntegerField(default=24)),
                (
                    "engine",
                    models.CharField(
                        choices=[("s3-batch", "S3 Batch Operations"), ("spark", "Spark")],
                        default="s3-batch",
                        max_length=16,
                    ),
                ),
                ("schedule", models.CharField(blank=True, max_length=64)),
                ("objective_hours", models.PositiveIntegerField(default=36)),
                ("cost_ceiling_usd", models.DecimalField(decimal_places=2, max_digits=10, null=True)),
                ("keep", models.JSONField(default=dict)),
                ("evidence", models.CharField(blank=True, max_length=1100)),
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
                ("window_hours", models.PositiveIntegerField(default=168)),
                ("role_arn", models.CharField(blank=True, max_length=256)),
                ("storage_class", models.CharField(blank=True, max_length=32)),
                ("encryption_key", models.CharField(blank=True, max_length=256)),
                ("source_key", models.CharField(blank=True, max_length=256)),
                ("notify", models.JSONField(blank=True, default=list)),
                ("paused", models.BooleanField(default=False)),
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
                ("schedule", models.CharField(max_length=64)),
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
                ("state", models.CharField(default="waiting_for_inventory", max_length=24)),
                ("stage", models.CharField(default="inventory", max_length=16)),
                ("sentence", models.TextField(blank=True)),
                ("error_code", models.CharField(blank=True, max_length=128)),
                ("requested_by_name", models.CharField(max_length=150)),
                ("due_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("look_again_at", models.DateTimeField(null=True)),
                ("failed_attempts", models.PositiveSmallIntegerField(default=0)),
                ("inventory", models.CharField(blank=True, max_length=32)),
                ("inventory_bucket", models.CharField(blank=True, max_length=63)),
                ("inventory_manifest", models.CharField(blank=True, max_length=1100)),
                ("cut_off", models.DateTimeField(null=True)),
                ("destination", models.CharField(blank=True, max_length=1100)),
                ("folder", models.CharField(blank=True, max_length=1200)),
                ("estimate_usd", models.DecimalField(decimal_places=2, max_digits=12, null=True)),
                ("estimate_lines", models.JSONField(default=list)),
                ("ceiling_usd", models.DecimalField(decimal_places=2, max_digits=10, null=True)),
                ("actual_usd", models.DecimalField(decimal_places=2, max_digits=12, null=True)),
                ("approved_by_name", models.CharField(blank=True, max_length=150)),
                ("approved_at", models.DateTimeField(null=True)),
                ("lanes", models.JSONField(default=list)),
                ("tables", models.JSONField(default=dict)),
                ("evidence", models.JSONField(default=dict)),
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
                ("worth_retry", models.BigIntegerField(default=0)),
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
                ("code", models.CharField(blank=True, max_length=64)),
                ("cause", models.TextField()),
                ("object_count", models.BigIntegerField()),
                ("bytes", models.BigIntegerField(default=0)),
                ("tables", models.BigIntegerField(default=0)),
                ("worth_retry", models.BooleanField(default=False)),
                ("examples", models.JSONField(default=list)),
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
                ("status", models.CharField(blank=True, max_length=16)),
                ("reason", models.TextField(blank=True)),
                ("done", models.BigIntegerField(default=0)),
                ("failed", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(default=0)),
                ("bytes", models.BigIntegerField(default=0)),
                ("active_seconds", models.BigIntegerField(default=0)),
                ("priority", models.PositiveIntegerField(default=10)),
                ("updated_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
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
                ("name", models.CharField(max_length=16)),
                ("state", models.CharField(default="next", max_length=8)),
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
                ("name", models.CharField(max_length=32)),
                ("manifest_bucket", models.CharField(max_length=63)),
                ("manifest_key", models.CharField(max_length=1100)),
                ("created_at", models.DateTimeField(null=True)),
                ("state", models.CharField(max_length=16)),
                ("reason", models.TextField(blank=True)),
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
