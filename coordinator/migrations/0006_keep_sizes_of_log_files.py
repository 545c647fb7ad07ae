from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("coordinator", "0005_store_identity")]

    operations = [
        migrations.AddField(
            model_name="deltatable",
            name="log_sizes",
            field=models.JSONField(
                help_text="coordinator.protocols.log_sizes: ranges of size of the log's files; null: not known",
                null=True,
            ),
        ),
    ]
