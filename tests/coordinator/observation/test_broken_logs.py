"""Logs from which no reader, or not every reader, can build the table, as files really lie in S3.

What engines make of the same logs is tried in `tests/conformance/test_broken_logs.py`.
"""

import json
import time

import pytest

from coordinator.models import DeltaTable
from coordinator.observation.logfiles import LogReader
from lake.delta.checkpoint import CheckpointEnds, read_checkpoint_ends
from tests.builders.delta import (
    add,
    checkpoint_bytes,
    commit_bytes,
    commit_info,
    crc_bytes,
    first_commit_bytes,
    metadata,
    protocol,
)
from tests.coordinator.observation.accepted_and_lost import log


def name_of_checkpoint(version: int, part: str = "") -> str:
    return f"{version:020d}.checkpoint.{part}parquet"


def info(transaction: str = "", **more: str) -> dict:
    said = commit_info()["commitInfo"] | ({"txnId": transaction} if transaction else {}) | more
    return {"commitInfo": said}


class Log:
    """A table without a commit store: each commit adds one file, and Spark writes a `.crc` with its transaction."""

    def __init__(self, written, commits: int = 13) -> None:
        self.written = written
        for version in range(commits):
            body = first_commit_bytes() if version == 0 else self.body(version)
            written.put(log(f"{version:020d}.json"), body)

    def body(self, version: int, transaction: str | None = None) -> bytes:
        return commit_bytes(info(transaction or f"txn-{version}"), add(f"{version}.parquet"))

    def crc(self, *versions: int) -> None:
        for version in versions:
            self.written.put(log(f"{version:020d}.crc"), crc_bytes(files=version, txnId=f"txn-{version}"))

    def put(self, name: str, body: bytes) -> None:
        self.written.put(log(name), body)

    def checkpoint(self, version: int, body: bytes | None = None) -> None:
        self.put(name_of_checkpoint(version), checkpoint_bytes() if body is None else body)

    def hint(self, version: int) -> None:
        self.put("_last_checkpoint", json.dumps({"version": version, "size": 3}).encode())

    def delete(self, *versions: int) -> None:
        for version in versions:
            self.written.delete(log(f"{version:020d}.json"))


@pytest.fixture
def verdict(observe):
    """Observes; the table with its open findings by code."""

    def look(**options) -> tuple[DeltaTable, dict]:
        observe(**options)
        table = DeltaTable.objects.get()
        return table, {one.code: one for one in table.findings.filter(resolved_at=None)}

    return look


@pytest.mark.parametrize("how", ["garbage", "cut"])
def test_a_checkpoint_that_is_none_blocks_whatever_checksums_say(written, verdict, how):
    one, whole = Log(written), checkpoint_bytes()
    one.crc(10, 11, 12)
    one.hint(10)
    one.checkpoint(10, {"garbage": b"garbage" * 50, "cut": whole[:300]}[how])

    table, found = verdict()

    assert (table.state, table.checkpoint_version) == ("blocked", None)
    assert found["checkpoint-broken"].version == 10
    assert "Every commit of the table is there" in found["checkpoint-broken"].meaning
    assert verdict(in_full=True)[0].state == "blocked"

    one.checkpoint(10)
    table, _ = verdict()
    assert (table.state, table.checkpoint_version) == ("healthy", 10)


def test_a_checkpoint_that_is_written_anew_while_it_is_read_is_looked_at_again(written, verdict, monkeypatch):
    one = Log(written)
    one.checkpoint(10)
    answers = [CheckpointEnds("bytes 0 to 9 came back as 4 bytes")]

    def ends(*given) -> CheckpointEnds:
        return answers.pop() if answers else read_checkpoint_ends(*given)

    monkeypatch.setattr("coordinator.observation.logfiles.read_checkpoint_ends", ends)

    assert verdict()[0].state == "healthy"


def test_a_broken_checkpoint_that_the_next_look_at_the_tail_finds_blocks(written, verdict):
    one = Log(written, commits=31)
    one.checkpoint(10)
    assert verdict()[0].state == "healthy"
    one.put(f"{31:020d}.json", one.body(31))
    one.checkpoint(31, b"garbage")

    table, found = verdict()

    assert (table.state, table.checkpoint_version) == ("blocked", 10)
    assert "since checkpoint 10" in found["checkpoint-broken"].meaning


def test_an_older_checkpoint_counts_only_where_it_is_whole(written, verdict):
    one = Log(written)
    one.checkpoint(5)
    one.checkpoint(10)
    assert verdict()[0].checkpoint_version == 10
    one.checkpoint(5, b"garbage")
    one.checkpoint(10, b"garbage")

    table, found = verdict(in_full=True)

    assert (table.state, table.checkpoint_version) == ("blocked", None)
    assert "Every commit of the table" in found["checkpoint-broken"].meaning


