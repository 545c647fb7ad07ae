"""Files of long lists, in pieces."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_job_seen")]

    operations = [
        migrations.CreateModel(
            name="ExportPiece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.ForeignKey("jobs.job", models.CASCADE, related_name="pieces")),
                ("content", models.BinaryField()),
            ],
        )
    ]
