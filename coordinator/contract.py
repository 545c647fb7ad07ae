"""The JSON of the command line that other programs read (docs/json.md), as types.

What stands beside a type is the example of the documentation, which is written from here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypedDict

from changes.commands import JobDocument
from changes.documents import PlanDocument, RefusalDocument
from coordinator.settings.capacity import CapacityAdvice
from coordinator.settings.rule_reach import LifecycleView
from dashboard.jobs.queries import ErrorDocument

Uri = Annotated[str, "s3a://lake/orders"]
Version = Annotated[int, 42]
Moment = Annotated[str, "2026-11-20T10:00:00Z"]
Copy = Annotated[str, "s3a://lake/orders/_levee_rescue/20261120T094207Z-abandon-commit-42/….item.json"]


class RepairJson(TypedDict):
    """`repair URI --json`; `jobs` is empty without `--apply`."""

    uri: Uri
    plans: list[PlanDocument]
    refusals: list[RefusalDocument]
    jobs: list[JobDocument]


class RequestedChange(TypedDict):
    """A change request as JSON (`requests.change_request_document`), for programs and in a job's parameters."""

    change: Annotated[Mapping[str, object], {"act": "change-capacity", "name": "delta_log", "capacity": {"read": 25}}]


class SettingJson(RequestedChange):
    """`store NAME ACTION --json` and `bucket NAME ACTION --json`; of `plan` and `refusal` one is null."""

    read_at: Moment
    plan: PlanDocument | None
    refusal: RefusalDocument | None
    job: JobDocument | None


class CopyDocument(TypedDict):
    """One saved copy; `kind`, `saved_at` and `version` are null where `unreadable` says why an object is none."""

    id: Copy
    table: Uri
    kind: Annotated[str | None, "temp-file | staged-file | entry | registration"]
    repair: str
    version: Version | None
    saved_at: Annotated[str | None, "2026-11-20T09:42:07Z"]
    bytes: Annotated[int, 610]
    goes_to: Annotated[str, "entry …, in delta_log"]
    unreadable: Annotated[str, ""]


class CopyLine(CopyDocument):
    connection: Annotated[str, "prod"]


class RefusedListing(TypedDict):
    """A table whose copies S3 would not list."""

    table: Uri
    reason: str


class NotListed(RefusedListing):
    connection: Annotated[str, "prod"]


class CopiesJson(TypedDict):
    """`rescue list --json`."""

    copies: list[CopyLine]
    left_out: int
    more: bool
    not_listed: list[NotListed]


class RestoreJson(TypedDict):
    """`rescue restore ID --json`; of `plan` and `refusal` one is null. `command` puts an item back by hand."""

    id: Copy
    uri: Uri
    plan: PlanDocument | None
    refusal: RefusalDocument | None
    command: Annotated[str, "aws dynamodb put-item …"]
    job: JobDocument | None


class EntryDocument(TypedDict):
    """A log store entry or a listed commit, with the code of its state."""

    version: Version
    state: Annotated[str, "C2"]
    published: bool | None
    file: Annotated[str, ".tmp/…"]
    file_present: bool | None
    file_size: Annotated[int | None, 1042]
    complete: bool | None
    age_seconds: Annotated[int | None, 61]
    written_at: Moment | None
    expire_time: Annotated[int | None, 1795255200]
    store: Annotated[str, "delta_log"]
    lock_domain: Uri
    problems: list[Any]


class FindingDocument(TypedDict):
    code: Annotated[str, "C2"]
    severity: Annotated[str, "info | warning | critical"]
    version: Version | None
    summary: str
    meaning: str
    evidence: dict[str, object]
    repairs: Annotated[list[str], ["publish-commit"]]
    opened_at: Moment | None
    seen_at: Moment | None


class TableLine(TypedDict):
    """A table in `tables --json`."""

    uri: Uri
    name: Annotated[str, "orders"]
    connection: Annotated[str, "prod"]
    mechanism: Annotated[str, "log_store | coordinated_commits | single_driver | catalog_managed | unknown"]
    store: Annotated[str | None, "delta_log"]
    state: Annotated[str, "blocked | unsafe | attention | not_checked | unbackfilled | pending | healthy"]
    summary: str
    published_version: Annotated[int | None, 41]
    accepted_version: Version | None
    unpublished: Annotated[int, 1]
    last_commit_at: Moment | None
    observed_at: Moment | None
    gone_at: Annotated[str | None, None]


class ReadingError(TypedDict):
    code: str
    text: str
    at: Moment | None


