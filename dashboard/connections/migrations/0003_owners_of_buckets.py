from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("connections", "0002_connections_may_be_read_only")]
    operations = [
        migrations.AddField(
            model_name="connection",
            name="bucket_owners",
            field=models.JSONField(
                default=dict,
                help_text="Account by bucket, as first seen: S3 is asked to refuse what another account owns",
            ),
        ),
    ]
