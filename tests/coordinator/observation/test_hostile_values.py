"""Nothing that a lake says can keep the other tables of its chunk from being stored."""

import json

import pytest
from django.db import DatabaseError

from coordinator.models import Commit, CommitStore, DeltaTable, Entry, TableFinding, Watch
from coordinator.observation import saving
from tests.builders.delta import UUID, commit_bytes, commit_info, metadata, protocol, registration_item

pytestmark = pytest.mark.postgres("JSON")

NUL = "\0"
LONG = "x" * 5_000


def info(**words):
    return {"commitInfo": {"operation": "WRITE", "engineInfo": "Spark", **words}}


def state(**words):
    """A metaData action with parts replaced."""
    return {"metaData": metadata()["metaData"] | words}


def stored(name: str) -> DeltaTable:
    return DeltaTable.objects.get(name=name)


@pytest.fixture
def neighbour(written):
    """A healthy table in the same chunk."""
    written.table("sales/neighbour", log_store=True)


def check_neighbour() -> None:
    assert stored("sales.neighbour").state == "healthy"
    assert stored("sales.neighbour").entries.count() == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        info(operation=f"WR{NUL}ITE", engineInfo=f"Sp{NUL}ark"),
        info(operation=LONG, engineInfo=LONG),
        info(timestamp=2**80),
        info(timestamp=-(2**63)),
        info(inCommitTimestamp=2**62),
        info(timestamp="yesterday"),
    ],
)
def test_words_of_a_commit_are_stored_as_they_fit(written, observe, neighbour, words):
    written.table("sales/hostile", commits=2)
    written.commit("sales/hostile", 2, commit_bytes(words))

    assert observe().tables_failed == 0

    assert len(Commit.objects.get(table__name="sales.hostile", version=2).operation) <= 64
    check_neighbour()


@pytest.mark.slow
@pytest.mark.parametrize(
    "actions",
    [
        (metadata(properties={f"a{NUL}b": f"c{NUL}d", LONG: LONG}), protocol()),
        (metadata(), protocol(2**62, 2**62)),
        (metadata(), protocol(-7, -7)),
        (state(id=LONG, name=NUL + LONG), protocol()),
        (state(partitionColumns=[NUL, LONG]), protocol(3, 7, readerFeatures=[NUL], writerFeatures=[LONG])),
    ],
)
def test_protocol_and_properties_are_stored_as_they_fit(written, observe, neighbour, actions):
    written.commit("sales/hostile", 0, commit_bytes(commit_info(), *actions))

    assert observe().tables_failed == 0

    assert stored("sales.hostile").published_version == 0
    check_neighbour()


@pytest.mark.parametrize(
    "changes",
    [
        {"tempPath": {"S": f".tmp/{NUL}"}},
        {"tempPath": {"S": ".tmp/" + LONG}},
        {"expireTime": {"N": str(10**30)}},
        {"expireTime": {"N": "-1"}},
        {"commitTime": {"N": str(2**63)}},
        {"complete": {"S": NUL}},
        {"fileName": {"S": f"{2**63 - 1:020d}.json"}},
        {"fileName": {"S": f"{10**20 - 1}.json"}},
        {"fileName": {"S": f"zz{NUL}"}},
    ],
)
def test_an_entry_is_stored_as_it_fits(written, observe, neighbour, changes):
    written.table("sales/hostile", log_store=True)
    written.entry("sales/hostile", 2, **changes)

    assert observe().tables_failed == 0

    assert stored("sales.hostile").published_version == 2
    check_neighbour()


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"tableId": {"S": f"i{NUL}d"}},
        {"tableId": {"S": "i" * 2_000}},
        {"tableVersion": {"N": str(2**63 - 1)}},
        {"tableVersion": {"N": "1e5"}},
        {"tableTimestamp": {"N": str(2**63 - 1)}},
        {"commits": {"L": [{"S": NUL}]}},
        {"schemaVersion": {"S": NUL}},
    ],
)
def test_a_registration_is_stored_as_it_fits(written, observe, connection, neighbour, changes):
    coordinator = written.coordinator()
    CommitStore.objects.create(connection=connection, name=coordinator, kind="commit_coordinator")
    root = written.table("sales/hostile")
    item = registration_item(2, (2,), path={"S": root}, **changes)
    written.dynamodb.put_item(TableName=coordinator, Item=item)

    assert observe().tables_failed == 0

    assert len(stored("sales.hostile").registrations) == 1
    check_neighbour()


