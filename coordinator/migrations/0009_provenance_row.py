from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("coordinator", "0008_facts_that_outlive_items"),
    ]

    operations = [
        migrations.RenameModel(old_name="Provenance", new_name="ProvenanceRow"),
    ]
