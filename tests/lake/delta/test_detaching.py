"""The commit by which a copy leaves its coordinator, as text."""

import json

from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF, TABLE_CONF
from lake.delta.detaching import detaching_commit, is_coordinated

PROTOCOL = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["vacuumProtocolCheck"],
    "writerFeatures": [
        "coordinatedCommits-preview",
        "inCommitTimestamp",
        "managedCommit-preview",
        "vacuumProtocolCheck",
    ],
}
METADATA = {
    "id": "7426a6d4",
    "schemaString": "{}",
    "configuration": {
        COORDINATOR: "dynamodb",
        COORDINATOR_CONF: "{}",
        TABLE_CONF: "{}",
        "delta.enableInCommitTimestamps": "true",
    },
}


def test_it_comes_a_millisecond_later_and_says_its_time_first():
    first, *_ = detaching_commit(PROTOCOL, METADATA, 1_700_000_000_000).splitlines()
    assert json.loads(first)["commitInfo"]["inCommitTimestamp"] == 1_700_000_000_001


def test_it_leaves_out_the_coordinator_and_nothing_else():
    _, protocol, metadata = map(json.loads, detaching_commit(PROTOCOL, METADATA, 1).splitlines())
    features = ["inCommitTimestamp", "vacuumProtocolCheck"]
    assert protocol["protocol"] == {**PROTOCOL, "writerFeatures": features}
    assert metadata["metaData"] == {**METADATA, "configuration": {"delta.enableInCommitTimestamps": "true"}}
    assert [is_coordinated(METADATA), is_coordinated(metadata["metaData"])] == [True, False]
