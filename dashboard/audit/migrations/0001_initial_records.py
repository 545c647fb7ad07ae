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

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                (
                    "place",
                    models.BigIntegerField(
                        help_text="1, 2, 3 and so on, without gaps", primary_key=True, serialize=False
                    ),
                ),
                ("entry", models.BigIntegerField(help_text="The number of the sealed entry", unique=True)),
                ("sealed_at", models.DateTimeField()),
                (
                    "seal",
                    models.CharField(
                        help_text="HMAC-SHA256 of the seal before, of place and time, and of the entry, in hex",
                        max_length=64,
                    ),
                ),
            ],
            options={
                "ordering": ("place",),
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True)),
                ("actor_name", models.CharField(help_text="A person's name, schedule or command", max_length=150)),
                ("source", models.CharField(help_text="page, command, worker", max_length=16)),
                ("ip", models.GenericIPAddressField(blank=True, null=True)),
                ("user_agent", models.CharField(blank=True, max_length=400)),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("action", models.CharField(help_text="Namespaced verb, such as lake.observe", max_length=64)),
                ("target_type", models.CharField(blank=True, max_length=32)),
                ("target_id", models.CharField(blank=True, max_length=64)),
                ("target_label", models.CharField(blank=True, max_length=2048)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("outcome", models.CharField(help_text="requested, done, overtaken, refused, failed", max_length=16)),
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