@pytest.mark.parametrize("body", [None, b"", b"{not json\n"])
def test_a_broken_checkpoint_of_which_a_commit_is_gone_or_none_has_no_easy_way_out(written, verdict, body):
    one = Log(written)
    one.checkpoint(10, b"garbage")
    if body is None:
        one.delete(3)
    else:
        one.put(f"{3:020d}.json", body)

    _, found = verdict()

    assert "nothing is lost" not in found["checkpoint-broken"].meaning
    assert "or the missing commits back" in found["checkpoint-broken"].meaning


def test_a_checkpoint_without_all_its_parts_is_none_and_its_hint_is_a_finding(written, verdict):
    one = Log(written, commits=24)
    one.checkpoint(10)
    for part in (1, 3):
        one.put(name_of_checkpoint(20, f"{part:010d}.{3:010d}."), checkpoint_bytes())
    one.hint(20)

    table, found = verdict()

    assert (table.state, table.checkpoint_version) == ("attention", 10)
    assert "deltalake stops at it, Spark reads from checkpoint 10" in found["checkpoint-hint"].summary

    one.put(name_of_checkpoint(20, f"{2:010d}.{3:010d}."), checkpoint_bytes())
    assert (verdict()[0].state, verdict()[0].checkpoint_version) == ("healthy", 20)


@pytest.mark.parametrize("hinted", [b"", b"{", b"[]", b'{"version":"x"}', b'{"version":5}'])
def test_a_hint_that_readers_pass_by_is_no_trouble(written, verdict, hinted):
    one = Log(written)
    one.checkpoint(10)
    one.put("_last_checkpoint", hinted)

    assert verdict()[0].state == "healthy"


def test_a_hint_that_was_written_after_the_listing_is_not_believed(written, verdict, monkeypatch):
    one = Log(written, commits=24)
    one.checkpoint(10)
    one.hint(10)
    real = LogReader.hinted

    def hinted(self: LogReader) -> int | None:
        one.checkpoint(20)
        one.hint(20)
        return real(self)

    monkeypatch.setattr(LogReader, "hinted", hinted)

    assert verdict()[0].state == "healthy"


def with_sidecar(one: Log, version: int) -> None:
    """A checkpoint of that version that names the sidecar `one.parquet`."""
    lines = [protocol(), metadata(), {"sidecar": {"path": "one.parquet", "sizeInBytes": 9, "modificationTime": 1}}]
    one.put(f"{version:020d}.checkpoint.0e0d1a5c-1f5e-4a0f-8a3c-2d9b6b5b7a11.json", commit_bytes(*lines))


def test_a_checkpoint_with_a_sidecar_that_is_gone_is_none(written, verdict):
    one = Log(written)
    with_sidecar(one, 10)
    one.put("_sidecars/one.parquet", checkpoint_bytes())
    assert verdict()[0].state == "healthy"
    written.delete(log("_sidecars/one.parquet"))

    table, found = verdict(in_full=True)

    assert table.state == "blocked"
    assert "_sidecars/one.parquet, which is not there" in found["checkpoint-broken"].summary


def test_a_new_checkpoint_with_sidecars_is_looked_at_with_them(written, verdict):
    one = Log(written, commits=31)
    one.checkpoint(20)
    assert verdict()[0].state == "healthy"
    one.put(f"{31:020d}.json", one.body(31))
    with_sidecar(one, 31)

    assert verdict()[0].state == "blocked"


@pytest.mark.parametrize("summed_up", [True, False])
def test_a_log_without_its_beginning_says_which_readers_open_it(written, verdict, summed_up):
    one = Log(written)
    if summed_up:
        one.crc(10, 11, 12)
    one.checkpoint(10, b"")
    one.delete(*range(10))

    table, found = verdict()

    assert (table.state, table.checkpoint_version) == ("blocked", None)
    said = "nothing but the files of versions 10 to 12, without an error" if summed_up else "no reader can build"
    assert said in found["log-start-missing"].summary


def test_an_empty_commit_is_missing_for_every_reader(written, verdict):
    one = Log(written, commits=21)
    one.crc(18, 19, 20)
    one.put(f"{3:020d}.json", b"")

    table, found = verdict()

    assert table.state == "unsafe"
    assert found["empty-commit"].severity == "critical"
    assert found["empty-commit"].summary.startswith("Version 3 has an empty file")
    assert verdict(in_full=True)[0].state == "unsafe"

    one.put(f"{3:020d}.json", one.body(3))
    table, found = verdict(in_full=True)
    assert (table.state, list(found)) == ("healthy", ["single-driver"])


def test_whether_a_checkpoint_holds_what_an_empty_commit_did_is_not_known(written, verdict):
    one = Log(written, commits=13)
    one.checkpoint(10)
    one.put(f"{3:020d}.json", b"")

    table, found = verdict()

    assert table.state == "attention"
    assert "not known" in found["empty-commit-covered"].summary


