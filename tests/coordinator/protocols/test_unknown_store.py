"""Tables whose log store is known by its temp files alone: what these prove, and what they leave open."""

import pytest

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.verdict import Finding, Severity, State, Verdict
from lake.delta.facts import LogObject, Mechanism, ReadingProblem
from tests.builders.facts import DAY, entry, listing, log_object, table_facts, temp_name

SPARK, RUST = "Apache-Spark/4.2.0 Delta-Lake/4.4.0", "delta-rs:py-1.6.6"


def verdict_of(*temp: LogObject | str, age: float = 10 * DAY, **facts) -> Verdict:
    return diagnose(table_facts(listing(temp=temp, age=age), mechanism=Mechanism.LOG_STORE, **facts))


def told(verdict: Verdict) -> Finding:
    [finding] = [one for one in verdict.findings if one.code == "unknown-log-store"]
    return finding


def old(version: int, uid: str = "7f3c9b52", age: float = 10 * DAY) -> LogObject:
    return log_object(temp_name(version, uid), age=age)


def test_a_quiet_table_of_a_log_store_is_healthy_and_says_which_store_is_not_known() -> None:
    verdict = verdict_of(old(2), old(3))

    assert verdict.state is State.HEALTHY
    finding = told(verdict)
    assert "A log store (S3DynamoDBLogStore) is in use here, as its temp files show" in finding.summary
    assert "no DynamoDB table that Levee asks holds an entry of this table now" in finding.summary
    assert "Which DynamoDB table it is" in finding.meaning


def test_two_writers_of_such_a_table_are_not_said_to_be_kept_apart_by_nothing() -> None:
    verdict = verdict_of(old(3, age=3_600), age=3_600, engines={1: SPARK, 2: RUST, 3: SPARK})

    assert {one.code for one in verdict.findings} == {"unknown-log-store"}


def test_nobody_is_accused_of_writing_past_a_store_that_was_never_seen() -> None:
    verdict = verdict_of(old(3, age=3_600), age=3_600)

    assert "foreign-writer" not in {one.code for one in verdict.findings}


def test_a_temp_file_above_the_log_may_be_an_accepted_commit_and_nothing_is_called_healthy() -> None:
    verdict = verdict_of(old(3), old(4))

    assert (verdict.state, told(verdict).severity) == (State.NOT_CHECKED, Severity.WARNING)
    assert "1 temp file may hold an accepted commit that is not published" in verdict.summary
    assert told(verdict).evidence["temp_files"] == [temp_name(4)]


def test_a_temp_file_of_delta_rs_tells_no_version_and_may_wait_as_well() -> None:
    verdict = verdict_of(old(3), log_object("_commit_5f0c.json.tmp", age=10 * DAY))

    assert verdict.state is State.NOT_CHECKED
    assert told(verdict).evidence["temp_files"] == ["_commit_5f0c.json.tmp"]


def test_without_the_newest_versions_temp_file_nothing_shows_that_no_commit_waits() -> None:
    verdict = verdict_of(old(1), old(2))

    assert verdict.state is State.NOT_CHECKED
    assert "the newest left of version 2" in verdict.summary


def test_a_store_that_was_seen_in_use_and_left_nothing_is_not_called_healthy() -> None:
    verdict = verdict_of()

    assert verdict.state is State.NOT_CHECKED
    assert "none of which is left" in verdict.summary


def test_a_young_temp_file_without_an_entry_shows_that_the_store_is_not_asked() -> None:
    verdict = verdict_of(old(3, age=3_600), age=3_600)

    assert (verdict.state, told(verdict).severity) == (State.NOT_CHECKED, Severity.WARNING)
    assert "A writer with a log store was at work 1 h ago" in verdict.summary
    assert "Declare the DynamoDB table" in told(verdict).meaning


@pytest.mark.parametrize("version", [3, 4])
def test_a_writer_at_work_in_this_moment_is_no_warning(version: int) -> None:
    """Its entry may have been put after the stores were read."""
    verdict = verdict_of(old(3), old(version, "now", age=5), age=5)

    assert (told(verdict).severity, verdict.state) != (Severity.WARNING, State.HEALTHY)
    assert told(verdict_of(old(version, age=5), age=5)).severity is Severity.INFO


def test_the_first_commit_of_a_table_waits_where_nothing_is_published() -> None:
    facts = table_facts(listing((), temp=[old(0)]), mechanism=Mechanism.LOG_STORE)

    assert told(diagnose(facts)).state is State.NOT_CHECKED


@pytest.mark.parametrize("place", ["entries", "DynamoDB table log", "listing"])
def test_nothing_is_said_of_entries_where_a_store_could_not_be_read(place: str) -> None:
    verdict = verdict_of(old(3), problems=[ReadingProblem(place, "not authorised.")])

    assert {one.code for one in verdict.findings} == {"not-read"}


@pytest.mark.parametrize("facts", [{"entries": [entry(3)]}, {"had_entries": True}])
def test_a_store_that_is_known_is_judged_by_its_entries(facts) -> None:
    assert "unknown-log-store" not in {one.code for one in verdict_of(old(3), **facts).findings}


def test_entries_of_another_table_make_no_store_known() -> None:
    assert told(verdict_of(old(3), entries=[entry(3, path="s3a://lake/other")]))
