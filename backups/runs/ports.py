"""What a run needs of others: the data pipeline, and an engine that copies what a manifest names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from lake.backup.batch_manifest import Manifest
from lake.backup.objects import BucketPrefix

Lane = Literal["copy", "multipart"]


def place_of(uri: str) -> BucketPrefix:
    """The place that an s3a:// URI names; its prefix gets the final slash that it lacks."""
    bucket, _, prefix = uri.partition("://")[2].partition("/")
    return BucketPrefix(bucket, f"{prefix}/" if prefix and not prefix.endswith("/") else prefix)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one run is to copy. `inventory_manifest` is "" where the source is listed; times are UTC.

    `retry` names an earlier run's retry manifest, which then takes the place of the inventory. `pool` says where the
    plan's last reconciled outcomes lie: what multipart copies have as ETag cannot be told from the source's.
    """

    run: str
    source: BucketPrefix
    destination: BucketPrefix
    folder: BucketPrefix
    inventory_bucket: str
    inventory_manifest: str
    cut_off: datetime
    selection: str
    files: str
    window_hours: int
    storage_class: str = ""
    encryption_key: str = ""
    retry: Mapping[str, Any] = field(default_factory=dict)
    pool: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Planned:
    """What planning found. `listed` counts all objects of the source, `already_there` those right in the pool."""

    listed: int
    already_there: int
    too_new: int
    archived: int
    manifests: tuple[Manifest, ...]
    tables: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A result file of a completion report, `size` in bytes, pinned by its ETag."""

    bucket: str
    key: str
    size: int
    etag: str


@dataclass(frozen=True, slots=True)
class Reports:
    """What the copy jobs of a run report: `places` below which result files lie, and single `files`.

    `doubts` says, a sentence each, what of S3's reports is missing or altered: an object that no line of the others
    speaks of is then unknown.
    """

    places: tuple[BucketPrefix, ...] = ()
    files: tuple[ReportFile, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnsafeObjects:
    """Objects that are not safe, by one cause; `examples` are a few keys."""

    outcome: str
    code: str
    objects: int
    bytes: int
    tables: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What became of each object: counts by outcome, whose sum is `listed`."""

    listed: int
    counts: Mapping[str, int]
    bytes_copied: int
    groups: tuple[UnsafeObjects, ...]
    retry: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Copying:
    """One manifest for an engine. `token` is the same for the same work, and at most 64 characters.

    What was written at the source after `until` (UTC) is not what the manifest means.
    """

    token: str
    title: str
    manifest: Manifest
    destination: BucketPrefix
    source: BucketPrefix
    report: BucketPrefix
    role_arn: str
    storage_class: str
    encryption_key: str
    priority: int
    until: datetime
    aws_job_id: str = ""


@dataclass(frozen=True, slots=True)
class CopyStatus:
    """Where a copy job stands, in AWS's words; `reason` is "" unless it failed, `priority` and `ended_at`
    are None where there is none.
    """

    status: str
    done: int = 0
    failed: int = 0
    total: int = 0
    active_seconds: int = 0
    reason: str = ""
    aws_job_id: str = ""
    priority: int | None = None
    ended_at: datetime | None = None


class Pipeline(Protocol):
    """The work on data. Each call may be repeated; both raise AwsError or JobFailed."""

    def plan(self, wanted: Wanted) -> Planned: ...

    def reconcile(
        self, wanted: Wanted, planned: Mapping[str, Any], reports: Reports, copied_until: datetime | None = None
    ) -> Reconciled:
        """With `reports.doubts`, what was to be copied and nothing reports is not counted as copied: ReportNotBelieved.

        `copied_until` is when the last copy ended whose report names no ETag; None where nobody says."""
        ...


class CopyEngine(Protocol):
    """Copies what a manifest names and writes a report in the form of S3 Batch Operations.

    `create` is idempotent by the token and copies nothing; `begin` lets it copy; `look` says where it stands, and may
    do the work itself; `cancel` asks for the end of it. `set_priority` gives it the priority that it is to have.
    """

    def create(self, copying: Copying) -> CopyStatus: ...

    def begin(self, copying: Copying) -> None: ...

    def look(self, copying: Copying) -> CopyStatus: ...

    def cancel(self, copying: Copying) -> None: ...

    def set_priority(self, copying: Copying) -> None: ...
