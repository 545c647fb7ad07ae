"""The JSON of `levee backup` that other programs read (docs/json.md), as types.

What stands beside a type is the example of the documentation, which is written from here. Money is in USD, sizes in
bytes.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, TypedDict

from changes.commands import JobDocument
from changes.documents import PlanDocument, RefusalDocument
from changes.many import TableOutcome

Usd = Annotated[float | None, 0.25]
RunStateWord = Annotated[str, "running | waiting_for_approval | complete | complete_with_gaps | failed | cancelled | …"]
Objects = Annotated[
    dict[str, int],
    {
        "listed": 10,
        "copied": 9,
        "already_there": 1,
        "changed": 0,
        "vanished": 0,
        "denied": 0,
        "too_new": 0,
        "archived": 0,
        "failed": 0,
    },
]
Engine = Annotated[str, "spark | s3-batch"]


class RunSummary(TypedDict):
    """A run in `backup runs --json`; `inventory` is null where the source is listed."""

    id: str
    plan: Annotated[str, "nightly"]
    state: RunStateWord
    stage: Annotated[str, "inventory | manifest | cost_gate | copy | reconcile | prove"]
    sentence: str
    inventory: Annotated[str | None, "2026-11-19T01-00Z"]
    estimate_usd: Usd
    bytes_copied: Annotated[int, 48211]
    objects: Objects
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class CostDocument(TypedDict):
    """A `CostItem`: `usd` is count times price per so many, to a millionth."""

    item: Annotated[str, "Copies"]
    count: Annotated[int, 9]
    unit: Annotated[str, "thousand requests"]
    price: Annotated[str, "0.005"]
    per: Annotated[int, 1000]
    usd: Annotated[str, "0.000045"]


class StageDocument(TypedDict):
    name: Annotated[str, "copy"]
    state: Annotated[str, "next | running | waiting | done | failed | skipped"]
    started_at: datetime | None
    finished_at: datetime | None
    done: int
    total: int | None
    detail: str


class CopyJobDocument(TypedDict):
    """One manifest at one engine; `status` and `reason` are AWS's words."""

    number: int
    lane: Annotated[str, "copy | multipart | archived"]
    engine: Engine
    aws_job_id: str
    priority: Annotated[int, 10]
    status: Annotated[str, "Complete"]
    reason: str
    done: int
    failed: int
    total: int


class FailureDocument(TypedDict):
    """Objects that are not safe, by one cause; `examples` are a few keys."""

    outcome: Annotated[str, "denied"]
    code: Annotated[str, "AccessDenied"]
    cause: str
    objects: int
    bytes: int
    tables: int
    worth_retry: bool
    examples: list[str]


class RunJson(RunSummary):
    """`backup show RUN --json`, and what every act on a run prints; `worth_retry` counts what a retry would copy,
    `points` the tables by what of them can be restored, once that is proven; of each, the newest version that can be
    has every commit that S3 was given before `holds_until`, null where that is not known."""

    destination: Annotated[str, "s3a://vault/lake"]
    folder: str
    cut_off: datetime | None
    requested_by: str
    retry_of: str | None
    error_code: str
    ceiling_usd: Usd
    actual_usd: Usd
    estimate: list[CostDocument]
    approved_by: str
    approved_at: datetime | None
    objects_planned: int
    bytes_planned: int
    worth_retry: int
    evidence: Mapping[str, object]
    holds_until: datetime | None
    points: Annotated[Mapping[str, int], {"proven": 14, "too_new": 1, "behind": 1, "unprovable": 1}]
    stages: list[StageDocument]
    copy_jobs: list[CopyJobDocument]
    failures: list[FailureDocument]


class KeptCopy(TypedDict):
    cut_off: datetime
    kept_as: Annotated[list[str], ["daily", "monthly"]]


class ObjectiveDocument(TypedDict):
    """How far the tables of a plan are behind their source at most, by their restore points: of `tables`, so many are
    `proven` to be within `hours` now. `worst_age_seconds` is null where that is not known of a table."""

    state: Annotated[str, "within | past | never"]
    hours: Annotated[int, 36]
    tables: Annotated[int, 16]
    proven: Annotated[int, 16]
    worst_age_seconds: Annotated[int | None, 3600]


