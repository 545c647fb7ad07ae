"""A log with files elsewhere: each file named in full, writers kept out, no coordinator, and nothing else changed."""

import io
from typing import Any

import orjson
import pytest

from lake.delta.file_actions import LogUnreadable
from lake.delta.names import commit_name
from lake.delta.opened_log import READ_ONLY, LogOpener, read_only
from tests.builders.delta import UUID, add, checkpoint_bytes, commit_bytes, coordinator_properties, metadata, protocol
from tests.builders.delta import remove as removed
from tests.lazily import lazily

pa = lazily("pyarrow")
parquet = lazily("pyarrow.parquet")

CHECKPOINT = f"{3:020d}.checkpoint.parquet"
# The example of PROTOCOL.md, "Deletion Vector Format".
VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
    "offset": 4,
    "sizeInBytes": 40,
    "cardinality": 6,
}
VECTOR_FILE = "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
INLINE = {"storageType": "i", "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", "sizeInBytes": 40}


def opener() -> LogOpener:
    return LogOpener("s3a://vault/pool/t/{}".format)


def lines(*actions: Any) -> list[dict[str, Any]]:
    made = opener().opened(commit_name(3), commit_bytes(*actions))
    return [orjson.loads(line) for line in made.splitlines()]


def with_vector(action: Any, vector: Any) -> Any:
    [(kind, said)] = action.items()
    return {kind: {**said, "deletionVector": vector}}


def test_files_and_their_vectors_are_named_in_full_and_nothing_else_is_changed():
    file, gone = with_vector(add("a=1/x%20y.parquet"), VECTOR), with_vector(removed("b.parquet"), INLINE)
    changes = {"cdc": {"path": "_change_data/c.parquet", "partitionValues": {}, "size": 1, "dataChange": False}}
    others = [{"txn": {"appId": "app", "version": 4}}, {"domainMetadata": {"domain": "d", "configuration": "{}"}}]
    made = lines(file, gone, changes, *others)
    placed = {**VECTOR, "storageType": "p", "pathOrInlineDv": f"s3a://vault/pool/t/{VECTOR_FILE}"}
    assert made[0] == {"add": {**file["add"], "path": "s3a://vault/pool/t/a=1/x%20y.parquet", "deletionVector": placed}}
    assert made[1] == {"remove": {**gone["remove"], "path": "s3a://vault/pool/t/b.parquet"}}
    assert made[2]["cdc"]["path"] == "s3a://vault/pool/t/_change_data/c.parquet"
    assert made[3:] == others


@pytest.mark.parametrize(
    ("writer", "features"),
    [
        (1, []),
        (2, ["appendOnly", "invariants"]),
        (4, ["appendOnly", "changeDataFeed", "checkConstraints", "generatedColumns", "invariants"]),
        (
            6,
            [
                "appendOnly",
                "changeDataFeed",
                "checkConstraints",
                "columnMapping",
                "generatedColumns",
                "identityColumns",
                "invariants",
            ],
        ),
    ],
)
def test_a_protocol_of_an_old_writer_names_what_its_version_stood_for(writer, features):
    """Source: PROTOCOL.md of Delta 4.4.0, "Valid Feature Names in Table Features" and "Writer Version Requirements"."""
    made = read_only({"minReaderVersion": 1, "minWriterVersion": writer})
    assert made == {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": [*features, READ_ONLY]}


def test_a_coordinated_table_leads_to_no_coordinator():
    asked = ["inCommitTimestamp", "coordinatedCommits-preview", "vacuumProtocolCheck", "deletionVectors"]
    features = {"readerFeatures": ["vacuumProtocolCheck", "deletionVectors"], "writerFeatures": asked}
    properties = coordinator_properties("delta_commits", "http://127.0.0.1:1", UUID) | {"delta.appendOnly": "true"}
    made = lines(protocol(3, 7, **features), metadata(properties=properties))
    assert made[0]["protocol"]["readerFeatures"] == ["deletionVectors"]
    assert made[0]["protocol"]["writerFeatures"] == ["deletionVectors", "inCommitTimestamp", READ_ONLY]
    assert made[1]["metaData"]["configuration"] == {"delta.appendOnly": "true"}


def test_a_checkpoint_keeps_its_columns_and_every_value_but_those():
    actions = [protocol(), metadata(properties={"a": "b"}), add("x.parquet"), removed("y.parquet"), add("z.parquet")]
    before = checkpoint_bytes(*actions, row_group_size=2)
    after = opener().opened(CHECKPOINT, before)
    one, other = (parquet.read_table(io.BytesIO(data)) for data in (before, after))
    assert other.schema.names == one.schema.names
    was, now = one.to_pylist(), other.to_pylist()
    assert [(row["add"] or row["remove"] or {}).get("path") for row in now] == [
        None,
        None,
        *(f"s3a://vault/pool/t/{name}.parquet" for name in "xyz"),
    ]
    assert now[0]["protocol"]["writerFeatures"] == ["appendOnly", "invariants", READ_ONLY]
    for rows in (was, now):
        for row in rows:
            if row["protocol"]:
                row["protocol"] = row["protocol"]["minReaderVersion"]
            (row["add"] or row["remove"] or {}).pop("path", None)
    assert now == was


def test_a_checkpoint_of_an_old_writer_gets_room_for_features_and_loses_parsed_statistics():
    """Spark before Delta 2 wrote no columns of features, and pyarrow would spoil the timestamps of the statistics."""
    parsed = {"stats": "{}", "stats_parsed": {"numRecords": 1}}
    rows = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}, "add": None},
        {"protocol": None, "add": {"path": "x", **parsed}},
    ]
    before = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), before)
    [protocol_row, file_row] = parquet.read_table(
        io.BytesIO(opener().opened(CHECKPOINT, before.getvalue()))
    ).to_pylist()
    assert protocol_row["protocol"]["writerFeatures"] == ["appendOnly", "invariants", READ_ONLY]
    assert file_row["add"] == {"path": "s3a://vault/pool/t/x", "stats": "{}"}


def test_a_checkpoint_names_its_sidecars_by_what_they_have_become():
    """deltalake reads as many bytes of them as it says."""
    one, name = opener(), "3.5b8a.parquet"
    sidecar = one.opened(f"_sidecars/{name}", checkpoint_bytes(protocol(), metadata(), add("x.parquet")))
    said = {"path": f"s3a://lake/t/_delta_log/_sidecars/{name}", "sizeInBytes": 1, "modificationTime": 2}
    made = one.opened(f"{3:020d}.checkpoint.{UUID}.json", commit_bytes({"sidecar": said}))
    assert orjson.loads(made)["sidecar"] == {"path": name, "sizeInBytes": len(sidecar), "modificationTime": 2}


def test_the_same_bytes_lead_to_the_same_bytes():
    data = checkpoint_bytes(protocol(), metadata(), add("x.parquet"))
    assert opener().opened(CHECKPOINT, data) == opener().opened(CHECKPOINT, data)


def test_what_is_no_log_is_refused():
    for name, data in ((commit_name(3), b'{"add": 1}\n'), (CHECKPOINT, b"PAR1"), (commit_name(3), b"\xff")):
        with pytest.raises(LogUnreadable):
            opener().opened(name, data)
