"""The JSON of coordination: what checks say, an act, the same on many tables, and a rehearsal.

What stands beside a type is the example of the documentation, which is written from here.
"""

from typing import Annotated, TypedDict

from changes.commands import JobDocument
from changes.documents import CallDocument
from coordinator.contract import Uri

Operation = Annotated[str, "enable | drop | create | leftovers"]


class CheckDocument(TypedDict):
    name: Annotated[str, "Commit store"]
    state: Annotated[str, "ok | warning | failed"]
    sentence: str


class LeftRegistrations(TypedDict):
    """What an act that failed has left, and whether it could be removed."""

    store: Annotated[str, "delta_commits"]
    table_ids: list[str]
    removed: bool


class CommitsJob(JobDocument):
    """The job of one act; `left` is null where no registration was left."""

    operation: Operation
    proofs: list[str]
    left: LeftRegistrations | None


class RehearsedProtocol(TypedDict):
    reader: Annotated[int, 3]
    writer: Annotated[int, 7]
    features: Annotated[list[str], ["coordinatedCommits-preview", "…"]]


class ShutOut(TypedDict):
    """An engine that can do less with the table afterwards."""

    engine: str
    versions: Annotated[str, "1.6.0, 1.6.1 and newer"]
    loses: Annotated[str, "reading | writing | reading and writing"]
    reason: str


class RehearsedStep(TypedDict):
    name: Annotated[str, "Make the conversion commit"]
    seconds: Annotated[float, 2.98]


class RehearsedCommit(TypedDict):
    version: Annotated[int, 1]
    operation: Annotated[str, "SET TBLPROPERTIES"]


class RehearsalDocument(TypedDict):
    """What an act did to a copy of the table's log. `before` is the table's own protocol, `after` the copy's, null
    where the act did not come to its end; `found` is what the copy consisted of, `not_removed` what stays of it.
    """

    scratch: Annotated[str, "s3a://lake/_levee_rehearsal/3f1c…/9a0b…"]
    before: RehearsedProtocol | None
    after: RehearsedProtocol | None
    differs: str
    shut_out: list[ShutOut]
    steps: list[RehearsedStep]
    seconds: Annotated[float, 14.2]
    commits: list[RehearsedCommit]
    refused: list[str]
    found: Annotated[str, "6 objects, 1 registration and 0 log store items"]
    is_removed: bool
    not_removed: Annotated[list[str], []]


class RehearsalJson(TypedDict):
    """`commits enable|drop --rehearse --json`; `rehearsal` is null where no copy was made, and while it is queued."""

    operation: Annotated[str, "enable | drop"]
    uri: Uri
    store: Annotated[str, "delta_commits"]
    job: JobDocument
    rehearsal: RehearsalDocument | None


class PreflightDocument(TypedDict):
    """What the checks of one act came to; `digest` is that of the plan that rests on them, "" where they refuse it."""

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


class CommitsJson(PreflightDocument):
    """`commits enable|drop|create|leftovers --json`; `job` is null without `--apply`."""

    calls: list[CallDocument]
    job: CommitsJob | None


class ManyCommitsOutcome(TypedDict):
    uri: Uri
    state: Annotated[str, "done | refused | failed"]
    sentence: str


class ManyCommitsJob(JobDocument):
    outcomes: list[ManyCommitsOutcome]


class SkippedTable(TypedDict):
    uri: Annotated[str, "s3a://lake/returns"]
    reason: Annotated[str, "Coordinated already."]


class ManyCommitsJson(TypedDict):
    """`commits enable|drop --all --json`; `job` is null without `--apply`."""

    operation: Annotated[str, "enable | drop"]
    store: Annotated[str, "delta_commits"]
    tables: list[Uri]
    skipped: list[SkippedTable]
    more_match: bool
    confirm: Annotated[str, "1 table"]
    job: ManyCommitsJob | None