class PlanJson(TypedDict):
    """`backup plan PLAN --json`, and each element of `backup plans --json`: its copies without gaps newest first."""

    name: Annotated[str, "nightly"]
    connection: Annotated[str, "prod"]
    vault_connection: Annotated[str, "vault"]
    source: Annotated[str, "s3a://lake/"]
    destination: Annotated[str, "s3a://vault/lake"]
    inventory: str
    minimum_lag_hours: Annotated[int, 24]
    engine: Engine
    schedule: Annotated[str, "0 3 * * *"]
    objective_hours: Annotated[int, 36]
    objective: ObjectiveDocument
    cost_ceiling_usd: Usd
    keep: Annotated[dict[str, int], {"daily": 7}]
    evidence: str
    selection: str
    files: Annotated[str, "all | live"]
    window_hours: int
    role_arn: str
    storage_class: str
    encryption_key: str
    source_key: str
    notify: list[str]
    paused: bool
    last_run: RunSummary | None
    copies: list[KeptCopy]


class InventoryJson(TypedDict):
    """`backup inventory PLAN --json`; `result` has the configuration of before and after."""

    job: str
    state: Annotated[str, "succeeded | queued"]
    message: str
    result: Mapping[str, object]


NotYet = Annotated[None, None]


class BlockedDocument(TypedDict):
    """A file that versions lack, from `first_version` to `version`."""

    first_version: int
    version: int
    key: Annotated[str, "lake/orders/part-0.parquet"]
    reason: Annotated[str, "it is not in the backup"]


class UnpublishedDocument(TypedDict):
    """A version that a commit store has accepted and the log does not show: the object of `key` is what it holds."""

    version: Annotated[int, 41]
    key: Annotated[str, "lake/orders/_delta_log/_staged_commits/00000000000000000041.5b8a….json"]


class PointJson(TypedDict):
    """A table of a backup: the newest version that can be restored, and in `ranges` all of them, both ends included.

    `proven`: that version is the newest, or with a plan every commit that is older than its objective is in it, by the
    times of S3; `behind`: some of these are not; `too_new`: the whole table is younger, and nothing of it can be
    restored yet; `unprovable`: none can be restored, or what is lacking is not known. `anchored`: each object of its
    log was found equal to the source's. `accepted_version` is the newest of the source's log, and of what DynamoDB
    has accepted, or, without a source, of the log in the backup; null where more may have been accepted.
    Of `unpublished` versions, the newest that can be restored, a reader sees nothing before each is put into the log as
    `<version>.json`.
    `holds_until`: every commit that S3 was given before that moment is in `version`, or of a table that is too new,
    there was none; null where that is not known, where nothing can be restored, and without a source.
    `rpo_seconds` lie between the two commits, by their writers' clocks. `blocked` are some of `blocked_total`, those of
    the newest versions first. `table` is its place in the backup, and at the source in `backup points`, which lists
    what runs have stored: for `prove`, which stores nothing, `id`, `run` and `proof` are null. `proof` is the point's
    document in the backup (`PointFileJson`); null where nothing can be restored, for the reason `not_kept`, or
    where an older release proved the table. `in_commit_timestamps`: the commit of `version` has one; without, TIMESTAMP
    AS OF goes by the times of a copy's own objects. An `earlier` point stays where a later run found another table or
    an older version at that place, or could keep none; all that it says is of `proven_at`, and of its own document
    alone. `last_checked_at` and `last_drill_at` are null for now.
    """

    id: Annotated[str | None, "5b8a2d0e-0e0c-4b5e-9d43-6f1c2d7a9b10"]
    plan: Annotated[str | None, "nightly"]
    run: Annotated[str | None, "0d7e5f5c-3a8c-4c53-8a9f-5f6f0a1f2c11"]
    destination: Annotated[str, "s3a://vault/lake/"]
    table: Annotated[str, "s3a://lake/orders"]
    incarnation: Annotated[str, "7426a6d4-0b3c-4f6e-9b9a-2f3d4c5b6a71"]
    earlier: bool
    state: Annotated[str, "proven | too_new | behind | unprovable"]
    sentence: str
    anchored: bool
    version: Annotated[int | None, 41]
    committed_at: datetime | None
    holds_until: datetime | None
    accepted_version: Annotated[int | None, 42]
    accepted_at: datetime | None
    rpo_seconds: Annotated[int | None, 61]
    ranges: Annotated[list[tuple[int, int]], [[0, 12], [15, 41]]]
    unpublished: list[UnpublishedDocument]
    blocked: list[BlockedDocument]
    blocked_total: Annotated[int, 1]
    files: Annotated[int, 460]
    bytes: Annotated[int, 123456]
    proven_at: datetime
    last_checked_at: NotYet
    last_drill_at: NotYet
    in_commit_timestamps: bool | None
    proof: Annotated[str | None, "s3a://vault/lake/_levee/points/lake/orders/@41-04d7a2c95be81f36.json"]
    not_kept: Annotated[str, ""]
    problems: Annotated[list[str], ["00000000000000000013.json: Line 2 of version 13 is not one whole action."]]


