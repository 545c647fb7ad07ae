"""Every check of every act: what passes, what a person weighs, and what is refused before Spark is asked."""

from dataclasses import replace
from typing import Any

import pytest

from coordinator.coordination.checks import CheckState, Operation, Preflight, differing, preflight_document
from coordinator.coordination.preflight import preflight
from coordinator.coordination.situation import Situation, SparkFacts
from coordinator.coordination.verification import aftermath, proofs
from coordinator.protocols.absence import withhold
from lake.delta.facts import HeldElsewhere, LockDomain, Mechanism, TableFacts
from tests.builders.facts import (
    NOW,
    URI,
    entry,
    listing,
    log_store_facts,
    protocol,
    registration,
    table_facts,
    temp_name,
)
from tests.coordinator.coordination.situations import (
    FEATURES,
    conf,
    coordinated,
    description,
    log_store,
    situation,
    store,
)

ENABLE, DROP, CREATE, LEFTOVERS = Operation.ENABLE, Operation.DROP, Operation.CREATE, Operation.LEFTOVERS
ELSEWHERE = HeldElsewhere("prod-us", "us-east-1", LockDomain("delta_log", URI), 5, NOW)
WITH_CLASS = SparkFacts(has_log_store_class=True)


def refused(given: Situation) -> dict[str, str]:
    """Name and sentence of each check that fails."""
    return {check.name: check.sentence for check in preflight(given).failures}


def state(made: Preflight, name: str) -> CheckState:
    return next(check.state for check in made.checks if check.name == name)


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        (ENABLE, situation(ENABLE)),
        (ENABLE, situation(ENABLE, log_store(), spark=WITH_CLASS)),
        (DROP, situation(DROP, coordinated())),
        (CREATE, situation(CREATE, repair=None, columns="id BIGINT")),
    ],
)
def test_an_act_on_a_healthy_table_may_run(operation: Operation, given: Situation) -> None:
    made = preflight(given)

    assert made.may_run, made.refusal()
    assert all(check.sentence for check in made.checks)


@pytest.mark.parametrize("path", ["s3a://lake/a\nb", "s3a://lake/a\x85b", "s3a://lake/a\ud800b"])
def test_a_path_with_a_control_character_is_refused(path: str) -> None:
    assert "holds the control character" in refused(situation(CREATE, uri=path))["Path"]


def test_a_path_of_any_other_character_is_not_refused() -> None:
    assert "Path" not in refused(situation(ENABLE, uri='s3a://lake/it\'s "a" `b`;c é 雪%+=\\'))


@pytest.mark.parametrize("path", ["s3a://lake/a/../b", "s3a://lake/a//b"])
def test_a_path_that_hadoop_folds_is_refused(path: str) -> None:
    assert "takes for another place" in refused(situation(ENABLE, uri=path))["Path"]


