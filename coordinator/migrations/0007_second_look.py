"""What the last look at a table did not see, so that the next one can confirm it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("coordinator", "0006_keep_sizes_of_log_files"),
    ]

    operations = [
        migrations.AddField(
            model_name="deltatable",
            name="missed",
            field=models.JSONField(
                default=list,
                help_text="[code, what, first, last] of what the last look did not see: the next one confirms it",
            ),
        ),
    ]