class ProveJson(TypedDict):
    """`prove URI --json` and `backup points --json`."""

    points: list[PointJson]


class ReadBy(TypedDict):
    """A restored table as one engine reads it; all is null where it did not, for the `reason`. `schema_equal` is about
    names and types of columns."""

    version: Annotated[int | None, 41]
    files: Annotated[int | None, 460]
    rows: Annotated[int | None, 9000]
    schema_equal: bool | None
    reason: Annotated[str, ""]


class FileCounts(TypedDict):
    """How many different combinations of partition values the data files have, and how many have a deletion vector."""

    partitions: Annotated[int, 12]
    vectors: Annotated[int, 3]


class ReadBySpark(ReadBy, FileCounts):
    """`files_equal` is about place, size, partition values and deletion vector of each data file. `wrote` says that
    Spark has written to the table afterwards, null where that is not wanted; where it could not, `reason` is why."""

    files_equal: Annotated[bool, True]
    wrote: bool | None


class ProvenState(FileCounts):
    """`rows` is null where the log does not say how many each data file has."""

    version: Annotated[int, 41]
    files: Annotated[int, 460]
    bytes: Annotated[int, 123456]
    rows: Annotated[int | None, 9000]


class Verified(TypedDict):
    """What was proven, and what each engine reads. A table that was taken off its commit coordinator has one version
    more."""

    expected: ProvenState
    spark: ReadBySpark
    deltalake: ReadBy


class Ways(TypedDict):
    """Lines that open a table; "" for an engine that did not read it."""

    sql: Annotated[str, "SELECT * FROM delta.`s3a://vault/lake/_levee/points/lake/orders/@open/41-6a0c3f5e9d1b7284`"]
    pyspark: Annotated[str, 'spark.read.format("delta").load("s3a://vault/…")']
    deltalake: Annotated[str, 'QueryBuilder().register("t", DeltaTable("s3a://vault/…")).execute("…")']


class RestorePlan(PlanDocument):
    """A plan with what it writes: `objects` of `bytes`, for `cost`, in about `seconds` by what was restored before;
    null where there was nothing. Where some are `archived`, the plan of a table asks S3 for these alone: they are the
    `objects`, and the table is restored by a later plan."""

    archived: Annotated[int, 0]
    objects: Annotated[int, 3]
    bytes: Annotated[int, 48211]
    cost: Annotated[str, "0.000015"]
    seconds: Annotated[int | None, 4]


class RestoreJob(JobDocument):
    """The job that restored; `verified` is null until readers have opened the table, `ways` where it is not what was
    proven."""

    seconds: Annotated[float | None, 4.2]
    verified: Verified | None
    ways: Ways | None


class PlannedRestore(TypedDict):
    """What was planned for one table. `point` is the id of the restore point, `document` the one that leads to
    `version`. In place, what stands at the path is copied to `aside`, "" where nothing does."""

    table: Annotated[str, "s3a://lake/orders"]
    point: Annotated[str, "5b8a2d0e-0e0c-4b5e-9d43-6f1c2d7a9b10"]
    document: Annotated[str, "s3a://vault/lake/_levee/points/lake/orders/@41-04d7a2c95be81f36.json"]
    version: Annotated[int | None, 41]
    kind: Annotated[str, "full | in_place | instant | remove"]
    to: Annotated[str, "s3a://vault/lake/_levee/points/lake/orders/@open/41-6a0c3f5e9d1b7284"]
    aside: Annotated[str, ""]
    plan: RestorePlan | None
    refusal: RefusalDocument | None


class TableRestoreJson(PlannedRestore):
    """`restore --json`; `job` is null without `--apply`."""

    job: RestoreJob | None


class RestoredTable(TableOutcome):
    """What became of one table; one that was left out of the plan is `refused`."""

    verified: Verified | None


class ManyRestoresJob(JobDocument):
    """The job that restored many tables, those that were left out among them."""

    outcomes: list[RestoredTable]


class TablesRestoreJson(TypedDict):
    """`restore --plan PLAN [PATTERN] --json`. `tables` is the pattern, "" for all of the plan; `at` is null where each
    table is restored in the version of its newest point; `job` is null without `--apply`."""

    backup: Annotated[str, "nightly"]
    tables: Annotated[str, "s3a://lake/sales/*"]
    at: datetime | None
    kind: Annotated[str, "full | instant"]
    restores: list[PlannedRestore]
    plan: RestorePlan | None
    refusal: RefusalDocument | None
    job: ManyRestoresJob | None
