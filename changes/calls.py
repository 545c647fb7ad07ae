"""One request, or a few that belong together, by which Levee changes the lake: what it says, and how it is sent.

Each kind of call is one class. A page, a command, an audit entry and an IAM policy all say what the class says, so that
what is shown is what is sent.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lake.aws.errors import AwsError

if TYPE_CHECKING:
    from lake.aws.access import Lake
    from lake.aws.dynamodb import ItemWrite
    from lake.aws.s3 import ObjectWrite
    from lake.spark.messages import SparkJob, SparkOutcome


class Permission(NamedTuple):
    """An IAM action and the ARN that it is needed on."""

    action: str
    resource: str

    def __str__(self) -> str:
        return f"{self.action} on {self.resource}"


class Result(StrEnum):
    """How a call ended. Only after DONE and ALREADY does a plan go on.

    ALREADY: what it would do had been done. STOPPED: a fact that the plan rests on no longer holds. FAILED: AWS gave no
    good answer, so that a write may or may not have happened, or what was read back is not what was written.
    """

    DONE = "done"
    ALREADY = "already"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended, and what to say of it. `code` is a short word for why it did not come to its end.

    `counts` are what it counted, such as files deleted, for calls that do more than one thing.
    """

    result: Result
    sentence: str
    code: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


class Stop(Exception):
    """A fact that the plan rests on does not hold; the text is the sentence that says which."""

    def __init__(self, sentence: str, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code


class Records(Protocol):
    """Levee's own records, for the calls that change them and not the lake."""

    def list_store(self, name: str, kind: str) -> Answer:
        """Add a DynamoDB table to the commit stores that Levee knows; an entry that is there already stays."""

    def begin_ttl_migration(self, store: str, attribute: str) -> Answer:
        """Record that TTL of a log store is to move to expireTime."""

    def abandon(self, uri: str, commits: tuple[tuple[int, str], ...]) -> Answer:
        """Give up what was accepted as these versions of a table with these files; "" is a file that nobody named."""


class Spark(Protocol):
    """The warm Spark, for the calls that it carries out."""

    def run(self, job: "SparkJob") -> "SparkOutcome":
        """Have it done; its trouble is part of the outcome, or raised as Stop. Raises SparkRefused, AwsError before
        Spark is asked."""


def _nothing(*_: object) -> None:
    """What nobody asked to hear of."""


@dataclass(frozen=True, slots=True)
class Sending:
    """The lake during one call: `now` gives epoch seconds, `request_ids` collects those of its writes.

    `pause` waits about two seconds between two looks at what takes effect by and by; what it and `check_cancelled`
    raise goes through; `progress` is told how much of a long call is done. `remember` is given what was before and what
    will be, for the audit log. `records` are None where no call of the plan changes them, `spark` where none is
    to be asked. `taken` holds the ids of the writes that AWS took.
    """

    lake: "Lake"
    now: Callable[[], float] = time.time
    pause: Callable[[], None] = _nothing
    check_cancelled: Callable[[], None] = _nothing
    progress: Callable[[int, int], None] = _nothing
    remember: Callable[[Mapping[str, object], Mapping[str, object]], None] = _nothing
    records: Records | None = None
    spark: Spark | None = None
    request_ids: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)

    def anew(self) -> "Sending":
        """The same for the next call, with nothing collected."""
        return replace(self, request_ids=[], taken=[])

    def write(self, send: "Callable[[], ObjectWrite | ItemWrite]") -> bool:
        """Whether the write was made; False where its condition refused it. Raises AwsError for all else."""
        try:
            request_id = send().request_id
        except AwsError as error:
            if not error.is_condition_failed:
                raise
            self.note(error.request_id)
            return False
        self.took(request_id)
        return True

    def own_records(self) -> Records:
        """Raises Stop where nobody gave any: such a call belongs to a job."""
        if self.records is None:
            raise Stop("Levee's own records are out of reach here: nothing was done.")
        return self.records

    def own_spark(self) -> Spark:
        """Raises Stop where nobody gave any: such a call belongs to a job of the queue spark."""
        if self.spark is None:
            raise Stop("Spark is out of reach here: nothing was done.")
        return self.spark

    def took(self, request_id: str) -> None:
        """AWS took a write."""
        self.note(request_id)
        self.taken.append(request_id)

    def note(self, request_id: str) -> None:
        if request_id:
            self.request_ids.append(request_id)


class LakeCall:
    """One kind of request. Its fields are all that it needs, so that two equal calls send the same.

    `operation` names the AWS operations, `says` what it does and `condition` on which facts, as sentences; `request` is
    the body where a person may want to read it. "" stands for none.
    """

    __slots__ = ()

    @property
    def operation(self) -> str:
        raise NotImplementedError

    @property
    def says(self) -> str:
        raise NotImplementedError

    @property
    def condition(self) -> str:
        return ""

    @property
    def request(self) -> str:
        return ""

    @property
    def permissions(self) -> tuple[Permission, ...]:
        return ()

    @property
    def rescue_folder(self) -> str:
        """The name of the folder that it keeps a copy in, "" where it keeps none."""
        return ""

    def send(self, sending: Sending) -> Answer:
        """Make it; whoever sends it twice finds what it did as ALREADY. Raises Stop, AwsError."""
        raise NotImplementedError

    def saving_under(self, folder: str) -> "LakeCall":
        """The same with its copies in a rescue folder of another name; itself where it keeps none."""
        return self


Call = LakeCall


def done(sentence: str) -> Answer:
    return Answer(Result.DONE, sentence)


def already(sentence: str) -> Answer:
    return Answer(Result.ALREADY, sentence)


def objects_of(bucket: str) -> str:
    """The ARN of every object of a bucket."""
    return f"{bucket_arn(bucket)}/*"


def bucket_arn(name: str) -> str:
    return f"arn:aws:s3:::{name}"


def table_arn(name: str) -> str:
    """The ARN of a DynamoDB table, wherever it lies."""
    return f"arn:aws:dynamodb:*:*:table/{name}"
