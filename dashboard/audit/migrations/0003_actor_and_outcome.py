"""What one person did, and what ended in one way, newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_index_of_jobs")]

    operations = [
        migrations.AddIndex("auditentry", models.Index(fields=["actor_name", "-id"], name="audit_actor_newest")),
        migrations.AddIndex("auditentry", models.Index(fields=["outcome", "-id"], name="audit_outcome_newest")),
    ]
