"""How far each table of a run, and each restore point, is proven to hold what its source has."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("backups", "0003_restore_points")]

    operations = [
        migrations.RemoveIndex("run", "run_newest_copy"),
        migrations.AddField("run", "is_proof", models.BooleanField(default=False)),
        migrations.AddField("run", "holds_until", models.DateTimeField(null=True)),
        migrations.AddField("run", "not_known_since", models.DateTimeField(null=True)),
        migrations.AddField("restorepoint", "holds_until", models.DateTimeField(null=True)),
    ]
