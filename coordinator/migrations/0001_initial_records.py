"""Tables, commits, stores, buckets and findings."""

import django.db.models.deletion
from django.db import migrations, models

import coordinator.protocols.verdict
import lake.delta.facts


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("connections", "0001_initial_records"),
    ]

    operations = [
        migrations.CreateModel(
            name="CommitStore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("blocked", "blocked"),
                            ("unsafe", "unsafe"),
                            ("attention", "attention"),
                            ("not_checked", "not_checked"),
                            ("unbackfilled", "unbackfilled"),
                            ("pending", "pending"),
                            ("healthy", "healthy"),
                        ],
                        default=coordinator.protocols.verdict.State["NOT_CHECKED"],
                        max_length=16,
                    ),
                ),
                ("state_rank", models.PositiveSmallIntegerField(default=3)),
                ("summary", models.TextField(blank=True)),
                ("observed_at", models.DateTimeField(null=True)),
                ("error_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=128)),
                ("error_text", models.TextField(blank=True)),
                ("name", models.CharField(max_length=255)),
                (
                    "kind",
                    models.CharField(
                        choices=[("log_store", "Log store"), ("commit_coordinator", "Coordinator")], max_length=20
                    ),
                ),
                ("facts", models.JSONField(default=dict)),
                ("scanned_at", models.DateTimeField(null=True)),
                ("scanned_items", models.BigIntegerField(null=True)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="stores", to="connections.connection"
                    ),
                ),
            ],
            options={
                "ordering": ("state_rank", "name"),
            },
        ),
        migrations.CreateModel(
            name="DeltaTable",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("blocked", "blocked"),
                            ("unsafe", "unsafe"),
                            ("attention", "attention"),
                            ("not_checked", "not_checked"),
                            ("unbackfilled", "unbackfilled"),
                            ("pending", "pending"),
                            ("healthy", "healthy"),
                        ],
                        default=coordinator.protocols.verdict.State["NOT_CHECKED"],
                        max_length=16,
                    ),
                ),
                ("state_rank", models.PositiveSmallIntegerField(default=3)),
                ("summary", models.TextField(blank=True)),
                ("observed_at", models.DateTimeField(null=True)),
                ("error_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=128)),
                ("error_text", models.TextField(blank=True)),
                ("bucket", models.CharField(max_length=63)),
                ("prefix", models.CharField(max_length=1024)),
                ("uri", models.CharField(max_length=1100)),
                ("name", models.CharField(max_length=512)),
                (
                    "mechanism",
                    models.CharField(
                        choices=[
                            ("log_store", "Log store"),
                            ("coordinated_commits", "Coordinated"),
                            ("single_driver", "Single driver"),
                            ("catalog_managed", "Catalogue"),
                            ("unknown", "Unknown"),
                        ],
                        default=lake.delta.facts.Mechanism["UNKNOWN"],
                        max_length=20,
                    ),
                ),
                ("lock_domains", models.JSONField(default=list)),
                ("published_version", models.BigIntegerField(null=True)),
                ("accepted_version", models.BigIntegerField(null=True)),
                ("unpublished_count", models.PositiveIntegerField(default=0)),
                ("oldest_unpublished_at", models.DateTimeField(null=True)),
                ("last_commit_at", models.DateTimeField(null=True)),
                ("oldest_version", models.BigIntegerField(null=True)),
                ("checkpoint_version", models.BigIntegerField(null=True)),
                ("log_files", models.PositiveIntegerField(default=0)),
                ("log_bytes", models.BigIntegerField(default=0)),
                ("log_sizes", models.JSONField(null=True)),
                ("delta_id", models.CharField(blank=True, max_length=64)),
                ("delta_name", models.CharField(blank=True, max_length=512)),
                ("delta_created_at", models.DateTimeField(null=True)),
                ("reader_version", models.PositiveSmallIntegerField(null=True)),
                ("writer_version", models.PositiveSmallIntegerField(null=True)),
                ("reader_features", models.JSONField(default=list)),
                ("writer_features", models.JSONField(default=list)),
                ("properties", models.JSONField(default=dict)),
                ("partition_columns", models.JSONField(default=list)),
                ("protocol_version_read", models.BigIntegerField(null=True)),
                ("registrations", models.JSONField(default=list)),
                ("registered", models.JSONField(default=dict)),
                ("problems", models.JSONField(default=list)),
                ("fingerprint", models.CharField(blank=True, max_length=64)),
                ("missed", models.JSONField(default=list)),
                ("listed_at", models.DateTimeField(null=True)),
                ("changed_at", models.DateTimeField(null=True)),
                ("first_seen_at", models.DateTimeField(auto_now_add=True)),
                ("gone_at", models.DateTimeField(null=True)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tables", to="connections.connection"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="tables",
                        to="coordinator.commitstore",
                    ),
                ),
            ],
            options={
                "ordering": ("state_rank", "name", "id"),
            },
        ),
        migrations.CreateModel(
            name="Commit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.BigIntegerField()),
                ("published", models.BooleanField()),
                ("size", models.BigIntegerField(null=True)),
                ("modified_at", models.DateTimeField(null=True)),
                ("etag", models.CharField(blank=True, max_length=64)),
                ("committed_at", models.DateTimeField(null=True)),
                ("operation", models.CharField(blank=True, max_length=64)),
                ("engine", models.CharField(blank=True, max_length=128)),
                ("added_files", models.PositiveIntegerField(null=True)),
                ("removed_files", models.PositiveIntegerField(null=True)),
                ("has_checkpoint", models.BooleanField(default=False)),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="commits", to="coordinator.deltatable"
                    ),
                ),
            ],
            options={
                "ordering": ("-version",),
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lock_domain", models.CharField(max_length=1100)),
                ("version", models.BigIntegerField()),
                ("code", models.CharField(max_length=8)),
                ("published", models.BooleanField(null=True)),
                ("file", models.CharField(blank=True, max_length=1100)),
                ("file_present", models.BooleanField(null=True)),
                ("file_size", models.BigIntegerField(null=True)),
                ("complete", models.BooleanField(null=True)),
                ("expire_time", models.BigIntegerField(null=True)),
                ("commit_time", models.BigIntegerField(null=True)),
                ("written_at", models.DateTimeField(null=True)),
                ("problems", models.JSONField(default=list)),
                ("observed_at", models.DateTimeField()),
                (
                    "store",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="coordinator.commitstore",
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="coordinator.deltatable"
                    ),
                ),
            ],
            options={
                "ordering": ("-version", "store_id", "lock_domain"),
            },
        ),
        migrations.CreateModel(
            name="ObservationPass",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("tables_seen", models.PositiveIntegerField(default=0)),
                ("tables_changed", models.PositiveIntegerField(default=0)),
                ("tables_failed", models.PositiveIntegerField(default=0)),
                ("requests", models.PositiveIntegerField(default=0)),
                ("error_code", models.CharField(blank=True, max_length=128)),
                ("error_text", models.TextField(blank=True)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="passes", to="connections.connection"
                    ),
                ),
            ],
            options={
                "ordering": ("-started_at",),
            },
        ),
        migrations.CreateModel(
            name="ProvenanceRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.BigIntegerField()),
                ("size", models.BigIntegerField(null=True)),
                ("etag", models.CharField(blank=True, max_length=64)),
                ("digest", models.CharField(blank=True, max_length=32)),
                ("copy_etag", models.CharField(blank=True, max_length=64)),
                ("in_commit_timestamp", models.BigIntegerField(null=True)),
                ("commit_timestamp", models.BigIntegerField(null=True)),
                ("seen_at", models.DateTimeField(null=True)),
                ("absent_at", models.DateTimeField(null=True)),
                ("store", models.CharField(blank=True, max_length=255)),
                ("region", models.CharField(blank=True, max_length=32)),
                ("lock_domain", models.CharField(blank=True, max_length=1100)),
                ("file_name", models.CharField(blank=True, max_length=1100)),
                ("accepted_size", models.BigIntegerField(null=True)),
                ("accepted_etag", models.CharField(blank=True, max_length=64)),
                ("accepted_timestamp", models.BigIntegerField(null=True)),
                ("expire_time", models.BigIntegerField(null=True)),
                ("accepted_at", models.DateTimeField(null=True)),
                ("disputed", models.BooleanField(default=False)),
                ("differs_etag", models.CharField(blank=True, default="", max_length=64)),
                ("rivals", models.JSONField(null=True)),
                ("abandoned", models.JSONField(null=True)),
                (
                    "table",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="provenance",
                        to="coordinator.deltatable",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TableFinding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(max_length=32)),
                ("version", models.BigIntegerField(null=True)),
                ("key", models.CharField(max_length=64)),
                (
                    "severity",
                    models.CharField(
                        choices=[("critical", "critical"), ("warning", "warning"), ("info", "info")], max_length=8
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("blocked", "blocked"),
                            ("unsafe", "unsafe"),
                            ("attention", "attention"),
                            ("not_checked", "not_checked"),
                            ("unbackfilled", "unbackfilled"),
                            ("pending", "pending"),
                            ("healthy", "healthy"),
                        ],
                        max_length=16,
                    ),
                ),
                ("state_rank", models.PositiveSmallIntegerField()),
                ("summary", models.TextField()),
                ("meaning", models.TextField(blank=True)),
                ("evidence", models.JSONField(default=dict)),
                ("repairs", models.JSONField(default=list)),
                ("opened_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("resolved_at", models.DateTimeField(null=True)),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="coordinator.deltatable",
                    ),
                ),
            ],
            options={
                "ordering": ("state_rank", "version", "id"),
            },
        ),
        migrations.CreateModel(
            name="TtlMigration",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("from_attribute", models.CharField(blank=True, max_length=255)),
                (
                    "phase",
                    models.CharField(
                        choices=[
                            ("disabling", "Switching TTL off"),
                            ("waiting-off", "Waiting until TTL is off"),
                            ("enabling", "Switching TTL on"),
                            ("waiting-on", "Waiting until TTL is on"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="disabling",
                        max_length=16,
                    ),
                ),
                ("detail", models.TextField(blank=True)),
                ("requested_by_name", models.CharField(max_length=150)),
                ("started_at", models.DateTimeField()),
                ("phase_at", models.DateTimeField()),
                ("checked_at", models.DateTimeField(null=True)),
                ("next_at", models.DateTimeField()),
                ("leased_until", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "store",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ttl_migrations",
                        to="coordinator.commitstore",
                    ),
                ),
            ],
            options={
                "ordering": ("-started_at",),
            },
        ),
        migrations.CreateModel(
            name="Watch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uri", models.CharField(max_length=1024)),
                ("listed_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=128)),
                ("error_text", models.TextField(blank=True)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="watches", to="connections.connection"
                    ),
                ),
            ],
            options={
                "ordering": ("uri",),
            },
        ),
        migrations.CreateModel(
            name="WriterTest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("store_name", models.CharField(max_length=255)),
                (
                    "kind",
                    models.CharField(
                        choices=[("log_store", "Log store"), ("commit_coordinator", "Coordinator")], max_length=20
                    ),
                ),
                ("token", models.CharField(max_length=32, unique=True)),
                ("scheme", models.CharField(default="s3a", max_length=8)),
                ("bucket", models.CharField(max_length=63)),
                ("prefix", models.CharField(max_length=1024)),
                ("asked_by_name", models.CharField(max_length=150)),
                ("asked_at", models.DateTimeField()),
                ("state", models.CharField(default="not-seen", max_length=16)),
                ("sentence", models.TextField(blank=True)),
                ("evidence", models.JSONField(default=dict)),
                ("checked_at", models.DateTimeField(null=True)),
                ("error_text", models.TextField(blank=True)),
                ("cleaned_at", models.DateTimeField(null=True)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="writer_tests",
                        to="connections.connection",
                    ),
                ),
            ],
            options={
                "ordering": ("-asked_at", "-id"),
            },
        ),
        migrations.CreateModel(
            name="Bucket",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("blocked", "blocked"),
                            ("unsafe", "unsafe"),
                            ("attention", "attention"),
                            ("not_checked", "not_checked"),
                            ("unbackfilled", "unbackfilled"),
                            ("pending", "pending"),
                            ("healthy", "healthy"),
                        ],
                        default=coordinator.protocols.verdict.State["NOT_CHECKED"],
                        max_length=16,
                    ),
                ),
                ("state_rank", models.PositiveSmallIntegerField(default=3)),
                ("summary", models.TextField(blank=True)),
                ("observed_at", models.DateTimeField(null=True)),
                ("error_at", models.DateTimeField(null=True)),
                ("error_code", models.CharField(blank=True, max_length=128)),
                ("error_text", models.TextField(blank=True)),
                ("name", models.CharField(max_length=63)),
                ("facts", models.JSONField(default=dict)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="buckets", to="connections.connection"
                    ),
                ),
            ],
            options={
                "ordering": ("state_rank", "name"),
                "constraints": [models.UniqueConstraint(fields=("connection", "name"), name="bucket_once")],
            },
        ),
        migrations.AddConstraint(
            model_name="commitstore",
            constraint=models.UniqueConstraint(fields=("connection", "name"), name="store_once"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["state_rank", "name", "id"], name="table_worst_first"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["name", "id"], name="table_by_name"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["published_version", "id"], name="table_by_version"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["last_commit_at", "id"], name="table_by_last_commit"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["oldest_unpublished_at", "id"], name="table_by_unpublished"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["mechanism", "state_rank", "name", "id"], name="table_by_mechanism"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["bucket", "state_rank", "name", "id"], name="table_by_bucket"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(fields=["connection", "state_rank", "name", "id"], name="table_by_connection"),
        ),
        migrations.AddIndex(
            model_name="deltatable",
            index=models.Index(condition=models.Q(("gone_at", None)), fields=["state_rank"], name="table_tally"),
        ),
        migrations.AddConstraint(
            model_name="deltatable",
            constraint=models.UniqueConstraint(fields=("connection", "bucket", "prefix"), name="table_once"),
        ),
        migrations.AddIndex(
            model_name="commit",
            index=models.Index(fields=["table", "modified_at"], name="commit_by_time"),
        ),
        migrations.AddConstraint(
            model_name="commit",
            constraint=models.UniqueConstraint(fields=("table", "version"), name="commit_once"),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(fields=("table", "store", "lock_domain", "version"), name="entry_once"),
        ),
        migrations.AddIndex(
            model_name="observationpass",
            index=models.Index(fields=["connection", "-started_at"], name="pass_newest"),
        ),
        migrations.AddConstraint(
            model_name="provenancerow",
            constraint=models.UniqueConstraint(fields=("table", "version"), name="provenance_once"),
        ),
        migrations.AddConstraint(
            model_name="tablefinding",
            constraint=models.UniqueConstraint(
                condition=models.Q(("resolved_at", None)), fields=("table", "key"), name="finding_open_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="ttlmigration",
            constraint=models.UniqueConstraint(
                condition=models.Q(("finished_at", None)), fields=("store",), name="ttl_migration_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="watch",
            constraint=models.UniqueConstraint(fields=("connection", "uri"), name="watch_once"),
        ),
        migrations.AddIndex(
            model_name="writertest",
            index=models.Index(fields=["connection", "store_name"], name="writer_test_of_store"),
        ),
    ]
