"""The statements that Spark is given, each as one call: its SQL, what it does, and the permissions that Delta needs.

None is sent twice by Levee itself: whoever asks again is told by the checks what is done already.
"""

from dataclasses import dataclass

from changes.calls import Answer, Call, LakeCall, Permission, Result, Sending, Stop, done, objects_of, table_arn
from coordinator.coordination.checks import Operation
from coordinator.coordination.features import COORDINATED
from coordinator.coordination.reading import CoordinationRequest
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
class SparkCall(LakeCall):
    """One statement of Spark.

    `location` is the table as its writers spell it, `log_store` the DynamoDB table of the log store that plain commits
    go through, `store` that of the coordinator; "" for none.
    """

    location: str
    log_store: str = ""
    store: str = ""

    @property
    def table(self) -> str:
        """The table quoted for SQL; ValueError for a location that SQL cannot hold."""
        return delta_path(self.location)

    @property
    def job(self) -> SparkJob:
        """What Spark is given; SparkRefused where it cannot be."""
        raise NotImplementedError

    @property
    def on_coordinator(self) -> str:
        """What Delta asks of the coordinator's DynamoDB table besides reading it; "" for nothing."""
        return ""

    @property
    def permissions(self) -> tuple[Permission, ...]:
        needed = [Permission("s3:PutObject", objects_of(TableUri.parse(self.location).bucket))]
        if self.log_store:
            needed.append(Permission("dynamodb:PutItem", table_arn(self.log_store)))
        if self.on_coordinator and self.store:
            needed.append(Permission(self.on_coordinator, table_arn(self.store)))
        return tuple(needed)

    def send(self, sending: Sending) -> Answer:
        """Let Spark do it. STOPPED: Spark never began. FAILED: it ended in trouble, and may have committed or not."""
        try:
            return _answer(sending.own_spark().run(self.job))
        except SparkRefused as error:
            raise Stop(str(error), "Refused") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class EnableCommits(SparkCall):
    """One commit that puts the table under the coordinator; Delta registers the table in `store` before it."""

    endpoint: str

    @property
    def operation(self) -> str:
        return "ALTER TABLE SET TBLPROPERTIES"

    @property
    def says(self) -> str:
        return f"Puts the table under coordinator {self.store}, in one commit."

    @property
    def condition(self) -> str:
        return "no other commit comes first, for it is not tried again."

    @property
    def request(self) -> str:
        return f"ALTER TABLE {self.table} SET TBLPROPERTIES {_properties(self.store, self.endpoint)}"

    @property
    def job(self) -> SparkJob:
        return enable_coordinated_commits.job(self.location, self.store, self.endpoint)

    @property
    def on_coordinator(self) -> str:
        return "dynamodb:PutItem"


@dataclass(frozen=True, slots=True, kw_only=True)
class DropCommits(SparkCall):
    """Two commits that take the table from its coordinator; `finishing` where an earlier drop made the first."""

    finishing: bool = False

    @property
    def operation(self) -> str:
        return "ALTER TABLE DROP FEATURE"

    @property
    def says(self) -> str:
        if self.finishing:
            return "Finishes the drop, in one commit."
        return f"Takes the table from coordinator {self.store}, in two commits."

    @property
    def condition(self) -> str:
        return "an earlier drop has made the first commit." if self.finishing else "the coordinator takes the first."

    @property
    def request(self) -> str:
        return _drop(self.table, COORDINATED)

    @property
    def job(self) -> SparkJob:
        return drop_coordinated_commits.job(self.location, finishing=self.finishing)

    @property
    def on_coordinator(self) -> str:
        return "" if self.finishing else "dynamodb:UpdateItem"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(SparkCall):
    """Commit 0 of an empty table, which names its registration in `store`."""

    endpoint: str
    columns: str
    partition_by: tuple[str, ...] = ()

    @property
    def operation(self) -> str:
        return "CREATE TABLE"

    @property
    def says(self) -> str:
        return f"Creates the empty table, under coordinator {self.store} from its first commit."

    @property
    def condition(self) -> str:
        return "Spark's parser understands the columns."

    @property
    def request(self) -> str:
        names = ", ".join(quote_name(name) for name in self.partition_by)
        partitioned = f" PARTITIONED BY ({names})" if names else ""
        properties = _properties(self.store, self.endpoint)
        return f"CREATE TABLE {self.table} ({self.columns}) USING delta{partitioned} TBLPROPERTIES {properties}"

    @property
    def job(self) -> SparkJob:
        return create_table.job(
            self.location, self.columns, partition_by=self.partition_by, store=self.store, endpoint=self.endpoint
        )

    @property
    def on_coordinator(self) -> str:
        return "dynamodb:PutItem"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveLeftover(SparkCall):
    """Remove a feature that coordinated commits brought along; `after_drop`: the drop stands even if Delta refuses."""

    feature: str
    after_drop: bool = False

    @property
    def operation(self) -> str:
        return "ALTER TABLE DROP FEATURE"

    @property
    def says(self) -> str:
        return f"Removes {self.feature} from the protocol."

    @property
    def condition(self) -> str:
        return "Delta lets it go; the drop is complete without it." if self.after_drop else "Delta lets it go."

    @property
    def request(self) -> str:
        return _drop(self.table, self.feature)

    @property
    def job(self) -> SparkJob:
        return remove_leftover_feature.job(self.location, self.feature)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendNothing(SparkCall):
    """An append of no rows, which proves that the table takes commits."""

    @property
    def operation(self) -> str:
        return "DataFrameWriterV2.append"

    @property
    def says(self) -> str:
        return "Appends no rows, which takes one version."

    @property
    def job(self) -> SparkJob:
        return append_probe.job(self.location)

    @property
    def on_coordinator(self) -> str:
        return "dynamodb:UpdateItem"


def spark_calls(
    change: CoordinationRequest,
    location: str,
    store: str,
    endpoint: str,
    *,
    log_store: str = "",
    finishing: bool = False,
) -> tuple[Call, ...]:
    """The statements of one act, in their order. `store` and `endpoint` are the coordinator's."""
    match change.operation:
        case Operation.ENABLE:
            return (EnableCommits(location=location, log_store=log_store, store=store, endpoint=endpoint),)
        case Operation.CREATE:
            made = CreateTable(
                location=location,
                store=store,
                endpoint=endpoint,
                columns=change.columns,
                partition_by=change.partition_by,
            )
            return (made,)
        case Operation.DROP:
            drop = DropCommits(location=location, log_store=log_store, store=store, finishing=finishing)
            return (drop, *_leftovers(change, location, log_store))
        case Operation.LEFTOVERS:
            return _leftovers(change, location, log_store)


def _leftovers(change: CoordinationRequest, location: str, log_store: str) -> tuple[RemoveLeftover, ...]:
    after = change.operation is Operation.DROP
    return tuple(
        RemoveLeftover(location=location, log_store=log_store, feature=feature, after_drop=after)
        for feature in change.remove_features
    )


def _properties(store: str, endpoint: str) -> str:
    return property_list(coordinator_properties(store, endpoint))


def _drop(table: str, feature: str) -> str:
    return f"ALTER TABLE {table} DROP FEATURE {quote_text(feature)}"


def _answer(outcome: SparkOutcome) -> Answer:
    if outcome.state == "done":
        return done("Spark came to its end.")
    told = outcome.error
    sentence = told.sentence if told else f"Spark's job ended as {outcome.state}."
    code = (told.condition or told.type) if told else outcome.state
    return Answer(Result.FAILED if outcome.began else Result.STOPPED, sentence, code)