def test_a_commit_that_was_replaced_does_not_fit_its_checksum(written, verdict):
    one = Log(written, commits=7)
    one.crc(*range(7))
    time.sleep(1.1)  # S3 tells whole seconds
    one.put(f"{4:020d}.json", commit_bytes(info("of-another"), add("other.parquet")))

    table, found = verdict()

    assert table.state == "unsafe"
    assert "…4.json and …4.crc are of different transactions" in found["checksum-of-another"].summary
    assert verdict(in_full=True)[0].state == "unsafe"

    one.put(f"{4:020d}.json", one.body(4))
    assert not verdict(in_full=True)[1].keys() & {"checksum-of-another", "overwritten"}
    assert verdict(in_full=True)[0].state == "healthy"


def test_of_a_commit_that_meets_another_within_a_second_the_next_look_knows(written, verdict):
    one = Log(written, commits=7)
    one.crc(*range(7))
    verdict()
    one.put(f"{7:020d}.json", one.body(7, "of-the-second"))
    one.crc(7)

    assert "checksum-of-another" in verdict()[1]


def test_a_commit_that_cannot_be_read_stays_in_the_verdict_until_it_can(written, verdict):
    one = Log(written, commits=13)
    one.put(f"{5:020d}.json", one.body(5) + b'{"add":{"path"')
    table, found = verdict()
    assert (table.state, found["unreadable-commit"].version, "unreadable" in found) == ("blocked", 5, False)
    one.crc(12)

    for version in range(13, 40):
        one.put(f"{version:020d}.json", one.body(version))
        if version % 9 == 0:
            assert verdict()[0].state == "blocked"
    assert verdict(in_full=True)[0].state == "blocked"

    one.put(f"{5:020d}.json", one.body(5))
    table, found = verdict(in_full=True)
    assert (table.state, list(found)) == ("healthy", ["single-driver"])


def test_of_a_commit_that_a_checkpoint_stands_for_no_reader_reads_a_line(written, verdict):
    one = Log(written, commits=13)
    one.checkpoint(10)
    one.put(f"{5:020d}.json", one.body(5) + b'{"add":{"path"')

    assert verdict()[0].state == "attention"


def test_a_commit_that_is_too_large_to_be_read_to_its_end_is_none_that_cannot_be_read(written, verdict, monkeypatch):
    monkeypatch.setattr("coordinator.observation.logfiles.MOST_COMMIT_BYTES", 2_000)
    one = Log(written, commits=3)
    one.put(f"{3:020d}.json", commit_bytes(info(), *(add(f"{number}.parquet") for number in range(30))))
    table, _ = verdict()
    assert table.state == "attention"
    assert any("Only the first" in problem["reason"] for problem in table.problems)
    commit = table.commits.get(version=3)
    assert (commit.operation, commit.added_files, commit.size > 2_000) == ("WRITE", None, True)
    one.put(f"{4:020d}.json", one.body(4))

    assert verdict()[0].state == "healthy"


def test_writers_that_took_turns_are_remembered_by_looks_that_read_less(written, verdict):
    for version, engine in enumerate(["Apache-Spark/3.3.1 Delta-Lake/2.2.0", "delta-rs:py-0.25.5", "Trino 476"] * 2):
        said = commit_bytes(info(engineInfo=engine), add(f"{version}.parquet"))
        written.put(log(f"{version:020d}.json"), first_commit_bytes() if version == 0 else said)

    assert [verdict(in_full=full)[0].state for full in (False, True, False)] == ["attention"] * 3


def test_who_wrote_a_table_that_stood_here_before_is_no_writer_of_this_one(written, verdict):
    one = Log(written, commits=3)
    assert verdict()[0].state == "healthy"
    one.delete(*range(3))
    other = {"commitInfo": {"timestamp": 1, "operation": "WRITE", "engineInfo": "delta-rs:py-1.6.6"}}
    one.put(f"{0:020d}.json", commit_bytes(other, protocol(), metadata("another")))

    assert verdict()[0].state == "healthy"


def test_a_log_of_very_many_commits_without_a_checkpoint_needs_one_and_nothing_else(written, verdict, monkeypatch):
    monkeypatch.setattr("coordinator.protocols.published_log.LONG_REPLAY", 25)
    monkeypatch.setattr("lake.delta.replay.MOST_COMMITS", 20)
    one = Log(written, commits=30)

    table, found = verdict()

    said = "30 commits have no checkpoint: every reader replays them all."
    assert (table.state, table.summary, "not-read" in found) == ("attention", said, False)
    assert found["unreadable"].summary.startswith("log above version 19 could not be read: More than 20 commits follow")
    for full in (False, True):
        assert verdict(in_full=full)[0].summary == said
    assert table.checkpoint_version is None

    one.checkpoint(29)
    assert verdict()[0].state == "healthy"
