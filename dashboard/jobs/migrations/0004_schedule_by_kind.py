"""The newest jobs of the schedule, kind by kind."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_export_pieces")]

    operations = [
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                fields=["requested_by_name", "kind", "-created_at", "-id"], name="job_asker_kind_newest"
            ),
        )
    ]