@pytest.mark.parametrize(
    "path",
    [
        f"s3a://lake/a{NUL}b",
        "s3a://" + "b" * 200 + "/t",
        "s3a://lake/" + "k" * 1_500,
        "file:///etc/passwd",
        "s3a://",
        "not a path at all",
        NUL,
    ],
)
def test_a_path_that_is_no_place_is_said_and_makes_no_row(written, observe, neighbour, path):
    written.dynamodb.put_item(
        TableName=written.log_store, Item={"tablePath": {"S": path}, "fileName": {"S": f"{0:020d}.json"}}
    )

    result = observe()

    assert any(written.log_store in problem for problem in result.problems)
    assert DeltaTable.objects.count() == 1
    check_neighbour()


def test_thousands_of_paths_that_are_no_places_are_said_in_few_sentences(written, observe):
    for number in range(60):
        written.dynamodb.put_item(
            TableName=written.log_store, Item={"tablePath": {"S": f"hdfs://{number}"}, "fileName": {"S": "x"}}
        )

    assert len(observe().problems) == 21


def test_names_in_the_log_that_no_protocol_has_are_taken_as_they_are(written, observe, neighbour):
    written.table("sales/hostile")
    for name in ("%00.json", "\u202e.json", "99999999999999999999.json", f"{2**63 - 1:020d}.json", ".tmp/\x01"):
        written.put(f"sales/hostile/_delta_log/{name}", b"{}")

    assert observe(in_full=True).tables_failed == 0
    check_neighbour()


def test_findings_keep_what_fits(written, observe):
    written.table("sales/hostile", log_store=True)
    written.entry("sales/hostile", 2, complete={"S": f"tr{NUL}ue"})

    observe()

    assert NUL not in json.dumps(list(TableFinding.objects.values_list("evidence", "summary")))


def test_two_long_lock_domains_stay_two(written, observe):
    root = written.uri("sales/orders")
    written.table("sales/orders", commits=1)
    for slashes in (1_200, 1_300):
        item = {
            "tablePath": {"S": root + "/" * slashes},
            "fileName": {"S": f"{0:020d}.json"},
            "tempPath": {"S": f".tmp/{0:020d}.json.{UUID}"},
            "complete": {"S": "true"},
        }
        written.dynamodb.put_item(TableName=written.log_store, Item=item)

    assert observe().tables_failed == 0

    assert Entry.objects.values("lock_domain").distinct().count() == 2


def test_a_table_that_cannot_be_stored_keeps_its_rows_and_says_so(written, observe, monkeypatch):
    written.table("sales/hostile", commits=2, log_store=True)
    written.table("sales/neighbour", log_store=True)
    observe()
    written.commit("sales/hostile", 2)
    written.commit("sales/neighbour", 3)
    save_commits = saving.save_commits

    def refuse(pairs):
        if any(table.name == "sales.hostile" for table, _ in pairs):
            raise DatabaseError("value out of range")
        save_commits(pairs)

    monkeypatch.setattr(saving, "save_commits", refuse)

    result = observe()

    assert (result.tables_changed, result.tables_failed) == (1, 1)
    hostile = stored("sales.hostile")
    assert (hostile.published_version, hostile.error_code) == (1, "InternalFailure")
    assert "value out of range" in hostile.error_text
    assert hostile.commits.count() == 2
    assert stored("sales.neighbour").published_version == 3


def test_a_fault_of_our_own_is_one_tables_trouble(written, observe, monkeypatch):
    from coordinator.observation import reading

    written.table("sales/hostile")
    written.table("sales/neighbour", log_store=True)
    diagnose = reading.diagnose

    def fail(facts):
        if facts.uri.endswith("hostile"):
            raise KeyError("failed")
        return diagnose(facts)

    monkeypatch.setattr(reading, "diagnose", fail)

    assert observe().tables_failed == 1

    assert stored("sales.hostile").error_code == "InternalFailure"
    assert "KeyError" in stored("sales.hostile").error_text
    check_neighbour()


def test_an_error_code_of_any_length_is_stored(stub, connection):
    from coordinator.observation.passes import observe_connection
    from tests.lake.aws.stub import Reply, quick

    stub.play(Reply(400, f"<Error><Code>{LONG}</Code><Message>&#0;{LONG}</Message></Error>".encode()))
    with quick(stub.url) as lake:
        observe_connection(connection, lake, threads=2)

    assert len(Watch.objects.get().error_code) == 128
