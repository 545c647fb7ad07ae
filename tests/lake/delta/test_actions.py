from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.actions import MOST_PROBLEMS, read_commit, read_commit_head
from lake.delta.facts import CommitInfo, ReadingProblem
from lake.delta.names import commit_name
from lake.delta.state import MetadataAction, ProtocolAction
from tests.builders.delta import EPOCH_MS, UUID, add, commit_bytes, commit_info, metadata, protocol, remove
from tests.lake.delta.strategies import json_values

NAME = commit_name(7)


def problems(data, **options):
    return [(problem.place, problem.reason) for problem in read_commit(7, data, **options).problems]


def test_a_commit_says_who_did_what_and_when():
    data = commit_bytes(commit_info("MERGE", in_commit_timestamp=EPOCH_MS + 3), add("a"), add("b"), remove("c"))
    assert read_commit(7, data).info == CommitInfo(
        version=7,
        operation="MERGE",
        engine="Apache-Spark/4.2.0 Delta-Lake/4.4.0",
        timestamp=EPOCH_MS,
        in_commit_timestamp=EPOCH_MS + 3,
        added_files=2,
        removed_files=1,
        lines=4,
    )


def test_protocol_and_metadata_are_read():
    features = {"readerFeatures": ["vacuumProtocolCheck"], "writerFeatures": ["coordinatedCommits-preview"]}
    data = commit_bytes(protocol(3, 7, **features), metadata(properties={"delta.appendOnly": "true"}, name="orders"))
    commit = read_commit(7, data)
    assert commit.protocol == ProtocolAction(3, 7, ("vacuumProtocolCheck",), ("coordinatedCommits-preview",))
    assert commit.metadata == MetadataAction(
        UUID, "orders", (), {"delta.appendOnly": "true"}, datetime(2026, 1, 1, tzinfo=UTC)
    )


def test_delta_rs_names_itself_as_client_version():
    data = b'{"commitInfo":{"timestamp":1,"operation":"WRITE","clientVersion":"delta-rs.1.6.0"}}'
    assert read_commit(7, data).info.engine == "delta-rs.1.6.0"


def test_carriage_returns_and_blank_lines_are_tolerated():
    commit = read_commit(7, commit_bytes().replace(b"\n", b"\r\n\n"))
    assert (commit.info.lines, commit.problems) == (2, ())


def test_good_lines_around_a_bad_one_are_read():
    commit = read_commit(7, commit_bytes(commit_info("WRITE")) + b"}{\n" + commit_bytes(add(), newline=False))
    assert (commit.info.operation, commit.info.added_files, commit.info.lines) == ("WRITE", 1, 2)
    assert [problem.place for problem in commit.problems] == [f"{NAME} line 2"]


@pytest.mark.parametrize("data", [b"", b"\n", b"  \r\n"])
def test_an_empty_file_is_a_problem(data):
    assert problems(data) == [(NAME, "The file is empty; a commit has at least one action.")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1]", "The line is not one whole JSON object; the file may be cut off."),
        (b'{"add":{"path"', "The line is not one whole JSON object; the file may be cut off."),
        (b"\xff\xfe", "The line is not UTF-8."),
        (b'{"add":null}', "The file action names no path."),
        (b'{"remove":{"path":1}}', "The file action names no path."),
        (b'{"protocol":[]}', "protocol is not an object."),
        (
            b'{"protocol":{"minReaderVersion":"1"}}',
            "protocol has no whole numbers minReaderVersion and minWriterVersion.",
        ),
        (b'{"metaData":1}', "metaData is not an object."),
        (b'{"metaData":{"configuration":{}}}', "metaData has no text id."),
        (b'{"metaData":{"id":"x","configuration":{"a":1}}}', "configuration is not a map of texts."),
        (b'{"metaData":{"id":"x","configuration":[["a","b"]]}}', "configuration is not a map of texts."),
        (b'{"metaData":{"id":"x","partitionColumns":"a"}}', "partitionColumns is not a list of texts."),
        (b'{"metaData":{"id":"x","createdTime":true}}', "createdTime is not a time in milliseconds."),
        (b'{"metaData":{"id":"x","createdTime":9223372036854775807}}', "createdTime is not a time in milliseconds."),
        (b'{"commitInfo":"x"}', "commitInfo is not an object."),
        (b'{"commitInfo":{"timestamp":1.5}}', "timestamp is not a whole number of milliseconds."),
        (
            b'{"commitInfo":{"inCommitTimestamp":9223372036854775808}}',
            "inCommitTimestamp is not a whole number of milliseconds.",
        ),
    ],
)
def test_a_malformed_action_is_named_with_its_line(line, reason):
    assert problems(line) == [(f"{NAME} line 1", reason)]


def test_a_staged_commit_is_named_by_its_own_file():
    name = f"_staged_commits/{7:020d}.{UUID}.json"
    assert problems(b"", name=name)[0][0] == name


def test_nul_characters_are_replaced_because_no_database_stores_them():
    assert read_commit(7, b'{"commitInfo":{"operation":"A\\u0000B"}}').info.operation == "A\ufffdB"


def test_problems_of_a_file_that_is_no_commit_are_counted_not_listed():
    found = read_commit(7, b"no\n" * 1_000).problems
    assert len(found) == MOST_PROBLEMS + 1
    assert found[-1] == ReadingProblem(NAME, "980 further problems are not listed.")


def test_the_head_of_a_commit_gives_its_in_commit_timestamp():
    data = commit_bytes(commit_info("WRITE", in_commit_timestamp=12), add())
    commit = read_commit_head(7, data[:250])
    assert (commit.info.in_commit_timestamp, commit.info.lines, commit.problems) == (12, 1, ())


def test_a_head_that_ends_within_the_first_line_says_how_many_bytes_were_too_few():
    [problem] = read_commit_head(7, commit_bytes()[:40]).problems
    assert problem == ReadingProblem(
        f"{NAME} line 1", "The first line is not whole in the first 40 bytes; read more of the file."
    )


@given(st.binary())
def test_any_bytes_are_read(data):
    commit = read_commit(7, data)
    assert commit.problems or commit.info.lines
    read_commit_head(7, data)


@given(st.lists(st.dictionaries(st.sampled_from(["add", "remove", "protocol", "metaData", "commitInfo"]), json_values)))
def test_any_json_is_read(actions):
    commit = read_commit(7, b"\n".join(orjson.dumps(action) for action in actions))
    assert commit.info.lines == len(actions)


@given(st.integers(1, 3_000))
def test_a_commit_cut_off_anywhere_is_read_up_to_the_cut(length):
    data = commit_bytes(commit_info(), *(add(f"part-{number}") for number in range(12)))
    whole_lines = data[:length].count(b"\n")
    assert read_commit(7, data[:length]).info.lines in (whole_lines, whole_lines + 1)


@pytest.mark.parametrize(
    ("line", "is_bad"),
    [
        (b'{"commitInfo":{"x":NaN}}', False),
        (b'{"commitInfo":{"x":"\\ud800"}}', False),
        (b'{"add":{"path"', True),
        (b"[1]", True),
        (b"\xff\xfe{", True),
    ],
)
def test_only_what_no_reader_takes_is_a_bad_line(line: bytes, is_bad: bool) -> None:
    assert (read_commit(3, b'{"commitInfo":{}}\n' + line).info.bad_line == 2) is is_bad
