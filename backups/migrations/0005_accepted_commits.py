"""Which versions of a restore point no file of their own shows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("backups", "0004_proven_until")]

    operations = [migrations.AddField("restorepoint", "unpublished", models.JSONField(default=list))]