REFUSALS: list[tuple[str, Situation, str, str]] = [
    ("unreadable", situation(ENABLE, repair=None, error="denied"), "Table readable", "denied"),
    ("no log", situation(ENABLE, table_facts(listing([]))), "Table readable", "no Delta log"),
    ("coordinated", situation(ENABLE, coordinated()), "Commits through", "already"),
    ("catalogue", situation(ENABLE, table_facts(mechanism=Mechanism.CATALOG_MANAGED)), "Commits through", "catalogue"),
    ("unknown", situation(ENABLE, table_facts(mechanism=Mechanism.UNKNOWN)), "Commits through", "cannot tell"),
    ("not coordinated", situation(DROP), "Commits through", "nothing to drop"),
    (
        "catalog feature",
        situation(ENABLE, table_facts(table_protocol=protocol(features=("catalogManaged",)))),
        "Protocol and features",
        "catalog-managed",
    ),
    (
        "unknown feature",
        situation(ENABLE, table_facts(table_protocol=protocol(features=("timeTravelSquared",)))),
        "Protocol and features",
        "does not know timeTravelSquared",
    ),
    ("no store", situation(ENABLE, store=None), "Commit store", "No commit store is chosen"),
    ("store name", situation(ENABLE, store=store(name="a'; DROP")), "Commit store", "no DynamoDB table's name"),
    ("kind", situation(ENABLE, store=store(kind="log_store")), "Commit store", "declared as a log store"),
    ("missing store", situation(ENABLE, store=store(error="not there")), "Commit store", "not there"),
    (
        "key",
        situation(ENABLE, store=store(description=description(key_schema=[["tablePath", "HASH", "S"]]))),
        "Commit store",
        "needs tableId alone",
    ),
    (
        "status",
        situation(ENABLE, store=store(description=description(status="CREATING"))),
        "Commit store",
        "is CREATING",
    ),
    (
        "region",
        situation(ENABLE, endpoint="https://dynamodb.us-west-2.amazonaws.com"),
        "Endpoint and region",
        "signs for us-west-2",
    ),
    (
        "endpoint",
        situation(DROP, coordinated(conf(dynamoDBEndpoint="http://169.254.169.254"))),
        "Endpoint and region",
        "is not AWS's",
    ),
    ("keys", situation(DROP, coordinated(conf(ttl=5))), "Coordinator settings", "'ttl'"),
    ("item", situation(DROP, coordinated(accepting=False)), "The item belongs to this table", "accepts no commits"),
    ("schema", situation(DROP, coordinated(schema_version=2)), "The item belongs to this table", "schemaVersion 2"),
    (
        "no item",
        situation(DROP, replace(coordinated(), registrations=())),
        "The item belongs to this table",
        "register it again",
    ),
    (
        "log store that is not known",
        situation(ENABLE, table_facts(listing(temp=[temp_name(3)]), mechanism=Mechanism.LOG_STORE), spark=WITH_CLASS),
        "Log store class",
        "no entry tells in which DynamoDB table",
    ),
    ("class", situation(ENABLE, log_store()), "Log store class", "io.delta:delta-storage-s3-dynamodb:4.4.0"),
    (
        "emulator",
        situation(ENABLE, log_store(), spark=WITH_CLASS, own_endpoint=True, endpoint="http://127.0.0.1:1"),
        "Log store class",
        "calls AWS only",
    ),
    (
        "domains",
        situation(ENABLE, log_store_facts(listing(), entry(3), entry(3, path="s3://lake/orders")), spark=WITH_CLASS),
        "Log store entries",
        "several log stores or spellings, which are not kept apart: s3://lake/orders in delta_log",
    ),
    (
        "stores",
        situation(ENABLE, log_store_facts(listing(), entry(3), in_stores={"eu": [entry(3)]}), spark=WITH_CLASS),
        "Log store entries",
        "s3a://lake/orders in delta_log, s3a://lake/orders in eu",
    ),
    (
        "elsewhere",
        situation(ENABLE, replace(table_facts(), elsewhere=(ELSEWHERE,))),
        "Log store entries",
        "delta_log in us-east-1, which connection prod-us reads",
    ),
    (
        "pending",
        situation(
            ENABLE,
            log_store_facts(listing(range(3)), *(entry(v) for v in range(3)), entry(3, complete=False)),
            spark=WITH_CLASS,
        ),
        "Log store entries",
        "not complete",
    ),
    ("gap", situation(ENABLE, table_facts(listing([0, 1, 3]))), "Nothing waits", "Repair it first."),
    ("spark", situation(ENABLE, spark=SparkFacts(problem="SPARK_MASTER is 'x'")), "Spark", "SPARK_MASTER"),
    ("busy", situation(ENABLE, busy="Job 7 (Repair)"), "Other jobs", "Job 7"),
    ("occupied", situation(CREATE, repair=None, columns="id INT", occupied="Objects lie"), "The place is free", "lie"),
    ("columns", situation(CREATE, repair=None), "Columns", "No column"),
    (
        "nothing left",
        situation(LEFTOVERS, remove_features=("vacuumProtocolCheck",)),
        "Protocol and features",
        "not name",
    ),
]


@pytest.mark.parametrize(("given", "name", "words"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS])
def test_what_must_not_be_done_is_refused_with_its_reason(given: Situation, name: str, words: str) -> None:
    assert words in refused(given)[name]


