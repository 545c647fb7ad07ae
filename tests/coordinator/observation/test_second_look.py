"""What one look misses is raised once a second one misses it too; somebody acts between the requests of a look."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from coordinator.alerting import table_problems
from coordinator.models import DeltaTable, TableFinding
from coordinator.observation import passes
from coordinator.observation.passes import PassResult, observe_connection
from coordinator.observation.second_look import SecondLooks
from tests.builders.delta import commit_bytes, commit_info, first_commit_bytes, incomplete_item
from tests.builders.guard import Call, Guard
from tests.builders.lake import NOW
from tests.builders.writers import Writer, log_store_writer, meanwhile
from tests.coordinator.observation.accepted_and_lost import the_table
from tests.lake.aws.stub import QUICK, quick

ROOT = "sales/orders"
LOG = "_delta_log"
LISTING, QUERY, HEAD, GET = "ListObjectsV2", "Query", "HeadObject", "GetObject"


@pytest.fixture
def observe(connection, guard) -> Iterator[Callable[..., PassResult]]:
    """One pass through the gate; waits for what a test does between two requests."""
    with quick(guard.url, retry_policy=replace(QUICK, read=60.0, total=300.0)) as lake:
        yield partial(observe_connection, connection, lake, threads=4)


@pytest.fixture
def log_store(written) -> Writer:
    return log_store_writer(written, ROOT)


def judged() -> tuple[str, int | None, list[str]]:
    """State, newest version, and what was ever called critical of the table."""
    ever = TableFinding.objects.filter(severity="critical").values_list("key", flat=True)
    return the_table().state, the_table().published_version, sorted(ever)


def sound(version: int) -> tuple[str, int, list[str]]:
    """Healthy up to that version, and never called anything worse than being checked."""
    return "healthy", version, []


def open_keys() -> list[str]:
    return sorted(TableFinding.objects.filter(resolved_at=None).values_list("key", flat=True))


@pytest.fixture
def second_refused(guard: Guard) -> Callable[[], None]:
    """Refuses the log's listing from its second request on, until it is called."""
    seen: list[Call] = []

    def before(call: Call) -> None:
        if call.operation == LISTING and LOG in call.target:
            seen.append(call)
            if len(seen) == 2:
                guard.deny(LISTING, LOG)

    def no_more() -> None:
        guard.before = lambda call: None
        guard.allow_all()
        guard.calls.clear()

    guard.before = before
    return no_more


def in_turn(*hooks: Callable[[Call], None]) -> Callable[[Call], None]:
    return lambda call: [hook(call) for hook in hooks] and None


def test_an_entry_that_ttl_takes_between_the_listing_and_the_query_leaves_no_hole(log_store, guard, observe):
    def act() -> None:
        for _ in range(2):
            log_store.commit()
        log_store.expire()

    guard.before = in_turn(meanwhile(log_store.commit, LISTING, within=LOG), meanwhile(act, QUERY))

    observe()

    assert judged() == sound(5)


@pytest.mark.parametrize("operation", [GET, HEAD])
def test_a_log_that_is_cleaned_up_under_the_look_has_lost_nothing(log_store, operation, guard, observe):
    observe()

    def act() -> None:
        log_store.commit()
        log_store.clean()

    log_store.commit()
    guard.before = meanwhile(act, operation, within=LOG)
    observe(in_full=True)
    guard.before = lambda call: None
    observe(in_full=True)

    assert judged() == sound(log_store.version)


def test_a_commit_that_delta_rs_gives_up_is_no_lost_commit(log_store, written, guard, observe):
    item = incomplete_item(4, written.uri(ROOT), tempPath={"S": "_commit_5f0c.json.tmp"})

    def prepare() -> None:
        written.put(log_store.log("_commit_5f0c.json.tmp"), b"{}\n")
        written.dynamodb.put_item(TableName=written.log_store, Item=item)

    def give_up() -> None:
        written.delete(log_store.log("_commit_5f0c.json.tmp"))
        written.drop_entries(ROOT, 4)

    guard.before = in_turn(
        meanwhile(log_store.commit, LISTING, within=LOG), meanwhile(prepare, QUERY), meanwhile(give_up, HEAD)
    )

    observe()

    assert judged() == sound(3)
    assert guard.count(HEAD) == 2


