"""Seals chain the audit log by hash; the database refuses to change or remove them too."""

from typing import Any

from django.db import migrations, models

from dashboard.audit.triggers import SEALS, protect, unprotect


def forwards(apps: Any, schema_editor: Any) -> None:
    protect(schema_editor.connection, SEALS)


def backwards(apps: Any, schema_editor: Any) -> None:
    unprotect(schema_editor.connection, SEALS)


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_index_by_target")]
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
                    models.CharField(help_text="SHA-256 of the seal before and of the entry, in hex", max_length=64),
                ),
            ],
            options={"ordering": ("place",)},
        ),
        migrations.RunPython(forwards, backwards),
    ]
