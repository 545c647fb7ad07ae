import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake.delta.checksum import read_checksum
from lake.delta.names import checksum_name
from lake.delta.state import ProtocolAction
from tests.builders.delta import EPOCH_MS, UUID, crc_bytes
from tests.lake.delta.strategies import json_values


def reasons(data):
    return [problem.reason for problem in read_checksum(7, data).problems]


def test_a_checksum_holds_the_state_and_its_counts():
    checksum = read_checksum(7, crc_bytes(3, 900, in_commit_timestamp=EPOCH_MS))
    assert checksum.version == 7
    assert checksum.protocol == ProtocolAction(1, 2)
    assert checksum.metadata.table_id == UUID
    assert (checksum.num_files, checksum.in_commit_timestamp) == (3, EPOCH_MS)
    assert checksum.problems == ()


def test_what_a_checksum_leaves_out_is_unknown_and_no_problem():
    checksum = read_checksum(7, b"{}")
    assert (checksum.protocol, checksum.metadata, checksum.num_files, checksum.problems) == (None, None, None, ())


def test_a_broken_checksum_is_named():
    [problem] = read_checksum(7, crc_bytes()[:50]).problems
    assert (problem.place, problem.reason) == (checksum_name(7), "The file is not whole JSON; it may be cut off.")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[]", "The file is not a JSON object."),
        (crc_bytes(protocol=7), "protocol is not an object."),
        (crc_bytes(metadata=[1]), "metaData is not an object."),
        (crc_bytes(numFiles="3"), "numFiles is not a whole number from 0 to 2^63 - 1."),
        (crc_bytes(numFiles=-1), "numFiles is not a whole number from 0 to 2^63 - 1."),
        (crc_bytes(in_commit_timestamp=2**63), "inCommitTimestampOpt is not a whole number from 0 to 2^63 - 1."),
    ],
)
def test_a_value_that_cannot_be_right_is_a_problem(data, reason):
    assert reasons(data) == [reason]


@given(st.binary())
def test_any_bytes_are_read(data):
    read_checksum(7, data)


@given(st.dictionaries(st.sampled_from(["protocol", "metadata", "numFiles", "tableSizeBytes"]), json_values))
def test_any_json_is_read(content):
    assert read_checksum(7, orjson.dumps(content)).version == 7
