"""What Levee knows of the lake: watched prefixes, commit stores, buckets, Delta tables and what was found in them.

Rows are snapshots with `observed_at`, written by coordinator.observation; pages read nothing else.
"""

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q

from coordinator.protocols.deadlines import read_moment
from coordinator.protocols.verdict import Severity, State
from lake.delta.facts import LockDomain, Mechanism
from lake.delta.uri import TableUri

STATES = [(state.value, state.value) for state in State]
MECHANISM_WORDS = {
    Mechanism.LOG_STORE: "Log store",
    Mechanism.COORDINATED_COMMITS: "Coordinated",
    Mechanism.SINGLE_DRIVER: "Single driver",
    Mechanism.CATALOG_MANAGED: "Catalogue",
    Mechanism.UNKNOWN: "Unknown",
}


class Observed(models.Model):
    """Fields of everything that a pass reads: what state it is in, when it was read, and the last refusal."""

    state = models.CharField(max_length=16, choices=STATES, default=State.NOT_CHECKED)
    state_rank = models.PositiveSmallIntegerField(default=State.NOT_CHECKED.rank)  # 0 is worst
    summary = models.TextField(blank=True)  # One sentence, as diagnosis says it
    observed_at = models.DateTimeField(null=True)  # Last complete reading
    error_at = models.DateTimeField(null=True)  # Last failed reading; older readings stay as they are
    error_code = models.CharField(max_length=128, blank=True)
    error_text = models.TextField(blank=True)

    class Meta:
        abstract = True


class Watch(models.Model):
    """A prefix in which Levee looks for Delta tables."""

    connection = models.ForeignKey("connections.Connection", on_delete=models.CASCADE, related_name="watches")
    uri = models.CharField(max_length=1024)  # s3a://bucket/prefix/
    listed_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=128, blank=True)
    error_text = models.TextField(blank=True)

    class Meta:
        ordering = ("uri",)
        constraints = [models.UniqueConstraint(fields=["connection", "uri"], name="watch_once")]

    def __str__(self) -> str:
        return self.uri


