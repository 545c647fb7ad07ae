"""What a run needs of the data pipeline, and what that tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from backups.models import CopyJob
from lake.aws.batch_operations import JobStatus
from lake.backup.batch_manifest import Manifest
from lake.backup.objects import BucketPrefix
from lake.points.proven import ProvenTable


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one run is to copy. `inventory_manifest` is "" where the source is listed; times are UTC.

    `retry` says where an earlier run's outcomes lie: what of them is to be tried again takes the place of the
    inventory. `pool` says where the plan's last reconciled outcomes lie: what multipart copies have as ETag cannot be
    told from the source's.
    """

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
class ProofWanted:
    """Which backup is to be proven, compared with `source_bucket`, "" for none, as whoever copies reads it. Points are
    kept for `plan` and `run`, "" for none, under `encryption_key`. A table that lacks a commit older than
    `objective_hours` is left, None for any."""

    destination: BucketPrefix
    source_bucket: str
    plan: str = ""
    run: str = ""
    encryption_key: str = ""
    objective_hours: int | None = None


@dataclass(frozen=True, slots=True)
class ProvenTables:
    """What tables were proven to be. Of those whose roots are `left` nothing was kept: they need commit stores, to be
    topped up, or objects that do not lie below them."""

    tables: tuple[ProvenTable, ...]
    left: tuple[str, ...]


class Pipeline(Protocol):
    """The work on data. Each call may be repeated, and raises AwsError, JobFailed, or RunFailed for what stays so."""

    def plan(self, wanted: Wanted) -> Planned: ...

    def copy(self, row: CopyJob) -> JobStatus:
        """Copy what the manifest of a copy job names, and write a report in the form of S3 Batch Operations."""
        ...

    def reconcile(
        self, wanted: Wanted, planned: Mapping[str, Any], reports: Reports, copied_until: datetime | None = None
    ) -> Reconciled:
        """With `reports.doubts`, what was to be copied and nothing reports is not counted as copied: ReportNotBelieved.

        `copied_until` is when the last copy ended whose report names no ETag; None where nobody says."""
        ...

    def prove(self, wanted: ProofWanted, roots: Sequence[str]) -> ProvenTables:
        """Prove these tables, and keep a point of each of which something can be restored."""
        ...
