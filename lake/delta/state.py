"""The two actions that say how a table may be read: `protocol` and `metaData`.

They come as JSON from commits, `.crc` files and V2 checkpoints, and as rows of parquet from checkpoints, where a map is
a list of pairs. Source: PROTOCOL.md of Delta 4.4.0.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from lake.delta.facts import ReadingProblem
from lake.delta.names import MAX_VERSION

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ProtocolAction:
    """A `protocol` action: what a reader and a writer must know."""

    reader_version: int
    writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataAction:
    """A `metaData` action without its schema; `properties` is its `configuration`."""

    table_id: str
    name: str = ""
    partition_columns: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StateParts:
    """What one object says of protocol and metaData as of `version`; None where it says nothing."""

    version: int
    protocol: ProtocolAction | None = None
    metadata: MetadataAction | None = None
    problems: tuple[ReadingProblem, ...] = ()


def as_long(value: object) -> int | None:
    """The value if it is a whole number that fits signed 64 bits, else None."""
    if type(value) is int and -MAX_VERSION - 1 <= value <= MAX_VERSION:
        return value
    return None


def as_text(value: object) -> str:
    """The value if it is a text, else an empty one. NUL becomes U+FFFD, because no database text can hold it."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else ""


class StateReader:
    """Reads the two actions out of decoded values and gathers what was wrong with them under one `place`."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.problems: list[ReadingProblem] = []

    def protocol(self, value: object) -> ProtocolAction | None:
        """A decoded `protocol`; None, with a problem, where its versions cannot be read."""
        content = self._mapping("protocol", value)
        if content is None:
            return None
        reader, writer = as_long(content.get("minReaderVersion")), as_long(content.get("minWriterVersion"))
        if reader is None or writer is None:
            self._note("protocol has no whole numbers minReaderVersion and minWriterVersion.")
            return None
        return ProtocolAction(
            reader, writer, self._texts(content, "readerFeatures"), self._texts(content, "writerFeatures")
        )

    def metadata(self, value: object) -> MetadataAction | None:
        """A decoded `metaData`; parts of it that cannot be read are left out with a problem each."""
        content = self._mapping("metaData", value)
        if content is None:
            return None
        table_id = as_text(content.get("id"))
        if not table_id:
            self._note("metaData has no text id.")
        return MetadataAction(
            table_id=table_id,
            name=as_text(content.get("name")),
            partition_columns=self._texts(content, "partitionColumns"),
            properties=self._properties(content.get("configuration")),
            created_at=self._time(content.get("createdTime")),
        )

    def _mapping(self, what: str, value: object) -> dict[str, object] | None:
        if isinstance(value, dict):
            return value
        self._note(f"{what} is not an object.")
        return None

    def _texts(self, content: dict[str, object], name: str) -> tuple[str, ...]:
        value = content.get(name)
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(as_text(item) for item in value)
        self._note(f"{name} is not a list of texts.")
        return ()

    def _properties(self, value: object) -> dict[str, str]:
        pairs = list(value.items()) if isinstance(value, dict) else value
        if pairs is None:
            return {}
        if isinstance(pairs, list) and all(_is_text_pair(pair) for pair in pairs):
            return {as_text(key): as_text(text) for key, text in pairs}
        self._note("configuration is not a map of texts.")
        return {}

    def _time(self, value: object) -> datetime | None:
        if value is None:
            return None
        milliseconds = as_long(value)
        if milliseconds is not None:
            with suppress(OverflowError):
                return EPOCH + timedelta(milliseconds=milliseconds)
        self._note("createdTime is not a time in milliseconds.")
        return None

    def _note(self, reason: str) -> None:
        self.problems.append(ReadingProblem(self.place, reason))


def _is_text_pair(pair: object) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
