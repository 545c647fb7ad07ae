"""Rules, recipients, alerts and messages."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [("connections", "0001_initial_records"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Recipient",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("person", "a person of the console"),
                            ("address", "an address"),
                            ("webhook", "a signed webhook"),
                            ("slack", "a Slack-compatible webhook"),
                        ],
                        max_length=16,
                    ),
                ),
                ("address", models.CharField(blank=True, max_length=500)),
                (
                    "digest",
                    models.CharField(
                        choices=[
                            ("never", "no digest"),
                            ("daily", "a digest every day"),
                            ("weekly", "a digest every Monday"),
                        ],
                        default="never",
                        max_length=8,
                    ),
                ),
                ("is_stopped", models.BooleanField(default=False)),
                ("last_error", models.CharField(blank=True, max_length=500)),
                ("last_sent_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recipients",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ("name",)},
        ),
        migrations.CreateModel(
            name="Rule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=100, unique=True)),
                ("threshold", models.FloatField()),
                ("least_severity", models.CharField(default="warning", max_length=16)),
                ("prefix", models.CharField(blank=True, max_length=1100)),
                ("plan", models.CharField(blank=True, max_length=64)),
                ("is_enabled", models.BooleanField(default=True)),
                ("remind_hours", models.PositiveIntegerField(default=4)),
                ("escalate_hours", models.PositiveIntegerField(default=0)),
                ("quiet_from", models.TimeField(blank=True, null=True)),
                ("quiet_until", models.TimeField(blank=True, null=True)),
                (
                    "connection",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to="connections.connection"
                    ),
                ),
                ("escalate_to", models.ManyToManyField(blank=True, related_name="escalations", to="alerts.recipient")),
                ("recipients", models.ManyToManyField(blank=True, related_name="rules", to="alerts.recipient")),
            ],
            options={"ordering": ("kind", "name")},
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("cause", models.CharField(max_length=200)),
                ("state", models.CharField(default="open", max_length=16)),
                ("severity", models.CharField(max_length=16)),
                ("rank", models.PositiveSmallIntegerField(default=1)),
                ("title", models.CharField(blank=True, max_length=100)),
                ("code", models.CharField(blank=True, max_length=60)),
                ("subjects", models.JSONField(default=list)),
                ("headline", models.CharField(max_length=400)),
                ("next_step", models.CharField(blank=True, max_length=400)),
                ("meaning", models.TextField(blank=True)),
                ("advice", models.TextField(blank=True)),
                ("warning", models.TextField(blank=True)),
                ("facts", models.JSONField(default=list)),
                ("path", models.CharField(blank=True, max_length=400)),
                ("link", models.CharField(blank=True, max_length=100)),
                ("also_tell", models.JSONField(default=list)),
                ("count", models.PositiveIntegerField(default=1)),
                ("since", models.DateTimeField()),
                ("opened_at", models.DateTimeField()),
                ("quiet_since", models.DateTimeField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("told_at", models.DateTimeField()),
                ("unattended_since", models.DateTimeField()),
                ("reminders", models.PositiveIntegerField(default=0)),
                ("escalated_at", models.DateTimeField(null=True)),
                ("acknowledged_by", models.CharField(blank=True, max_length=150)),
                ("acknowledged_until", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "connection",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to="connections.connection"
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="alerts", to="alerts.rule"
                    ),
                ),
            ],
            options={
                "ordering": ("-opened_at", "-id"),
                "indexes": [models.Index(fields=["state", "-opened_at", "-id"], name="alerts_by_state")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("resolved_at", None)),
                        fields=("rule", "cause"),
                        name="one_open_alert_a_cause",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=300)),
                ("severity", models.CharField(max_length=16)),
                ("headline", models.CharField(max_length=400)),
                ("path", models.CharField(blank=True, max_length=400)),
                ("since", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="alerts.alert"
                    ),
                ),
            ],
            options={
                "ordering": ("since", "id"),
                "constraints": [models.UniqueConstraint(fields=("alert", "key"), name="one_member_a_problem")],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("opened", "opened"),
                            ("worse", "worse"),
                            ("reminder", "reminder"),
                            ("escalated", "escalated"),
                            ("resolved", "over"),
                            ("digest", "digest"),
                            ("test", "test"),
                        ],
                        max_length=16,
                    ),
                ),
                ("number", models.CharField(max_length=40)),
                ("channel", models.CharField(max_length=16)),
                ("address", models.CharField(max_length=500)),
                ("state", models.CharField(default="waiting", max_length=16)),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(db_index=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("handed_over_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=1000)),
                ("message_id", models.CharField(max_length=200, unique=True)),
                ("subject", models.CharField(blank=True, max_length=400)),
                ("text", models.TextField(blank=True)),
                ("html", models.TextField(blank=True)),
                (
                    "alert",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="alerts.alert",
                    ),
                ),
                (
                    "recipient",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="messages",
                        to="alerts.recipient",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [models.Index(fields=["state", "due_at"], name="messages_due")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("alert", "reason", "number", "channel", "address"), name="one_message_a_reason"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("alert", None)),
                        fields=("reason", "number", "channel", "address"),
                        name="one_message_without_alert",
                    ),
                ],
            },
        ),
    ]
