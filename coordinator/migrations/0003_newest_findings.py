"""Open findings of one code are read newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("coordinator", "0002_table_counts"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="tablefinding",
            name="finding_open_by_code",
        ),
        migrations.AddIndex(
            model_name="tablefinding",
            index=models.Index(
                condition=models.Q(("resolved_at", None)),
                fields=["code", "-opened_at", "table"],
                name="finding_open_newest",
            ),
        ),
    ]
