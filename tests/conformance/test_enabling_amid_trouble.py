"""Spark is killed, others commit, DynamoDB refuses: the page says what is so, and what it offers finishes or undoes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from coordinator.coordination.checks import Operation
from coordinator.models import TableFinding
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job, JobState
from sandbox.ground import DELTA_COMMITS
from tests.conformance.between import Answer, Between, Body, Moment
from tests.conformance.console import Console, SparkOfLevee
from tests.conformance.coordinated import Coordinated
from tests.conformance.elsewhere import elsewhere
from tests.conformance.test_enable_and_drop import DROP, ENABLE, LEFT, plain, shows, succeeded, works

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]

COORDINATED, ALONE = "coordinated_commits", "single_driver"
CONVERSION, READ_BACK = "Make the conversion commit", "Read the table's properties"
FIRST, LEFT_BEHIND = "First commit, through the coordinator", "Read what stays behind"
HALF = ("Finish the drop", "Enable again")
THROTTLED = "ProvisionedThroughputExceededException"


def leaves(body: Body) -> bool:
    """Whether an update closes the registration, which is the first commit of a drop."""
    return body["AttributeUpdates"].get("acceptingCommits", {}).get("Value", {}).get("BOOL") is False


def clears(body: Body) -> bool:
    """Whether an update says that all is backfilled."""
    return body["AttributeUpdates"].get("commits", {}).get("Value", {}).get("L") == []


@dataclass(frozen=True)
class Cut:
    """Where Spark is killed, and what is so afterwards: `commits` made, of which `unpublished` are not backfilled.

    `says` is part of the job's sentence, `finish` the act that the page then offers, first among `offers`. With
    `java_alone` the JVM is killed and not the Python that holds it.
    """

    name: str
    operation: Operation
    step: str
    moment: Moment | None
    commits: int
    mechanism: str
    offers: tuple[str, ...]
    says: str
    finish: Operation
    finish_commits: int
    unpublished: int = 0
    codes: tuple[str, ...] = ()
    java_alone: bool = False


def lost_before(operation: str, fits: Callable[[Body], bool] = lambda body: True) -> Moment:
    return Moment(operation, fits, is_passed_on=False, is_answered=False)


def lost_after(operation: str, fits: Callable[[Body], bool] = lambda body: True) -> Moment:
    return Moment(operation, fits, is_answered=False)


ON, OFF = Operation.ENABLE, Operation.DROP
CUTS = (
    Cut("before-registration", ON, CONVERSION, lost_before("PutItem"), 0, ALONE, ENABLE, "Enable it again", ON, 1),
    Cut(
        "between-registration-and-commit",
        ON,
        CONVERSION,
        lost_after("PutItem"),
        commits=0,
        mechanism=ALONE,
        offers=ENABLE,
        says="it is not coordinated. Enable it again to finish",
        finish=ON,
        finish_commits=1,
        codes=("K0",),
        java_alone=True,
    ),
    Cut("between-commit-and-proof", ON, READ_BACK, None, 1, COORDINATED, DROP, "Drop it to undo", OFF, 2),
    Cut(
        "before-the-first-commit-of-a-drop",
        OFF,
        FIRST,
        lost_before("UpdateItem", leaves),
        commits=0,
        mechanism=COORDINATED,
        offers=DROP,
        says="Nothing was dropped: drop it again to finish",
        finish=OFF,
        finish_commits=2,
        codes=("K2",),
    ),
    Cut(
        "accepted-and-not-published",
        OFF,
        FIRST,
        lost_after("UpdateItem", leaves),
        commits=1,
        unpublished=1,
        mechanism=ALONE,
        offers=HALF[:1],
        says="its protocol still names the feature. Backfill first, for commit",
        java_alone=True,
        finish=OFF,
        finish_commits=1,
        codes=("K3", "unguarded-commit"),
    ),
    Cut(
        "between-the-two-commits-of-a-drop",
        OFF,
        FIRST,
        lost_after("UpdateItem", clears),
        commits=1,
        mechanism=ALONE,
        offers=HALF,
        says="Drop once more to finish, or enable to undo",
        finish=ON,
        finish_commits=1,
    ),
    Cut("after-the-drop", OFF, LEFT_BEHIND, None, 2, ALONE, LEFT, "Enable it to undo", ON, 1),
)


def codes(table: Coordinated) -> set[str]:
    return {found.code for found in TableFinding.objects.filter(table__uri=table.uri, resolved_at=None)}


def failed(job: Job, code: str, step: str) -> Job:
    assert (job.state, job.error_code) == (JobState.FAILED, code), job.message
    ended = next(one for one in job.steps if one["name"] == step)
    assert ended["state"] == "failed"
    return job


def made_for(table: Coordinated, operation: Operation) -> None:
    if operation is Operation.ENABLE:
        plain(table)
    else:
        table.create()
        table.append(2)


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.name)
def test_a_killed_spark_leaves_what_the_page_says_and_what_it_offers_works(
    cut: Cut, table: Coordinated, console: Console, dynamodb: Between, spark_of_levee: SparkOfLevee
) -> None:
    made_for(table, cut.operation)
    kill = spark_of_levee.kill_java if cut.java_alone else spark_of_levee.kill
    if cut.moment is None:
        spark_of_levee.at_step[cut.step] = kill
    else:
        killing = {"before" if not cut.moment.is_passed_on else "after": kill}
        dynamodb.at(replace(cut.moment, **killing))
    job = failed(console.act(cut.operation, table.uri), "JVM_ENDED" if cut.java_alone else "WorkerEnded", cut.step)
    assert ("Java process was killed (signal 9)" in job.message) is cut.java_alone
    assert cut.says in job.message
    table.version += cut.commits
    shows(table, console, mechanism=cut.mechanism, offers=cut.offers, unpublished=cut.unpublished)
    assert set(cut.codes) <= codes(table)
    if "K0" in cut.codes:
        [left] = table.items()
        assert f"Registration {left['tableId']['S']} appeared in {DELTA_COMMITS} meanwhile" in job.message
    assert table.count() == table.rows
    succeeded(console.act(cut.finish, table.uri))
    table.version += cut.finish_commits
    works(table)


def test_spark_killed_as_it_starts_changes_nothing(
    table: Coordinated, console: Console, spark_of_levee: SparkOfLevee
) -> None:
    plain(table)
    spark_of_levee.kill()
    spark_of_levee.at_step["Start Java"] = spark_of_levee.kill
    job = console.enable(table.uri)
    assert job.state == JobState.FAILED
    assert job.message.startswith("Stopped before any change: The Spark worker ended while it started")
    console.observe(table.uri)
    shows(table, console, mechanism=ALONE, offers=ENABLE)
    works(table)


def test_of_two_enables_at_once_the_loser_says_so_and_takes_its_own_registration_away(
    table: Coordinated, console: Console, dynamodb: Between
) -> None:
    plain(table)
    dynamodb.at(Moment("PutItem", before=table.enable))
    job = failed(console.enable(table.uri), "DELTA_CONCURRENT_WRITE", CONVERSION)
    assert "it is under the coordinator" in job.message
    left = job.result["after"]["left"]
    assert (left["store"], left["removed"], len(left["table_ids"])) == (DELTA_COMMITS, True, 1)
    assert f"The registration {left['table_ids'][0]} was deleted." in job.message
    assert table.item()["tableId"]["S"] not in left["table_ids"]
    shows(table, console, mechanism=COORDINATED, offers=DROP)
    assert "K1" in codes(table)
    assert not {"K0", "K11"} & codes(table)
    works(table)


def test_an_enable_overtaken_by_a_commit_fails_whole_and_may_be_repeated(
    table: Coordinated, console: Console, dynamodb: Between
) -> None:
    plain(table)
    dynamodb.at(Moment("PutItem", after=table.append))
    job = failed(console.enable(table.uri), "DELTA_CONCURRENT_WRITE", CONVERSION)
    assert "it is not coordinated. Enable it again to finish" in job.message
    assert job.result["after"]["left"]["removed"] is True
    assert table.items() == []
    shows(table, console, mechanism=ALONE, offers=ENABLE)
    succeeded(console.enable(table.uri))
    table.version += 1
    works(table)


def test_a_store_that_stays_throttled_fails_the_act_and_leaves_the_table_as_it_was(
    table: Coordinated, console: Console, dynamodb: Between
) -> None:
    plain(table)
    dynamodb.at(Moment("PutItem", answer=Answer(THROTTLED), times=1000))
    job = failed(console.enable(table.uri), THROTTLED, CONVERSION)
    assert "it is not coordinated. Enable it again to finish" in job.message
    shows(table, console, mechanism=ALONE, offers=ENABLE)
    works(table)


def test_a_store_deleted_half_way_blocks_the_table_until_it_is_registered_again(
    table: Coordinated, console: Console, dynamodb: Between
) -> None:
    """Delta makes the DynamoDB table anew, with 5 read and 5 write units, and without the table's item."""
    plain(table)
    dynamodb.at(Moment("PutItem", after=lambda: table.client.dynamodb("DeleteTable", TableName=DELTA_COMMITS)))
    job = failed(console.enable(table.uri), "CommitCoordinatorGetCommitsFailedException", READ_BACK)
    assert job.message.startswith("The commit coordinator's DynamoDB table holds no item of this table.")
    assert "Reads, writes and DROP FEATURE all fail. Repair that first" in job.message
    table.version += 1
    shows(table, console, mechanism=COORDINATED, offers=DROP)
    assert "K8" in codes(table)
    assert "holds no item" in console.check(Operation.DROP, table.uri).message
    console.repair(table.uri, "re-register", "K8")
    works(table)


def test_a_bucket_in_another_region_is_said_and_spark_asks_there(
    table: Coordinated, console: Console, settings: Any
) -> None:
    """The last of these tests, as Spark has to be started anew for another region."""
    plain(table)
    with elsewhere(table.client.origin, "eu-north-1") as there:
        settings.ALLOWED_ENDPOINTS = [*settings.ALLOWED_ENDPOINTS, there.origin]
        Connection.objects.update(endpoint_url=there.origin)
        console.connection.refresh_from_db()
        enabled = succeeded(console.enable(table.uri, probe=True))
        checks = {one["name"]: one for one in enabled.result["preflight"]["checks"]}
        assert checks["Endpoint and region"]["state"] == "warning"
        assert "The bucket is in eu-north-1, the commit store in us-west-2" in checks["Endpoint and region"]["sentence"]
        assert there.of_spark == {"eu-north-1"}
        table.version += 2
        shows(table, console, mechanism=COORDINATED, offers=DROP)
    works(table)