def test_a_lost_file_is_raised_in_one_pass(log_store, written, observe):
    written.delete(log_store.file(1))

    observe()

    assert (the_table().state, open_keys()) == ("blocked", ["C6@1", "unreadable", "version-hole@1"])


def test_a_refused_second_look_leaves_the_table_being_checked_until_the_next_pass_raises_it_without_one(
    log_store, written, guard, observe, second_refused
):
    written.delete(log_store.file(1))

    observe()

    finding = TableFinding.objects.get(key="being-checked")
    assert (finding.severity, finding.state) == ("info", "not_checked")
    assert the_table().state not in ("healthy", "blocked", "unsafe")
    assert "One look did not see …1.json" in finding.summary
    assert "The second look failed: " in finding.summary
    assert not TableFinding.objects.filter(severity="critical").exists()
    assert [one.severity for one in table_problems(NOW) if "being checked" in one.headline] == ["info"]

    second_refused()
    observe()

    assert the_table().state == "blocked"
    assert {"C6@1", "version-hole@1"} <= set(open_keys())
    assert "being-checked" not in open_keys()
    whole = [call for call in guard.calls if call.operation == LISTING and call.target.endswith(f"{LOG}/")]
    assert len(whole) == 2, "the tail, and the whole log once"


def test_what_turns_out_to_be_there_is_no_longer_being_checked(log_store, written, observe, second_refused):
    body = written.s3.get_object(Bucket=written.bucket, Key=log_store.file(1))["Body"].read()
    written.delete(log_store.file(1))
    observe()
    second_refused()
    written.put(log_store.file(1), body)

    observe()

    assert judged() == sound(2)
    assert open_keys() == []


def test_a_critical_finding_stays_open_while_something_is_being_checked(log_store, written, observe, request):
    written.delete(log_store.file(1))
    observe()
    assert {"C6@1", "version-hole@1"} <= set(open_keys())
    written.commit(ROOT, 1)
    written.delete(log_store.file(0))
    request.getfixturevalue("second_refused")

    observe(in_full=True)

    assert {"C6@1", "version-hole@1", "being-checked"} <= set(open_keys())
    assert the_table().state not in ("healthy", "blocked", "unsafe")


def test_a_finding_that_is_seen_again_needs_no_second_look(log_store, written, observe, request):
    written.delete(log_store.file(1))
    observe()
    request.getfixturevalue("second_refused")

    observe(in_full=True)

    assert the_table().state == "blocked"
    assert "being-checked" not in open_keys()


def test_what_an_earlier_table_at_this_place_had_lost_confirms_nothing(log_store, written, observe, request):
    written.delete(log_store.file(1))
    observe()
    written.wipe(ROOT)
    anew = log_store_writer(written, ROOT, commits=3)
    written.commit(ROOT, 0, first_commit_bytes(table_id="another"))
    written.commit(ROOT, 2, commit_bytes(commit_info("MERGE")))
    written.delete(anew.file(1))
    TableFinding.objects.all().delete()
    request.getfixturevalue("second_refused")

    observe(in_full=True)

    assert "being-checked" in open_keys()
    # What was written over a temp file's commit is there to be seen; what is absent is not raised.
    assert {one.code for one in TableFinding.objects.filter(severity="critical")} <= {"bytes-differ"}


def test_a_pass_takes_a_bounded_number_of_second_looks_and_says_so(written, observe, monkeypatch):
    monkeypatch.setattr(passes, "SecondLooks", lambda: SecondLooks(1))
    for name in ("a", "b", "c"):
        written.delete(log_store_writer(written, f"sales/{name}").file(1))

    result = observe()

    states = sorted(DeltaTable.objects.values_list("state", flat=True))
    assert (states.count("blocked"), len(states)) == (1, 3)
    assert any(problem.startswith("2 tables are still being checked: a pass takes") for problem in result.problems)

    observe()

    assert set(DeltaTable.objects.values_list("state", flat=True)) == {"blocked"}
