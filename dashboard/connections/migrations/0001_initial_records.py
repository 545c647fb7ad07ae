"""Connections."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Connection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64, unique=True)),
                ("region", models.CharField(max_length=32)),
                ("role_arn", models.CharField(blank=True, max_length=256)),
                ("external_id", models.CharField(blank=True, max_length=256)),
                ("endpoint_url", models.CharField(blank=True, max_length=256)),
                ("dynamodb_endpoint_url", models.CharField(blank=True, max_length=256)),
                ("read_only", models.BooleanField(default=False)),
                ("bucket_owners", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ("name",)},
        )
    ]
