"""Nothing that a lake says can keep the other tables of its chunk from being stored."""

import json

import pytest
from django.db import DatabaseError

from coordinator.models import Commit, DeltaTable, TableFinding, Watch
from coordinator.observation import saving
from tests.builders.delta import commit_bytes, commit_info, metadata, protocol, registration_item

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


WORDS = [
    info(operation=f"WR{NUL}ITE", engineInfo=f"Sp{NUL}ark"),
    info(operation=LONG, engineInfo=LONG),
    info(timestamp=2**80),
    info(timestamp=-(2**63)),
    info(inCommitTimestamp=2**62),
    info(timestamp="yesterday"),
]
ACTIONS = [
    (metadata(properties={f"a{NUL}b": f"c{NUL}d", LONG: LONG}), protocol()),
    (metadata(), protocol(2**62, 2**62)),
    (metadata(), protocol(-7, -7)),
    (state(id=LONG, name=NUL + LONG), protocol()),
    (state(partitionColumns=[NUL, LONG]), protocol(3, 7, readerFeatures=[NUL], writerFeatures=[LONG])),
]
ENTRIES = [
    {"tempPath": {"S": f".tmp/{NUL}"}},
    {"tempPath": {"S": ".tmp/" + LONG}},
    {"expireTime": {"N": str(10**30)}},
    {"expireTime": {"N": "-1"}},
    {"commitTime": {"N": str(2**63)}},
    {"complete": {"S": NUL}},
    {"complete": {"S": f"tr{NUL}ue"}},
    {"fileName": {"S": f"{2**63 - 1:020d}.json"}},
    {"fileName": {"S": f"{10**20 - 1}.json"}},
    {"fileName": {"S": f"zz{NUL}"}},
]
REGISTRATIONS = [
    {"tableId": {"S": f"i{NUL}d"}},
    {"tableId": {"S": "i" * 2_000}},
    {"tableVersion": {"N": str(2**63 - 1)}},
    {"tableVersion": {"N": "1e5"}},
    {"tableTimestamp": {"N": str(2**63 - 1)}},
    {"commits": {"L": [{"S": NUL}]}},
    {"schemaVersion": {"S": NUL}},
]
NAMES = ("%00.json", "\u202e.json", "99999999999999999999.json", f"{2**63 - 1:020d}.json", ".tmp/\x01")


def test_whatever_log_and_items_say_is_stored_as_it_fits(written, observe, coordinator, neighbour):
    for number, words in enumerate(WORDS):
        written.table(f"words/{number}", commits=2)
        written.commit(f"words/{number}", 2, commit_bytes(words))
    for number, actions in enumerate(ACTIONS):
        written.commit(f"actions/{number}", 0, commit_bytes(commit_info(), *actions))
    for number, changes in enumerate(ENTRIES):
        written.table(f"entries/{number}", log_store=True)
        written.entry(f"entries/{number}", 2, **changes)
    for number, changes in enumerate(REGISTRATIONS):
        item = registration_item(2, (2,), path={"S": written.table(f"items/{number}")}, tableId={"S": str(number)})
        written.dynamodb.put_item(TableName=coordinator, Item=item | changes)
    written.table("names/0")
    for name in NAMES:
        written.put(f"names/0/_delta_log/{name}", b"{}")

    result = observe(in_full=True)

    assert (result.tables_failed, result.problems) == (0, ())
    found = dict(DeltaTable.objects.values_list("name", "published_version"))
    assert len(found) == 1 + len(WORDS) + len(ACTIONS) + len(ENTRIES) + len(REGISTRATIONS) + 1
    assert all(found[f"entries.{number}"] == 2 for number in range(len(ENTRIES)))
    assert all(found[f"actions.{number}"] == 0 for number in range(len(ACTIONS)))
    assert all(len(one.registrations) == 1 for one in DeltaTable.objects.filter(prefix__startswith="items/"))
    assert all(len(operation) <= 64 for operation in Commit.objects.values_list("operation", flat=True))
    assert json.dumps(NUL)[1:-1] not in json.dumps(list(TableFinding.objects.values_list("evidence", "summary")))
    check_neighbour()


PATHS = [
    f"s3a://lake/a{NUL}b",
    "s3a://" + "b" * 200 + "/t",
    "s3a://lake/" + "k" * 1_500,
    "file:///etc/passwd",
    "s3a://",
    "not a path at all",
    NUL,
]


def test_a_path_that_is_no_place_is_said_in_few_sentences_and_makes_no_row(written, observe, neighbour):
    for number, path in enumerate([*PATHS, *(f"hdfs://{number}" for number in range(20))], start=1):
        item = {"tablePath": {"S": path}, "fileName": {"S": f"{0:020d}.json"}}
        written.dynamodb.put_item(TableName=written.log_store, Item=item)
        if number == len(PATHS):
            assert len(observe().problems) == len(PATHS)

    result = observe()

    assert all(written.log_store in problem for problem in result.problems)
    assert len(result.problems) == 21
    assert DeltaTable.objects.count() == 1
    check_neighbour()


def test_a_table_that_cannot_be_stored_keeps_its_rows_and_says_so(written, observe, monkeypatch):
    written.table("sales/hostile", commits=2, log_store=True)
    written.table("sales/neighbour", log_store=True)
    observe()
    written.commit("sales/hostile", 2)
    written.commit("sales/neighbour", 3)
    save_commits = saving.save_commits

    def refuse(told):
        if any(table.name == "sales.hostile" for table, *_ in told):
            raise DatabaseError("value out of range")
        save_commits(told)

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
