"""Jobs, and the beats of their workers."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [("connections", "0001_initial_records"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="WorkerBeat",
            fields=[
                ("queue", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("worker", models.CharField(max_length=128)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=64)),
                ("title", models.CharField(max_length=200)),
                ("queue", models.CharField(default="default", max_length=16)),
                ("target_type", models.CharField(blank=True, max_length=32)),
                ("target_id", models.CharField(blank=True, max_length=64)),
                ("target_label", models.CharField(blank=True, max_length=2048)),
                ("target_key", models.CharField(max_length=128)),
                ("params", models.JSONField(default=dict)),
                ("state", models.CharField(default="queued", max_length=16)),
                ("steps", models.JSONField(default=list)),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(null=True)),
                ("message", models.TextField(blank=True)),
                ("result", models.JSONField(default=dict)),
                ("error_code", models.CharField(blank=True, max_length=128)),
                ("error_text", models.TextField(blank=True)),
                ("requested_by_name", models.CharField(max_length=150)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("idempotency_key", models.CharField(max_length=128, null=True, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("enqueued_at", models.DateTimeField(null=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("cancel_requested_by", models.CharField(blank=True, max_length=150)),
                ("cancel_requested_at", models.DateTimeField(null=True)),
                ("worker", models.CharField(blank=True, max_length=128)),
                ("attempt", models.PositiveIntegerField(default=0)),
                (
                    "connection",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to="connections.connection"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-id"),
                "indexes": [
                    models.Index(fields=["-created_at", "-id"], name="job_newest"),
                    models.Index(fields=["state", "-created_at", "-id"], name="job_state_newest"),
                    models.Index(fields=["target_type", "target_id", "-created_at"], name="job_target_newest"),
                    models.Index(fields=["kind", "-created_at", "-id"], name="job_kind_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "cancelling"])),
                        fields=("kind", "target_key"),
                        name="job_one_active_per_target",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JobEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("level", models.CharField(default="INFO", max_length=5)),
                ("step", models.CharField(blank=True, max_length=16)),
                ("text", models.TextField()),
                ("data", models.JSONField(default=dict)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="jobs.job"
                    ),
                ),
            ],
            options={"ordering": ("id",)},
        ),
    ]