class ObservedDocument(TypedDict):
    """What a store and a bucket have in common; `error` is null where the last reading brought all."""

    connection: Annotated[str, "prod"]
    name: str
    state: Annotated[str, "unsafe | attention | not_checked | healthy"]
    summary: str
    observed_at: Moment | None
    error: ReadingError | None
    tables: Annotated[int, 3]


class StoreLine(ObservedDocument):
    """A commit store in `stores --json`; `settings` are as last read."""

    kind: Annotated[str, "log_store | commit_coordinator"]
    settings: Annotated[Mapping[str, object], {"status": "ACTIVE", "billing": "on_demand", "ttl_status": "ENABLED"}]
    scanned_at: Moment | None
    scanned_items: Annotated[int | None, 420]


class MigrationDocument(TypedDict):
    """Where a move of TTL is."""

    phase: str
    detail: str
    from_attribute: Annotated[str, "commitTime"]
    phase_at: Moment | None


class TtlDocument(TypedDict):
    """TTL of a store and what it leaves; `since_is_exact` is false where it was so when Levee first looked."""

    status: Annotated[str, "ENABLED"]
    attribute: Annotated[str, "expireTime"]
    since: Moment | None
    since_is_exact: bool
    past_their_time: int
    incomplete: int
    complete_without_time: int
    with_commit_time: int
    migration: MigrationDocument | None


class StoreJson(StoreLine):
    """`store NAME --json`."""

    capacity: CapacityAdvice
    ttl: TtlDocument


class DeadlineDocument(TypedDict):
    """A `Deadline` as it was stored; `version` is null where it is of no one commit."""

    at: Annotated[str | None, "2026-11-25T00:00:00Z"]
    state: Annotated[str, "unsafe | attention | healthy | not_checked"]
    what: Annotated[str, "unpublished commit | last copy of a commit | published log | data files | …"]
    rule: Annotated[str, "tmp-4d"]
    does: Annotated[str, "deletes | archives"]
    table: Annotated[str, "sales/orders"]
    tables: Annotated[int, 1]
    version: Version | None
    file: Annotated[str, ".tmp/…"]
    condition: Annotated[str, "tagged k=v"]


class BucketLine(ObservedDocument):
    """A bucket in `buckets --json`."""

    settings: Annotated[
        Mapping[str, object],
        {"versioning": "Enabled", "lifecycle_rules": [{}], "tiering": [{}], "findings": [{}], "unknown": [["…", "…"]]},
    ]
    deadlines: list[DeadlineDocument]
    deadlines_in_all: Annotated[int, 1]


class BucketJson(BucketLine):
    """`bucket NAME --json`."""

    lifecycle: LifecycleView


class ObserveJob(TypedDict):
    """A look as `observe --json` tells it."""

    id: str
    connection: Annotated[str | None, "prod"]
    target: str
    state: Annotated[str, "succeeded | failed | queued"]
    message: str
    error: ErrorDocument | None
    result: Annotated[Mapping[str, object], {"requests": 12, "read_units": 3.5, "problems": []}]


class ObserveJson(TypedDict):
    """`observe --json`."""

    jobs: list[ObserveJob]


class ProtocolDocument(TypedDict):
    reader_version: Annotated[int | None, 3]
    writer_version: Annotated[int | None, 7]
    features: list[str]
    read_to_version: Annotated[int | None, 41]


class TableJson(TableLine):
    """`table URI --json`."""

    oldest_version: int | None
    checkpoint_version: Annotated[int | None, 40]
    log_files: Annotated[int | None, 12]
    log_bytes: Annotated[int | None, 48211]
    lock_domains: list[Any]
    protocol: ProtocolDocument
    properties: dict[str, object]
    partition_columns: list[str]
    registrations: list[Any]
    error: ReadingError | None
    problems: list[Any]
    entries: list[EntryDocument]
    findings: list[FindingDocument]


class HistoryEventDocument(TypedDict):
    """Something that happened to a table; `until` is null for a moment, and for what still goes on."""

    at: datetime
    until: Annotated[datetime | None, None]
    kind: Annotated[str, "version | entry | finding | job | act | alert"]
    state: Annotated[str, "published"]
    says: str
    by: Annotated[str, "schedule"]
    path: Annotated[str, "/tables/1/commits/42/"]


class HistoryJson(TypedDict):
    """`history URI --json`, newest first; of the kinds in `cut` only the newest are there."""

    uri: Uri
    since: datetime
    until: datetime
    cut: list[str]
    events: list[HistoryEventDocument]