def test_a_drop_that_stopped_half_way_may_be_finished() -> None:
    facts = table_facts(table_protocol=protocol(features=FEATURES), registrations=[registration(3, accepting=False)])

    assert preflight(situation(DROP, facts)).may_run


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Readers that will break", "vacuumProtocolCheck"),
        ("Other writers", "Apache-Spark/4.2.0 Delta-Lake/4.4.0, 3 commits"),
        ("Future of the feature", "rejected Coordinated Commits"),
    ],
)
def test_what_a_person_has_to_weigh_is_said_before_enabling(name: str, words: str) -> None:
    made = preflight(situation(ENABLE))

    assert state(made, name) is CheckState.WARNING
    assert words in next(check.sentence for check in made.checks if check.name == name)


@pytest.mark.parametrize(("operation", "facts"), [(ENABLE, None), (DROP, coordinated())])
def test_a_bucket_in_another_region_is_to_be_weighed(operation: Operation, facts: TableFacts | None) -> None:
    made = preflight(situation(operation, facts, bucket_region="us-west-2"))

    assert made.may_run
    assert state(made, "Endpoint and region") is CheckState.WARNING
    said = next(check.sentence for check in made.checks if check.name == "Endpoint and region")
    assert said.startswith("The bucket is in us-west-2, the commit store in eu-west-1: ")
    assert (
        state(preflight(situation(operation, facts, bucket_region="eu-west-1")), "Endpoint and region") is CheckState.OK
    )


def test_the_path_is_spelled_as_the_tables_log_store_has_it() -> None:
    facts = log_store(path="s3://lake/orders")

    assert preflight(situation(ENABLE, facts, spark=WITH_CLASS)).location == "s3://lake/orders"


def test_a_check_that_comes_out_otherwise_differs_from_what_was_shown() -> None:
    shown: list[Any] = preflight_document(preflight(situation(ENABLE)))["checks"]
    fresh = preflight(situation(ENABLE, busy="Job 7"))

    assert [check.name for check in differing(shown, fresh)] == ["Other jobs"]
    assert differing(shown, preflight(situation(ENABLE))) == ()


def once(facts: TableFacts, operation: Operation) -> Situation:
    """A situation of which only one look was taken."""
    given = situation(operation, facts)
    assert given.repair is not None
    seen = replace(given.repair, verdict=withhold(given.repair.verdict, (), "The second look was refused."))
    return replace(given, repair=seen)


@pytest.mark.parametrize("operation", [Operation.ENABLE, Operation.LEFTOVERS])
def test_an_act_waits_for_what_is_being_checked(operation: Operation) -> None:
    reason = refused(once(table_facts(listing([0, 1, 3])), operation))["Nothing waits"]

    assert "that is being checked" in reason
    assert reason.endswith("Check again in a moment.")


GAP = table_facts(listing([0, 1, 3]))


@pytest.mark.parametrize(
    ("after", "says"),
    [(once(GAP, LEFTOVERS), "that is being checked"), (situation(LEFTOVERS, GAP), "Repair that first")],
)
def test_an_outcome_is_not_proven_where_the_table_is_not_whole(after: Situation, says: str) -> None:
    [check] = [one for one in proofs(preflight(after), after) if one.name == "Table"]

    assert check.state is CheckState.FAILED
    assert says in aftermath(after)


def unproven(after: Situation, version: int = 2) -> set[str]:
    """Names of what is not proven of an act that began at a version."""
    before = replace(preflight(situation(after.operation)), version=version)
    return {check.name for check in proofs(before, after) if check.state is CheckState.FAILED}


def test_an_enable_is_proven_by_protocol_metadata_item_and_version() -> None:
    assert unproven(situation(ENABLE, coordinated())) == set()
    assert unproven(situation(ENABLE, coordinated()), version=3) == {"Versions"}
    assert "Metadata" in unproven(situation(ENABLE, coordinated(conf(dynamoDBTableName="others"))))
    assert "Registration" in unproven(situation(ENABLE, coordinated(accepting=False)))
    assert {"Protocol", "Metadata", "Registration"} <= unproven(situation(ENABLE))


def test_a_drop_is_proven_by_what_is_gone_and_an_item_that_accepts_no_more() -> None:
    closed, still = (table_facts(registrations=[registration(3, accepting=one)]) for one in (False, True))

    assert unproven(situation(DROP, closed)) == set()
    assert "Item" in unproven(situation(DROP, still))
    assert {"Properties", "Protocol", "Item"} <= unproven(situation(DROP, coordinated()))
