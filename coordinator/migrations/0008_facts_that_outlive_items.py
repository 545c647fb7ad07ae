"""Other acceptances of a version, and a published file that was shown not to be the accepted one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("coordinator", "0007_second_look"),
    ]

    operations = [
        migrations.AddField(
            model_name="provenance",
            name="differs_etag",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Published file that was shown not to be the accepted one",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="provenance",
            name="rivals",
            field=models.JSONField(
                help_text="lake.delta.facts.Acceptance of other items, as JSON; null: none", null=True
            ),
        ),
    ]
