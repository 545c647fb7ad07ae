"""Deadlines, and when each source was judged."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("connections", "0001_initial_records"),
    ]

    operations = [
        migrations.CreateModel(
            name="DueSource",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("judged_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Due",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", models.CharField(max_length=32)),
                ("key", models.CharField(max_length=100, unique=True)),
                ("kind", models.CharField(max_length=16)),
                ("at", models.DateTimeField(null=True)),
                ("state", models.CharField(max_length=16)),
                ("happens", models.TextField()),
                ("lost", models.TextField()),
                ("stops", models.TextField()),
                ("act_path", models.TextField(blank=True)),
                ("subject", models.TextField(blank=True)),
                ("path", models.TextField(blank=True)),
                (
                    "connection",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="connections.connection",
                    ),
                ),
                (
                    "vault_connection",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="connections.connection",
                    ),
                ),
            ],
            options={
                "ordering": ("at", "key"),
                "indexes": [models.Index(fields=["at", "key"], name="due_soonest")],
            },
        ),
    ]
