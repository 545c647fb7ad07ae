from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("coordinator", "0009_abandoned_versions"),
    ]

    operations = [
        migrations.RenameModel(old_name="Provenance", new_name="ProvenanceRow"),
    ]