class CommitStore(Observed):
    """A DynamoDB table through which commits go."""

    class Kind(models.TextChoices):
        LOG_STORE = "log_store", "Log store"
        COMMIT_COORDINATOR = "commit_coordinator", "Coordinator"

    connection = models.ForeignKey("connections.Connection", on_delete=models.CASCADE, related_name="stores")
    name = models.CharField(max_length=255)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    facts = models.JSONField(default=dict)  # lake.aws.dynamodb.StoreDescription as JSON
    scanned_at = models.DateTimeField(null=True)  # Last scan for Delta tables nobody named
    scanned_items = models.BigIntegerField(null=True)

    class Meta:
        ordering = ("state_rank", "name")
        constraints = [models.UniqueConstraint(fields=["connection", "name"], name="store_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def ttl_attribute(self) -> str:
        """What TTL goes by; empty where it is off or was not read."""
        return "" if self.facts.get("ttl_status") == "DISABLED" else self.facts.get("ttl_attribute") or ""


class Bucket(Observed):
    """An S3 bucket that holds Delta tables: what S3 may delete on its own."""

    connection = models.ForeignKey("connections.Connection", on_delete=models.CASCADE, related_name="buckets")
    name = models.CharField(max_length=63)
    facts = models.JSONField(default=dict)  # lake.aws.buckets.BucketDescription as JSON

    class Meta:
        ordering = ("state_rank", "name")
        constraints = [models.UniqueConstraint(fields=["connection", "name"], name="bucket_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def temp_rules(self) -> dict[str, Any] | None:
        """Of how many of its `tables` temp files leave by a rule (`covered`), as its finding says; None: not known."""
        notes = (one["evidence"] for one in self.facts.get("findings", []) if one["code"] == "temp-rules")
        return next(notes, None)


class DeltaTable(Observed):
    """A Delta table: one root under which a `_delta_log/` lies, or to which an item of a commit store points."""

    connection = models.ForeignKey("connections.Connection", on_delete=models.CASCADE, related_name="tables")
    bucket = models.CharField(max_length=63)
    prefix = models.CharField(max_length=1024)  # Key of the root without slashes at its ends
    uri = models.CharField(max_length=1100)  # s3a:// form, as pages and commands name the table
    name = models.CharField(max_length=512)  # Last two parts of the path, joined by a dot
    mechanism = models.CharField(
        max_length=20, choices=[(m.value, word) for m, word in MECHANISM_WORDS.items()], default=Mechanism.UNKNOWN
    )
    store = models.ForeignKey(CommitStore, null=True, on_delete=models.SET_NULL, related_name="tables")
    lock_domains = models.JSONField(default=list)  # [{store, path}] of entries that exist or existed
    published_version = models.BigIntegerField(null=True)
    accepted_version = models.BigIntegerField(null=True)
    unpublished_count = models.PositiveIntegerField(default=0)
    oldest_unpublished_at = models.DateTimeField(null=True)
    last_commit_at = models.DateTimeField(null=True)
    oldest_version = models.BigIntegerField(null=True)  # First version whose file is still in the log
    checkpoint_version = models.BigIntegerField(null=True)
    log_files = models.PositiveIntegerField(default=0)
    log_bytes = models.BigIntegerField(default=0)
    # coordinator.protocols.bucket_tables: ranges of sizes of log files; null: not known
    log_sizes = models.JSONField(null=True)
    delta_id = models.CharField(max_length=64, blank=True)  # metaData.id
    delta_name = models.CharField(max_length=512, blank=True)  # metaData.name
    delta_created_at = models.DateTimeField(null=True)  # createdTime of metaData
    reader_version = models.PositiveSmallIntegerField(null=True)
    writer_version = models.PositiveSmallIntegerField(null=True)
    reader_features = models.JSONField(default=list)
    writer_features = models.JSONField(default=list)
    properties = models.JSONField(default=dict)
    partition_columns = models.JSONField(default=list)
    protocol_version_read = models.BigIntegerField(null=True)  # Version up to which protocol was replayed
    registrations = models.JSONField(default=list)  # Coordinator items of this path, as JSON
    registered = models.JSONField(default=dict)  # {table_id, path} of its registration, as last seen
    problems = models.JSONField(default=list)  # [{place, reason}] of what could not be read
    fingerprint = models.CharField(max_length=64, blank=True)  # Hash of the tail listing and newest entry
    # [code, what, first, last] of what the last look did not see: the next one confirms it
    missed = models.JSONField(default=list)
    listed_at = models.DateTimeField(null=True)  # Last listing of the whole log
    changed_at = models.DateTimeField(null=True)  # Last pass that found something new
    first_seen_at = models.DateTimeField(auto_now_add=True)
    gone_at = models.DateTimeField(null=True)  # Log and items have vanished; the row is kept

    class Meta:
        ordering = ("state_rank", "name", "id")
        constraints = [models.UniqueConstraint(fields=["connection", "bucket", "prefix"], name="table_once")]
        indexes = [
            models.Index(fields=["state_rank", "name", "id"], name="table_worst_first"),
            models.Index(fields=["name", "id"], name="table_by_name"),
            models.Index(fields=["published_version", "id"], name="table_by_version"),
            models.Index(fields=["last_commit_at", "id"], name="table_by_last_commit"),
            models.Index(fields=["oldest_unpublished_at", "id"], name="table_by_unpublished"),
            models.Index(fields=["mechanism", "state_rank", "name", "id"], name="table_by_mechanism"),
            models.Index(fields=["bucket", "state_rank", "name", "id"], name="table_by_bucket"),
            models.Index(fields=["connection", "state_rank", "name", "id"], name="table_by_connection"),
            models.Index(
                fields=["state_rank", "name", "id"],
                condition=Q(gone_at=None, unpublished_count__gt=0),
                name="table_waiting",
            ),
            models.Index(fields=["state_rank", "name", "id"], condition=Q(gone_at__isnull=False), name="table_gone"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def features(self) -> list[str]:
        """Reader and writer features together, sorted."""
        return sorted({*self.reader_features, *self.writer_features})

    @property
    def place(self) -> TableUri:
        """Where it is, in the spelling that Levee itself uses."""
        return TableUri("s3a", self.bucket, self.prefix)

    @property
    def domains(self) -> tuple[LockDomain, ...]:
        """`lock_domains` as what they are."""
        return tuple(LockDomain(one["store"], one["path"]) for one in self.lock_domains)


class TableCount(models.Model):
    """Tables more or fewer of one kind, place and state; the sum over rows that are alike is how many there are.

    Triggers add a row with each change of a table (coordinator.kept), so that two writers never wait for each other;
    rows that are alike are put together later.
    """

    connection = models.ForeignKey(
        "connections.Connection", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    store = models.ForeignKey(
        CommitStore, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    bucket = models.CharField(max_length=63)
    mechanism = models.CharField(max_length=20)
    state_rank = models.PositiveSmallIntegerField()
    is_gone = models.BooleanField()
    is_waiting = models.BooleanField()  # Something accepted is not published
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.bucket} {self.number:+}"


class Commit(models.Model):
    """One version of a table: its published file and what that file says of itself."""

    table = models.ForeignKey(DeltaTable, on_delete=models.CASCADE, related_name="commits")
    version = models.BigIntegerField()
    published = models.BooleanField()  # <version>.json exists
    size = models.BigIntegerField(null=True)
    modified_at = models.DateTimeField(null=True)
    etag = models.CharField(max_length=64, blank=True)
    committed_at = models.DateTimeField(null=True)  # In-commit timestamp, else the writer's clock
    operation = models.CharField(max_length=64, blank=True)
    engine = models.CharField(max_length=128, blank=True)
    added_files = models.PositiveIntegerField(null=True)
    removed_files = models.PositiveIntegerField(null=True)
    has_checkpoint = models.BooleanField(default=False)

    class Meta:
        ordering = ("-version",)
        constraints = [models.UniqueConstraint(fields=["table", "version"], name="commit_once")]
        indexes = [models.Index(fields=["table", "modified_at"], name="commit_by_time")]

    def __str__(self) -> str:
        return f"{self.table_id}@{self.version}"

    @property
    def at(self) -> datetime | None:
        """When it was committed, by the best clock there is."""
        return self.committed_at or self.modified_at


class Entry(models.Model):
    """An item of a log store, or an element of a registration's commits, as it stood when last read."""

    table = models.ForeignKey(DeltaTable, on_delete=models.CASCADE, related_name="entries")
    store = models.ForeignKey(CommitStore, on_delete=models.CASCADE, related_name="entries")
    lock_domain = models.CharField(max_length=1100)  # tablePath or tableId, as stored
    version = models.BigIntegerField()
    code = models.CharField(max_length=8)  # State of the tables C and K
    published = models.BooleanField(null=True)
    file = models.CharField(max_length=1100, blank=True)  # Temp or staged file, relative to _delta_log/
    file_present = models.BooleanField(null=True)
    file_size = models.BigIntegerField(null=True)
    complete = models.BooleanField(null=True)
    expire_time = models.BigIntegerField(null=True)  # Epoch seconds
    commit_time = models.BigIntegerField(null=True)  # Epoch seconds; written by releases up to 2.1
    written_at = models.DateTimeField(null=True)
    problems = models.JSONField(default=list)
    observed_at = models.DateTimeField()

    class Meta:
        ordering = ("-version", "store_id", "lock_domain")
        constraints = [
            models.UniqueConstraint(fields=["table", "store", "lock_domain", "version"], name="entry_once"),
        ]

    def __str__(self) -> str:
        return f"{self.lock_domain}@{self.version}"

    @property
    def is_coordinated(self) -> bool:
        """Whether it is an element of a registration, and no item of a log store."""
        return self.code.startswith("K")

    @property
    def expires_at(self) -> datetime | None:
        """When TTL may take it; None for a number that is no time."""
        return read_moment(self.expire_time)


class ProvenanceRow(models.Model):
    """What was seen of one version of a table when it was seen first: lake.delta.facts.Provenance, field by field.

    Commit and Entry are what is there now and go with it; this row stays as it was first written, and only facts that
    were not known ("" or null) are added.
    """

    table = models.ForeignKey(DeltaTable, on_delete=models.CASCADE, related_name="provenance", db_index=False)
    version = models.BigIntegerField()
    size = models.BigIntegerField(null=True)
    etag = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=32, blank=True)
    copy_etag = models.CharField(max_length=64, blank=True)
    in_commit_timestamp = models.BigIntegerField(null=True)
    commit_timestamp = models.BigIntegerField(null=True)
    seen_at = models.DateTimeField(null=True)
    absent_at = models.DateTimeField(null=True)
    store = models.CharField(max_length=255, blank=True)
    region = models.CharField(max_length=32, blank=True)
    lock_domain = models.CharField(max_length=1100, blank=True)  # `tablePath` or `tableId` to the letter
    file_name = models.CharField(max_length=1100, blank=True)
    accepted_size = models.BigIntegerField(null=True)
    accepted_etag = models.CharField(max_length=64, blank=True)
    accepted_timestamp = models.BigIntegerField(null=True)
    expire_time = models.BigIntegerField(null=True)  # Epoch seconds
    accepted_at = models.DateTimeField(null=True)
    disputed = models.BooleanField(default=False)  # Another item accepted the version with another file
    # Published file that was shown not to be the accepted one
    differs_etag = models.CharField(max_length=64, blank=True, default="")
    rivals = models.JSONField(null=True)  # lake.delta.facts.Acceptance of other items, as JSON; null: none
    abandoned = models.JSONField(null=True)  # Acceptances that count no more, as JSON; null: none

    class Meta:
        constraints = [models.UniqueConstraint(fields=["table", "version"], name="provenance_once")]

    def __str__(self) -> str:
        return f"{self.table_id}@{self.version}"


class TableFinding(models.Model):
    """A finding of one table over time: opened, seen again, resolved."""

    table = models.ForeignKey(DeltaTable, on_delete=models.CASCADE, related_name="findings")
    code = models.CharField(max_length=32)
    version = models.BigIntegerField(null=True)
    key = models.CharField(max_length=64)  # code@version: one open row each
    severity = models.CharField(max_length=8, choices=[(s.value, s.value) for s in Severity])
    state = models.CharField(max_length=16, choices=STATES)
    state_rank = models.PositiveSmallIntegerField()
    summary = models.TextField()
    meaning = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)
    repairs = models.JSONField(default=list)
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("state_rank", "version", "id")
        constraints = [
            models.UniqueConstraint(fields=["table", "key"], condition=Q(resolved_at=None), name="finding_open_once"),
        ]
        indexes = [
            models.Index(
                fields=["code", "-opened_at", "table"], condition=Q(resolved_at=None), name="finding_open_newest"
            )
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.summary}"


class ObservationPass(models.Model):
    """One look at one connection: how long it took, what it cost, what it could not read."""

    connection = models.ForeignKey("connections.Connection", on_delete=models.CASCADE, related_name="passes")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    tables_seen = models.PositiveIntegerField(default=0)
    tables_changed = models.PositiveIntegerField(default=0)
    tables_failed = models.PositiveIntegerField(default=0)
    requests = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=128, blank=True)
    error_text = models.TextField(blank=True)

    class Meta:
        ordering = ("-started_at",)
        indexes = [models.Index(fields=["connection", "-started_at"], name="pass_newest")]

    def __str__(self) -> str:
        return f"{self.connection_id} {self.started_at:%Y-%m-%d %H:%M:%S}"


class TtlMigration(models.Model):
    """Moving TTL of a log store to expireTime: a row that ticks of the schedule carry from phase to phase.

    DynamoDB allows one TTL attribute and one change in about an hour, so each phase may last that long. Every step is
    one conditional UPDATE; whoever holds `leased_until` alone talks to DynamoDB.
    """

    class Phase(models.TextChoices):
        DISABLING = "disabling", "Switching TTL off"
        WAITING_OFF = "waiting-off", "Waiting until TTL is off"
        ENABLING = "enabling", "Switching TTL on"
        WAITING_ON = "waiting-on", "Waiting until TTL is on"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    ENDED = (Phase.DONE, Phase.FAILED, Phase.CANCELLED)

    store = models.ForeignKey(CommitStore, on_delete=models.CASCADE, related_name="ttl_migrations")
    from_attribute = models.CharField(max_length=255, blank=True)
    phase = models.CharField(max_length=16, choices=Phase.choices, default=Phase.DISABLING)
    detail = models.TextField(blank=True)  # One sentence: where it is
    requested_by_name = models.CharField(max_length=150)
    started_at = models.DateTimeField()
    phase_at = models.DateTimeField()  # When this phase began
    checked_at = models.DateTimeField(null=True)  # Last answer of DynamoDB
    next_at = models.DateTimeField()  # Not asked again before this moment
    leased_until = models.DateTimeField(null=True)  # Somebody is at work on it until then at most
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-started_at",)
        constraints = [
            models.UniqueConstraint(fields=["store"], condition=Q(finished_at=None), name="ttl_migration_once"),
        ]

    def __str__(self) -> str:
        return f"{self.store_id} {self.phase}"

    @property
    def is_active(self) -> bool:
        return self.finished_at is None

    @property
    def place(self) -> int:
        """Which of the four phases is under way, 4 once all are done; -1 where it ended otherwise."""
        phases = self.Phase.values[:5]
        return phases.index(self.phase) if self.phase in phases else -1


class WriterTest(models.Model):
    """A self-test of a writer: a scratch table that its script commits to, and what was read of it afterwards.

    The store is named, not referred to: what the test showed outlives the row of the store.
    """

    connection = models.ForeignKey("connections.Connection", on_delete=models.CASCADE, related_name="writer_tests")
    store_name = models.CharField(max_length=255)
    kind = models.CharField(max_length=20, choices=CommitStore.Kind.choices)
    token = models.CharField(max_length=32, unique=True)  # Unguessable; the last part of the prefix
    scheme = models.CharField(max_length=8, default="s3a")  # As the writer spells its tables: a lock of its own
    bucket = models.CharField(max_length=63)
    prefix = models.CharField(max_length=1024)  # Key of the scratch table without slashes at its ends
    asked_by_name = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    state = models.CharField(max_length=16, default="not-seen")  # coordinator.writer_tests.judging
    sentence = models.TextField(blank=True)  # One sentence, as the last look judged it
    evidence = models.JSONField(default=dict)  # What the state rests on, as read
    checked_at = models.DateTimeField(null=True)  # Last complete look
    error_text = models.TextField(blank=True)  # Why the last look failed; what was seen before stays
    cleaned_at = models.DateTimeField(null=True)  # First look that found nothing left of a test once seen

    class Meta:
        ordering = ("-asked_at", "-id")
        indexes = [models.Index(fields=["connection", "store_name"], name="writer_test_of_store")]

    def __str__(self) -> str:
        return self.token

    @property
    def place(self) -> TableUri:
        """The scratch table, in the scheme of its script."""
        return TableUri(self.scheme, self.bucket, self.prefix)

    @property
    def uri(self) -> str:
        """The scratch table to the letter, as its script and the log store spell it."""
        return f"{self.scheme}://{self.bucket}/{self.prefix}"
