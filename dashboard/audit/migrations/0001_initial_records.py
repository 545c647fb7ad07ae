"""The audit log and its seals, which the database itself refuses to change or remove."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from dashboard.audit.triggers import ENTRIES, SEALS, protect, unprotect


def forwards(apps: Any, schema_editor: Any) -> None:
    for table in (ENTRIES, SEALS):
        protect(schema_editor.connection, table)


def backwards(apps: Any, schema_editor: Any) -> None:
    for table in (ENTRIES, SEALS):
        unprotect(schema_editor.connection, table)


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("place", models.BigIntegerField(primary_key=True, serialize=False)),
                ("entry", models.BigIntegerField(unique=True)),
                ("sealed_at", models.DateTimeField()),
                ("seal", models.CharField(max_length=64)),
            ],
            options={"ordering": ("place",)},
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                ("actor_name", models.CharField(max_length=150)),
                ("source", models.CharField(max_length=16)),
                ("ip", models.GenericIPAddressField(blank=True, null=True)),
                ("user_agent", models.CharField(blank=True, max_length=400)),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("action", models.CharField(max_length=64)),
                ("target_type", models.CharField(blank=True, max_length=32)),
                ("target_id", models.CharField(blank=True, max_length=64)),
                ("target_label", models.CharField(blank=True, max_length=2048)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("outcome", models.CharField(max_length=16)),
                ("detail", models.TextField(blank=True)),
                ("job_id", models.UUIDField(blank=True, db_index=True, null=True)),
                ("aws_request_ids", models.JSONField(default=list)),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [
                    models.Index(fields=["action", "-id"], name="audit_action_newest"),
                    models.Index(fields=["target_type", "target_id", "-id"], name="audit_target_newest"),
                ],
            },
        ),
        migrations.RunPython(forwards, backwards),
    ]
