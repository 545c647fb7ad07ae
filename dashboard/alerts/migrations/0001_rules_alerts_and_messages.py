"""Rules, recipients, alerts and messages."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("connections", "0001_initial_records"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

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
                (
                    "address",
                    models.CharField(blank=True, help_text="mail address or URL; empty for a person", max_length=500),
                ),
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
                ("is_stopped", models.BooleanField(default=False, help_text="asked not to be told any more")),
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
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Rule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=100, unique=True)),
                ("threshold", models.FloatField(help_text="in the unit of the kind")),
                (
                    "least_severity",
                    models.CharField(default="warning", help_text="info, warning, critical", max_length=16),
                ),
                (
                    "prefix",
                    models.CharField(blank=True, help_text="s3a:// URI that a table's begins with", max_length=1100),
                ),
                ("plan", models.CharField(blank=True, help_text="name of a backup plan", max_length=64)),
                ("is_enabled", models.BooleanField(default=True)),
                ("remind_hours", models.PositiveIntegerField(default=4, help_text="0: no reminders")),
                ("escalate_hours", models.PositiveIntegerField(default=0, help_text="0: never")),
                (
                    "quiet_from",
                    models.TimeField(blank=True, help_text="UTC; what is not critical waits from here", null=True),
                ),
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
            options={
                "ordering": ("kind", "name"),
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("cause", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "open"), ("acknowledged", "acknowledged"), ("resolved", "resolved")],
                        default="open",
                        max_length=16,
                    ),
                ),
                ("severity", models.CharField(max_length=16)),
                (
                    "rank",
                    models.PositiveSmallIntegerField(default=1, help_text="of the severity; 0 is critical"),
                ),
                (
                    "title",
                    models.CharField(blank=True, help_text="the sort of trouble, in a few words", max_length=100),
                ),
                ("code", models.CharField(blank=True, help_text="of the finding, where there is one", max_length=60)),
                (
                    "subjects",
                    models.JSONField(default=list, help_text="[[name, path], ...]: what it is about, the first few"),
                ),
                ("headline", models.CharField(max_length=400)),
                ("next_step", models.CharField(blank=True, max_length=400)),
                ("meaning", models.TextField(blank=True)),
                ("advice", models.TextField(blank=True)),
                ("warning", models.TextField(blank=True)),
                ("facts", models.JSONField(default=list, help_text="[[label, value], ...]")),
                (
                    "path",
                    models.CharField(
                        blank=True, help_text="of the first step; empty where it has several", max_length=400
                    ),
                ),
                ("link", models.CharField(blank=True, help_text="what the button says", max_length=100)),
                ("also_tell", models.JSONField(default=list, help_text="addresses besides those of the rule")),
                ("count", models.PositiveIntegerField(default=1)),
                ("since", models.DateTimeField()),
                ("opened_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("quiet_since", models.DateTimeField(help_text="since when no problem of it is seen", null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("told_at", models.DateTimeField(help_text="of the last message about it being open")),
                ("unattended_since", models.DateTimeField(help_text="since when nobody has taken it up")),
                ("reminders", models.PositiveIntegerField(default=0)),
                ("escalated_at", models.DateTimeField(null=True)),
                ("acknowledged_by", models.CharField(blank=True, max_length=150)),
                ("acknowledged_at", models.DateTimeField(null=True)),
                ("acknowledged_until", models.DateTimeField(null=True)),
                ("reason", models.CharField(blank=True, max_length=500)),
                (
                    "connection",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to="connections.connection"
                    ),
                ),
                (
                    "returned_from",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="returns",
                        to="alerts.alert",
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
                (
                    "number",
                    models.CharField(
                        help_text="tells the messages of one reason apart: 1, 2, or a date", max_length=40
                    ),
                ),
                ("channel", models.CharField(help_text="mail, webhook, slack", max_length=16)),
                ("address", models.CharField(max_length=500)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("sending", "being sent"),
                            ("sent", "sent"),
                            ("folded", "in another mail"),
                            ("dropped", "not needed any more"),
                            ("failed", "given up"),
                            ("unknown", "perhaps sent"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(db_index=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("claimed_at", models.DateTimeField(null=True)),
                (
                    "handed_over_at",
                    models.DateTimeField(
                        help_text="set right before the server may take it: from here on it may have been sent",
                        null=True,
                    ),
                ),
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
                    "folded_into",
                    models.ForeignKey(
                        help_text="the mail that says this too",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="folded",
                        to="alerts.message",
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
