"""The statements that Spark is given, each as one call: its SQL, what it does, and the permissions that Delta needs.

None is sent twice by Levee itself: whoever asks again is told by the checks what is done already.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from changes.calls import Answer, Call, LakeCall, Permission, Result, Sending, Stop, done, objects_of, table_arn
from coordinator.coordination.checks import CoordinationRequest, Operation, Preflight
from coordinator.coordination.features import COORDINATED
from lake.delta.uri import TableUri
from lake.spark.errors import SparkRefused
from lake.spark.jobs import (
    append_probe,
    create_table,
    drop_coordinated_commits,
    enable_coordinated_commits,
    remove_leftover_feature,
)
from lake.spark.jobs.parameters import coordinator_properties
from lake.spark.messages import SparkJob, SparkOutcome
from lake.spark.sql import delta_path, property_list, quote_name, quote_text


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkCall(LakeCall, ABC):
    """One statement of Spark.

    `location` is the table as its writers spell it, `log_store` the DynamoDB table of the log store that plain commits
    go through, `store` that of the coordinator; "" for none. `on_coordinator` is what Delta writes to it by, `words`
    what the statement does, with `call` for itself.
    """

    location: str
    log_store: str = ""
    store: str = ""
    words: ClassVar[str]
    on_coordinator: ClassVar[str] = ""

    @property
    def says(self) -> str:
        return self.words.format(call=self)

    @property
    @abstractmethod
    def job(self) -> SparkJob:
        """What Spark is given; SparkRefused where it cannot be."""

    @property
    def permissions(self) -> tuple[Permission, ...]:
        named = (("dynamodb:PutItem", self.log_store), (self.on_coordinator, self.store))
        items = (Permission(action, table_arn(table)) for action, table in named if action and table)
        return (Permission("s3:PutObject", objects_of(TableUri.parse(self.location).bucket)), *items)

    def send(self, sending: Sending) -> Answer:
        """Let Spark do it. STOPPED: Spark never began. FAILED: it ended in trouble, and may have committed or not."""
        try:
            return answer_of(sending.own_spark().run(self.job))
        except SparkRefused as error:
            raise Stop(str(error), "Refused") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class EnableCommits(SparkCall):
    """One commit that puts the table under the coordinator; Delta registers the table in `store` before it."""

    endpoint: str
    words: ClassVar[str] = "Puts the table under coordinator {call.store}, in one commit."
    operation: ClassVar[str] = "ALTER TABLE SET TBLPROPERTIES"
    condition: ClassVar[str] = "no other commit is faster; it is tried once"
    on_coordinator: ClassVar[str] = "dynamodb:PutItem"

    @property
    def request(self) -> str:
        return f"ALTER TABLE {delta_path(self.location)} SET TBLPROPERTIES {_properties(self.store, self.endpoint)}"

    @property
    def job(self) -> SparkJob:
        return enable_coordinated_commits.job(self.location, self.store, self.endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropCommits(SparkCall):
    """Two commits that take the table from its coordinator."""

    words: ClassVar[str] = "Takes the table from coordinator {call.store}, in two commits."
    operation: ClassVar[str] = "ALTER TABLE DROP FEATURE"
    condition: ClassVar[str] = "the coordinator takes the first."
    on_coordinator: ClassVar[str] = "dynamodb:UpdateItem"

    @property
    def request(self) -> str:
        return _drop(self.location, COORDINATED)

    @property
    def job(self) -> SparkJob:
        return drop_coordinated_commits.job(self.location)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishDrop(DropCommits):
    """The second commit of a drop that was cut short."""

    words: ClassVar[str] = "Finishes the drop, in one commit."
    condition: ClassVar[str] = "an earlier drop has made the first commit."
    on_coordinator: ClassVar[str] = ""

    @property
    def job(self) -> SparkJob:
        return drop_coordinated_commits.job(self.location, finishing=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(SparkCall):
    """Commit 0 of an empty table, which names its registration in `store`."""

    endpoint: str
    columns: str
    partition_by: tuple[str, ...] = ()
    words: ClassVar[str] = "Creates the empty table, under coordinator {call.store} from its first commit."
    operation: ClassVar[str] = "CREATE TABLE"
    condition: ClassVar[str] = "Spark's parser understands the columns."
    on_coordinator: ClassVar[str] = "dynamodb:PutItem"

    @property
    def request(self) -> str:
        names = ", ".join(quote_name(name) for name in self.partition_by)
        made = f"CREATE TABLE {delta_path(self.location)} ({self.columns}) USING delta"
        partitioned = f" PARTITIONED BY ({names})" if names else ""
        return f"{made}{partitioned} TBLPROPERTIES {_properties(self.store, self.endpoint)}"

    @property
    def job(self) -> SparkJob:
        coordinator = {"store": self.store, "endpoint": self.endpoint}
        return create_table.job(self.location, self.columns, partition_by=self.partition_by, **coordinator)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveLeftover(SparkCall):
    """Remove a feature that coordinated commits brought along; `after_drop`: the drop stands even if Delta refuses."""

    feature: str
    after_drop: bool = False
    words: ClassVar[str] = "Removes {call.feature} from the protocol."
    operation: ClassVar[str] = "ALTER TABLE DROP FEATURE"

    @property
    def condition(self) -> str:
        return "Delta lets it go; the drop is complete without it." if self.after_drop else "Delta lets it go."

    @property
    def request(self) -> str:
        return _drop(self.location, self.feature)

    @property
    def job(self) -> SparkJob:
        return remove_leftover_feature.job(self.location, self.feature)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendNothing(SparkCall):
    """An append of no rows, which proves that the table takes commits."""

    operation: ClassVar[str] = "DataFrameWriterV2.append"
    words: ClassVar[str] = "Appends no rows, which takes one version."
    on_coordinator: ClassVar[str] = "dynamodb:UpdateItem"

    @property
    def job(self) -> SparkJob:
        return append_probe.job(self.location)


def spark_calls(
    change: CoordinationRequest, checked: Preflight, *, log_store: str = "", finishing: bool = False
) -> tuple[Call, ...]:
    """The statements of one act, in their order; `finishing` where an earlier drop made its first commit."""
    located = {"location": checked.location, "log_store": log_store}
    coordinator = {"store": checked.store, "endpoint": checked.endpoint}
    is_drop = change.operation is Operation.DROP
    leftovers = (RemoveLeftover(**located, feature=one, after_drop=is_drop) for one in change.remove_features)
    match change.operation:
        case Operation.ENABLE:
            return (EnableCommits(**located, **coordinator),)
        case Operation.CREATE:
            return (CreateTable(**located, **coordinator, columns=change.columns, partition_by=change.partition_by),)
        case Operation.DROP:
            return ((FinishDrop if finishing else DropCommits)(**located, store=checked.store), *leftovers)
        case Operation.LEFTOVERS:
            return tuple(leftovers)


def steps_of(calls: Iterable[Call]) -> tuple[str, ...]:
    """What Spark reports of these statements, in their order; () where it cannot be given them."""
    try:
        return tuple(step for call in calls if isinstance(call, SparkCall) for step in call.job.steps)
    except SparkRefused:
        return ()


def statement_of(calls: Iterable[Call]) -> str:
    """Each statement, for a person to read or run elsewhere; "" for a path or a name that SQL cannot hold."""
    try:
        return ";\n".join(call.request for call in calls)
    except (SparkRefused, ValueError):
        return ""


def _properties(store: str, endpoint: str) -> str:
    return property_list(coordinator_properties(store, endpoint))


def _drop(location: str, feature: str) -> str:
    return f"ALTER TABLE {delta_path(location)} DROP FEATURE {quote_text(feature)}"


def answer_of(outcome: SparkOutcome) -> Answer:
    """How a call ends by what became of its job."""
    if outcome.state == "done":
        return done("Spark came to its end.")
    told = outcome.error
    sentence = told.sentence if told else f"Spark's job ended as {outcome.state}."
    code = (told.condition or told.type) if told else outcome.state
    return Answer(Result.FAILED if outcome.began else Result.STOPPED, sentence, code)
