"""Who looked at a failed job, and when."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial_records")]

    operations = [
        migrations.AddField("job", "seen_by", models.CharField(blank=True, default="", max_length=150), False),
        migrations.AddField("job", "seen_at", models.DateTimeField(null=True)),
    ]
