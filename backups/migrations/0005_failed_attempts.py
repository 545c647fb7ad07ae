from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("backups", "0004_end_of_a_copy_job"),
    ]

    operations = [
        migrations.RenameField(model_name="run", old_name="stumbles", new_name="failed_attempts"),
    ]
