"""Acts as plans: which statements are sent, on which conditions and permissions, and what makes it another plan."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from changes.calls import Call, LakeCall, Result, Sending
from changes.execution import make
from changes.plan import ChangePlan, Refusal
from coordinator.coordination.checks import Check, CheckState, CoordinationRequest, Operation, Preflight
from coordinator.coordination.preflight import plan_act, preflight
from coordinator.coordination.situation import Situation
from coordinator.coordination.spark_calls import (
    AppendNothing,
    CreateTable,
    DropCommits,
    EnableCommits,
    FinishDrop,
    RemoveLeftover,
)
from lake.delta.facts import LockDomain
from lake.spark.errors import SparkRefused
from lake.spark.messages import SparkError, SparkJob, SparkOutcome
from tests.builders.facts import URI, listing, table_facts
from tests.coordinator.coordination.situations import ENDPOINT, coordinated, situation

ENABLE, DROP, CREATE, LEFTOVERS = Operation.ENABLE, Operation.DROP, Operation.CREATE, Operation.LEFTOVERS
SQL_PATH = f"delta.`{URI}`"
BUCKET = "arn:aws:s3:::lake/*"


def good(name: str) -> Check:
    return Check(name, CheckState.OK, "Good.")


def checked(operation: Operation, *checks: Check, version: int | None = 3) -> Preflight:
    return Preflight(operation, URI, URI, checks or (good("Path"),), "commits", ENDPOINT, version)


def planned(operation: Operation, of: Situation | None = None, checks: Preflight | None = None, **change: Any) -> Any:
    asked = CoordinationRequest(operation, URI, store="commits", **change)
    return plan_act(replace(of or situation(operation), change=asked), checks or checked(operation))


def half_dropped() -> Situation:
    facts = coordinated(properties={"delta.appendOnly": "false"})
    return situation(DROP, replace(facts, mechanism=table_facts().mechanism))


# What is sent


@pytest.mark.parametrize(
    ("operation", "change", "sql"),
    [
        (ENABLE, {}, [f"ALTER TABLE {SQL_PATH} SET TBLPROPERTIES ("]),
        (DROP, {}, [f"ALTER TABLE {SQL_PATH} DROP FEATURE 'coordinatedCommits-preview'"]),
        (
            DROP,
            {"remove_features": ("vacuumProtocolCheck",)},
            [
                f"ALTER TABLE {SQL_PATH} DROP FEATURE 'coordinatedCommits-preview'",
                f"ALTER TABLE {SQL_PATH} DROP FEATURE 'vacuumProtocolCheck'",
            ],
        ),
        (
            LEFTOVERS,
            {"remove_features": ("inCommitTimestamp",)},
            [f"ALTER TABLE {SQL_PATH} DROP FEATURE 'inCommitTimestamp'"],
        ),
        (
            CREATE,
            {"columns": "id BIGINT", "partition_by": ("day",)},
            [f"CREATE TABLE {SQL_PATH} (id BIGINT) USING delta PARTITIONED BY (`day`) TBLPROPERTIES ("],
        ),
    ],
)
def test_each_statement_is_one_call_that_says_its_sql(operation: Operation, change: Any, sql: list[str]) -> None:
    calls = planned(operation, **change).calls

    assert len(calls) == len(sql)
    assert all(call.request.startswith(text) for call, text in zip(calls, sql, strict=True))


def test_the_statement_names_the_store_and_where_it_answers() -> None:
    [call] = planned(ENABLE).calls

    assert '"dynamoDBTableName":"commits"' in call.request
    assert f'"dynamoDBEndpoint":"{ENDPOINT}"' in call.request
    assert call.job.params == {"table": URI, "store": "commits", "endpoint": ENDPOINT}


def test_a_half_made_drop_is_finished_by_the_second_commit_alone() -> None:
    [whole], [finishing] = planned(DROP, situation(DROP, coordinated())).calls, planned(DROP, half_dropped()).calls

    assert [call.job.params["finishing"] for call in (whole, finishing)] == [False, True]


def test_checks_that_fail_refuse_it_with_their_sentences() -> None:
    made = planned(ENABLE, checks=preflight(situation(ENABLE, busy="Job 7")))

    assert isinstance(made, Refusal)
    assert "Job 7" in made.reason


def test_only_a_drop_cannot_be_taken_back() -> None:
    dangers = {one: planned(one, remove_features=("inCommitTimestamp",)).danger for one in Operation}

    assert {one for one, danger in dangers.items() if danger} == {DROP}
    assert "there is no undo" in dangers[DROP]


# What goes ahead


@dataclass(frozen=True)
class Publishing(LakeCall):
    """A call of a repair, told apart by its version."""

    operation: ClassVar[str] = "s3:PutObject"
    version: int

    @property
    def says(self) -> str:
        return f"Publishes {self.version}."


def waiting(*versions: int) -> Situation:
    plans = tuple(ChangePlan("backfill", URI, "Backfill", (Publishing(one),), version=one) for one in versions)
    return replace(situation(DROP, coordinated()), plans=plans)


def test_what_waits_is_published_before_a_drop_in_its_order() -> None:
    plan = planned(DROP, waiting(5, 4))

    assert [call.says for call in plan.calls[:2]] == ["Publishes 4.", "Publishes 5."]
    assert (plan.ahead, len(plan.calls)) == (2, 3)


def test_what_waits_is_left_alone_by_any_other_act() -> None:
    assert planned(ENABLE, waiting(4)).ahead == 0


# What makes it another plan


def test_versions_and_what_waits_may_move_on() -> None:
    plan = planned(DROP, waiting(4))

    assert plan.digest == planned(DROP, waiting(4, 5)).digest
    assert plan.digest == planned(DROP, waiting(4), checked(DROP, version=9)).digest
    enabled = plan_of(situation(ENABLE))
    assert enabled.digest == plan_of(situation(ENABLE, table_facts(listing(range(9))))).digest


def plan_of(given: Situation) -> ChangePlan:
    made = planned(given.operation, given, preflight(given))
    assert isinstance(made, ChangePlan), made
    return made


OTHERS: dict[str, Callable[[], ChangePlan]] = {
    "store": lambda: planned(DROP, None, replace(checked(DROP), store="others")),
    "endpoint": lambda: planned(DROP, None, replace(checked(DROP), endpoint="https://elsewhere")),
    "location": lambda: planned(DROP, None, replace(checked(DROP), location="s3://lake/orders")),
    "a check": lambda: planned(DROP, None, checked(DROP, replace(good("Path"), state=CheckState.WARNING))),
    "another check": lambda: planned(DROP, None, checked(DROP, good("Path"), good("Writers"))),
    "a feature": lambda: planned(DROP, remove_features=("vacuumProtocolCheck",)),
    "half of it is done": lambda: planned(DROP, half_dropped()),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_store_place_outcome_or_statement_is_another_plan(other: str) -> None:
    assert OTHERS[other]().digest != planned(DROP).digest


# What a statement needs


CALLS: list[tuple[Call, set[str]]] = [
    (
        EnableCommits(location=URI, store="commits", endpoint=ENDPOINT, log_store="delta_log"),
        {"PutItem on {}/commits", "PutItem on {}/delta_log"},
    ),
    (DropCommits(location=URI, store="commits"), {"UpdateItem on {}/commits"}),
    (FinishDrop(location=URI, store="commits"), set()),
    (CreateTable(location=URI, store="commits", endpoint=ENDPOINT, columns="id INT"), {"PutItem on {}/commits"}),
    (RemoveLeftover(location=URI, feature="inCommitTimestamp"), set()),
    (AppendNothing(location=URI, store="commits"), {"UpdateItem on {}/commits"}),
]


@pytest.mark.parametrize(("call", "of_items"), CALLS)
def test_a_statement_names_the_permissions_that_it_needs(call: Call, of_items: set[str]) -> None:
    needed = {f"dynamodb:{one.format('arn:aws:dynamodb:*:*:table')}" for one in of_items}

    assert call.says
    assert {str(one) for one in call.permissions} == {f"s3:PutObject on {BUCKET}", *needed}


# Sending it


class Answering:
    """A Spark that answers once."""

    def __init__(self, answer: SparkOutcome | Exception) -> None:
        self.answer = answer
        self.asked: list[SparkJob] = []

    def run(self, job: SparkJob) -> SparkOutcome:
        self.asked.append(job)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def outcome(state: Any, error: SparkError | None = None, *, began: bool = True) -> SparkOutcome:
    return SparkOutcome(state, began, {}, error, (), 1.0)


REFUSED = SparkError("DeltaException", "DELTA_METADATA_CHANGED", "Another writer was faster.")


@pytest.mark.parametrize(
    ("answer", "result", "sentence", "code"),
    [
        (outcome("done"), Result.DONE, "Spark came to its end.", ""),
        (outcome("failed", REFUSED), Result.FAILED, REFUSED.sentence, REFUSED.condition),
        (outcome("lost"), Result.FAILED, "Spark's job ended as lost.", "lost"),
        (outcome("failed", REFUSED, began=False), Result.STOPPED, REFUSED.sentence, REFUSED.condition),
        (SparkRefused("No jar."), Result.STOPPED, "No jar.", "Refused"),
    ],
)
def test_how_spark_ends_is_how_the_call_ends(answer: Any, result: Result, sentence: str, code: str) -> None:
    port = Answering(answer)
    lake: Any = None

    made = make(AppendNothing(location=URI), Sending(lake, spark=port))

    assert (made.result, made.sentence, made.code) == (result, sentence, code)
    assert [job.kind for job in port.asked] == ["append_probe"]


def test_without_spark_nothing_is_done() -> None:
    lake: Any = None

    made = make(AppendNothing(location=URI), Sending(lake))

    assert (made.result, made.wrote) == (Result.STOPPED, False)
    assert "Spark is out of reach" in made.sentence


def test_a_table_of_a_log_store_is_committed_to_through_it() -> None:
    given = replace(situation(ENABLE), log_store="delta_log", lock_domains=(LockDomain("delta_log", URI),))

    [call] = planned(ENABLE, given).calls

    assert call.log_store == "delta_log"
