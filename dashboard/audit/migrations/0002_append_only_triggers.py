"""From here on the database itself refuses to change or remove a row of the audit log."""

from typing import Any

from django.db import migrations

from dashboard.audit.triggers import ENTRIES, protect, unprotect


def forwards(apps: Any, schema_editor: Any) -> None:
    protect(schema_editor.connection, ENTRIES)


def backwards(apps: Any, schema_editor: Any) -> None:
    unprotect(schema_editor.connection, ENTRIES)


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial_records")]
    operations = [migrations.RunPython(forwards, backwards)]
