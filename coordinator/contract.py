"""The JSON of the command line that other programs read (docs/architecture.md, Command line), as types.

What stands beside a type is the example of the documentation, which is written from here.
"""

from typing import Annotated, Any, TypedDict

from changes.commands import ErrorDocument, JobDocument, job_document
from changes.documents import OutcomeDocument, PlanDocument, RefusalDocument
from dashboard.jobs.models import Job

Uri = Annotated[str, "s3a://lake/orders"]
Version = Annotated[int, 42]
Moment = Annotated[str, "2026-11-20T10:00:00Z"]
Copy = Annotated[str, "s3a://lake/orders/_levee_rescue/20261120T094207Z-abandon-commit-42/….item.json"]
Operation = Annotated[str, "enable | drop | create | leftovers"]


class OvertakenDocument(TypedDict):
    """Where a job stopped (0: before the first call), what it had written, whether the finding of a repair is left."""

    call: int
    of: int
    reason: str
    written: list[str]
    finding_holds: bool


class RepairPlan(PlanDocument):
    """A plan with the names that programs have known first: `repair` and `uri` of kind and subject, `loses`."""

    repair: Annotated[str, "publish-commit"]
    uri: Uri
    loses: str


class RepairRefusal(RefusalDocument):
    repair: str
    uri: Uri


class ChangedTableJob(JobDocument):
    """A job that changed a table; `overtaken` is null where nobody was faster."""

    overtaken: OvertakenDocument | None
    calls: list[OutcomeDocument]


def table_job_document(job: Job) -> ChangedTableJob:
    calls = job.result.get("after", {}).get("calls", [])
    return {**job_document(job), "overtaken": job.result.get("overtaken"), "calls": calls}


class RepairJson(TypedDict):
    """`repair URI --json`; `jobs` is empty without `--apply`."""

    uri: Uri
    plans: list[RepairPlan]
    refusals: list[RepairRefusal]
    jobs: list[ChangedTableJob]


class SettingPlan(PlanDocument):
    act: Annotated[str, "change-capacity"]


class SettingRefusal(RefusalDocument):
    act: Annotated[str, "change-capacity"]


class SettingOutcome(OutcomeDocument):
    result: Annotated[str, "done | already | stopped | failed"]


class SettingJob(JobDocument):
    outcomes: list[SettingOutcome]


class SettingJson(TypedDict):
    """`store NAME ACTION --json` and `bucket NAME ACTION --json`; of `plan` and `refusal` one is null."""

    read_at: Moment
    wish: Annotated[dict[str, Any], {"act": "change-capacity", "name": "delta_log", "capacity": {"read": 25}}]
    plan: SettingPlan | None
    refusal: SettingRefusal | None
    job: SettingJob | None


class CopyLine(TypedDict):
    """One saved copy; `kind`, `saved_at` and `version` are null where `unreadable` says why an object is none."""

    id: Copy
    connection: Annotated[str, "prod"]
    table: Uri
    kind: Annotated[str | None, "temp-file | staged-file | entry | registration"]
    repair: str
    version: Version | None
    saved_at: Annotated[str | None, "2026-11-20T09:42:07Z"]
    bytes: Annotated[int, 610]
    goes_to: Annotated[str, "entry …, in delta_log"]
    unreadable: Annotated[str, ""]


class NotListed(TypedDict):
    table: Uri
    connection: Annotated[str, "prod"]
    reason: str


class CopiesJson(TypedDict):
    """`rescue list --json`."""

    copies: list[CopyLine]
    left_out: int
    more: bool
    not_listed: list[NotListed]


class RestoreJson(TypedDict):
    """`rescue restore ID --json`; of `plan` and `refusal` one is null."""

    id: Copy
    uri: Uri
    plan: PlanDocument | None
    refusal: RefusalDocument | None
    job: ChangedTableJob | None


class CheckDocument(TypedDict):
    name: Annotated[str, "Commit store"]
    state: Annotated[str, "ok | warning | failed"]
    sentence: str


class LeftRegistrations(TypedDict):
    """What an act that failed has left, and whether it could be removed."""

    store: Annotated[str, "delta_commits"]
    table_ids: list[str]
    removed: bool


class CommitsJob(TypedDict):
    """The job of one act; `left` is null where no registration was left."""

    id: str
    kind: Annotated[str, "enable-coordinated-commits"]
    state: Annotated[str, "succeeded | failed | cancelled | queued"]
    message: str
    operation: Operation
    proofs: list[str]
    left: LeftRegistrations | None
    error: ErrorDocument | None


class CommitsJson(TypedDict):
    """`commits enable|drop|create|leftovers --json`; `job` is null without `--apply`."""

    operation: Operation
    uri: Uri
    location: Annotated[str, "s3://lake/orders"]
    store: Annotated[str, "delta_commits"]
    endpoint: Annotated[str, "https://dynamodb.eu-west-1.amazonaws.com"]
    version: Annotated[int | None, 41]
    may_run: bool
    digest: str
    checks: list[CheckDocument]
    statement: Annotated[str, "ALTER TABLE delta.`s3://lake/orders` SET TBLPROPERTIES (…)"]
    job: CommitsJob | None


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
    evidence: dict[str, Any]
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
    properties: dict[str, Any]
    partition_columns: list[str]
    registrations: list[Any]
    error: ReadingError | None
    problems: list[Any]
    entries: list[EntryDocument]
    findings: list[FindingDocument]


class WriterFindingDocument(TypedDict):
    """`corrected`: the rule no longer finds it in the corrected text, which was read again."""

    rule: Annotated[str, "region"]
    severity: Annotated[str, "critical | warning | info"]
    key: Annotated[str, "spark.io.delta.storage.S3DynamoDBLogStore.ddb.region"]
    wrong: str
    effect: str
    instead: str
    source: str
    corrected: bool


class DoctorJson(TypedDict):
    """`doctor FILE --json`; `compared_with` is null without `--table` and `--store`; values of `masked` are hidden."""

    syntax: Annotated[str, "spark-submit | spark-defaults.conf | PySpark | JSON | SparkApplication"]
    compared_with: Annotated[str | None, "s3a://lake/orders"]
    findings: list[WriterFindingDocument]
    corrected: str
    masked: Annotated[list[str], ["spark.hadoop.fs.s3a.secret.key"]]
    not_judged: list[str]
