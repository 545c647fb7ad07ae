"""Reading a version's `.crc` file: protocol, metaData and counts, written beside the commit by Spark.

Source: PROTOCOL.md of Delta 4.4.0, "Version Checksum File"; `inCommitTimestampOpt` is Spark's own field. `txnId` is the
transaction that committed the version, as in its `commitInfo`.
"""

from dataclasses import dataclass

import orjson

from lake.delta.facts import ReadingProblem
from lake.delta.names import checksum_name
from lake.delta.state import MetadataAction, ProtocolAction, StateReader, as_long, as_text


@dataclass(frozen=True, slots=True)
class Checksum:
    """The state of a table at `version` as its writer summed it up; what the file leaves out is None."""

    version: int
    protocol: ProtocolAction | None = None
    metadata: MetadataAction | None = None
    num_files: int | None = None
    table_bytes: int | None = None
    in_commit_timestamp: int | None = None
    transaction: str = ""
    problems: tuple[ReadingProblem, ...] = ()


def read_checksum(version: int, data: bytes) -> Checksum:
    """Read a `.crc` file. Never raises: what cannot be read is None, with a problem."""
    name = checksum_name(version)
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError:
        return Checksum(version, problems=(ReadingProblem(name, "The file is not whole JSON; it may be cut off."),))
    if not isinstance(content, dict):
        return Checksum(version, problems=(ReadingProblem(name, "The file is not a JSON object."),))
    return _checksum(version, content, StateReader(name))


def _checksum(version: int, content: dict[str, object], reader: StateReader) -> Checksum:
    protocol = reader.protocol(content["protocol"]) if content.get("protocol") is not None else None
    metadata = reader.metadata(content["metadata"]) if content.get("metadata") is not None else None
    return Checksum(
        version=version,
        protocol=protocol,
        metadata=metadata,
        num_files=_count(content, "numFiles", reader),
        table_bytes=_count(content, "tableSizeBytes", reader),
        in_commit_timestamp=_count(content, "inCommitTimestampOpt", reader),
        transaction=as_text(content.get("txnId")),
        problems=tuple(reader.problems),
    )


def _count(content: dict[str, object], name: str, reader: StateReader) -> int | None:
    value = content.get(name)
    number = as_long(value)
    if value is not None and (number is None or number < 0):
        reader.problems.append(ReadingProblem(reader.place, f"{name} is not a whole number from 0 to 2^63 - 1."))
        return None
    return number
