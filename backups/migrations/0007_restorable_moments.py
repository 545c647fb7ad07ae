"""To which moments the table of a restore point can be restored."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("backups", "0006_kept_points")]

    operations = [migrations.AddField("restorepoint", "moments", models.JSONField(default=list))]
