"""What a test of a writer shows, from facts alone: one thing wrong at a time takes the good outcome away."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from coordinator.scratch import LeftObject, Leftovers, ScratchFolder, StoredEntry, StoresToAsk
from coordinator.writer_tests.cleaning import RemoveScratch
from coordinator.writer_tests.judging import ScratchCommit, WriterTestFacts, WriterTestState, judge
from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF, TABLE_CONF
from lake.delta.facts import LogStoreEntry, Registration
from lake.delta.names import commit_name
from lake.delta.uri import TableUri

AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
TOKEN = "0123456789abcdef" * 2
URI = TableUri("s3a", "lake", f"_levee_writer_test/{TOKEN}")
PATH = f"s3a://lake/_levee_writer_test/{TOKEN}"
AWS = "https://dynamodb.eu-west-1.amazonaws.com"
State = WriterTestState


def properties(store: str = "commits", endpoint: str = AWS, table_id: str = "t1") -> dict[str, str]:
    return {
        COORDINATOR: "dynamodb",
        COORDINATOR_CONF: json.dumps({"dynamoDBTableName": store, "dynamoDBEndpoint": endpoint}),
        TABLE_CONF: json.dumps({"tableId": table_id}),
    }


def commits(newest: int = 4) -> dict[int, ScratchCommit]:
    """Version 4 had to give way to 3: both had read 2."""
    read = {version: version - 1 for version in range(newest + 1)} | {4: 2}
    return {version: ScratchCommit(version, AT, read[version], True) for version in range(newest + 1)}


def entries(versions: range = range(5), store: str = "log", path: str = PATH) -> tuple[StoredEntry, ...]:
    return tuple(
        (store, LogStoreEntry(path, commit_name(one), one, f".tmp/{commit_name(one)}.x", True)) for one in versions
    )


REGISTRATION = Registration("t1", PATH, 4, 1, True, True, 1, (), (), "commits")
COORDINATED = WriterTestFacts(
    "commit_coordinator",
    "commits",
    URI,
    AWS,
    "eu-west-1",
    AT + timedelta(minutes=5),
    1,
    commits(),
    frozenset({1, 2, 3, 4}),
    (),
    (REGISTRATION,),
    properties(),
)
LOGGED = replace(
    COORDINATED,
    kind="log_store",
    store="log",
    staged=frozenset(),
    entries=entries(),
    registrations=(),
    properties={},
)


@pytest.mark.parametrize("facts", [COORDINATED, LOGGED], ids=["coordinator", "log store"])
def test_all_that_proves_it_is_the_lock(facts: WriterTestFacts) -> None:
    assert judge(facts).state is State.LOCK_TAKEN


NO_LOCK = {
    "published past the registration": replace(COORDINATED, registrations=(replace(REGISTRATION, table_version=3),)),
    "a version that was never staged": replace(COORDINATED, staged=frozenset({1, 2, 4})),
    "a registration that accepted nothing": replace(
        COORDINATED, registrations=(replace(REGISTRATION, has_accepted_commits=False),)
    ),
    "a version of the registration that nobody can read": replace(
        COORDINATED, registrations=(replace(REGISTRATION, table_version=None),)
    ),
    "no registration": replace(COORDINATED, registrations=()),
    "a registration in another store": replace(COORDINATED, registrations=(replace(REGISTRATION, store="other"),)),
    "a registration of another table id": replace(COORDINATED, properties=properties(table_id="t2")),
    "properties of another store": replace(COORDINATED, properties=properties("other")),
    "properties of another region": replace(COORDINATED, properties=properties(endpoint=AWS.replace("west", "north"))),
    "no properties": replace(COORDINATED, properties={}),
    "a gap in the log": replace(COORDINATED, commits={one: commits()[one] for one in (0, 1, 3, 4)}),
    "no entry of one version": replace(LOGGED, entries=entries(range(4))),
    "entries in another store": replace(LOGGED, entries=entries(store="other")),
    "entries under another scheme": replace(LOGGED, entries=entries(path=PATH.replace("s3a:", "s3:"))),
    "entries under the path with a slash": replace(LOGGED, entries=entries(path=f"{PATH}/")),
    "other bytes than were accepted": replace(
        LOGGED, commits=commits() | {2: ScratchCommit(2, AT, 1, equals_accepted=False)}
    ),
}


@pytest.mark.parametrize("what", NO_LOCK)
def test_no_lock_is_said_with_its_store_or_version(what: str) -> None:
    outcome = judge(NO_LOCK[what])

    assert outcome.state is State.NO_LOCK, outcome
    assert outcome.sentence.startswith("No lock taken")


NOT_SHOWN = {
    "nothing": (State.NOT_SEEN, replace(LOGGED, objects=0, commits={}, entries=())),
    "an entry and no commit": (State.UNFINISHED, replace(LOGGED, commits={}, entries=entries(range(1)))),
    "the first commits alone": (State.UNFINISHED, replace(LOGGED, commits=commits(2), entries=entries(range(3)))),
    "an accepted version that is not there": (State.UNFINISHED, replace(LOGGED, entries=entries(range(6)))),
    "an entry that is not complete": (
        State.UNFINISHED,
        replace(LOGGED, entries=(*entries(range(4)), ("log", replace(entries()[4][1], complete=None)))),
    ),
    "no rival that gave way": (
        State.UNFINISHED,
        replace(COORDINATED, commits=commits() | {4: ScratchCommit(4, AT, 3, None)}),
    ),
    "entries that may have expired": (
        State.NOT_KNOWN,
        replace(LOGGED, entries=(), read_at=AT + timedelta(hours=13)),
    ),
    "more than a test leaves": (State.NOT_KNOWN, replace(LOGGED, is_cut=True)),
}


@pytest.mark.parametrize("what", NOT_SHOWN)
def test_what_shows_nothing_is_no_lock_and_no_loss(what: str) -> None:
    state, facts = NOT_SHOWN[what]

    assert judge(facts).state is state


def test_the_versions_without_an_item_are_named() -> None:
    assert judge(replace(LOGGED, entries=entries(range(3)))).sentence.endswith("holds no entry for versions 3 and 4.")


@pytest.mark.parametrize(
    ("prefix", "token", "key"),
    [
        ("sales/", TOKEN, f"sales/{TOKEN}/x"),
        ("_levee_writer_test/", "", "_levee_writer_test/x"),
        ("_levee_writer_test", TOKEN, f"_levee_writer_test{TOKEN}/x"),
        ("_levee_writer_test/", TOKEN, f"_levee_writer_test/{TOKEN}2/x"),
        ("", "", "x"),
    ],
)
def test_a_removal_outside_a_scratch_folder_cannot_be_made(prefix: str, token: str, key: str) -> None:
    with pytest.raises(ValueError, match="no scratch folder"):
        RemoveScratch(
            ScratchFolder("lake", prefix, token), StoresToAsk((), ()), Leftovers((LeftObject("lake", key, "e", AT),))
        )
