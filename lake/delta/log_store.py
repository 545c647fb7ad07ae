"""Items of S3DynamoDBLogStore and of delta-rs up to 1.6.0: one for each commit, in the partition of its table's path.

Source: `ExternalCommitEntry` and `S3DynamoDBLogStore` of delta-storage-s3-dynamodb 2.2 to 4.4.
"""

from lake.delta.facts import LogStoreEntry
from lake.delta.names import NameKind, commit_name, parse_name
from lake.delta.uri import TableUri
from lake.delta.wire import AttributeReader, shown


def expected_keys() -> tuple[tuple[str, str, str], ...]:
    """The key schema such a DynamoDB table must have: (attribute, HASH or RANGE, type)."""
    return (("tablePath", "HASH", "S"), ("fileName", "RANGE", "S"))


def read_entry(item: object) -> LogStoreEntry:
    """Read an item in wire form. Never raises: what is not as the protocol has it is named in `problems`.

    `temp_path` is None where following it could leave `_delta_log/`.
    """
    reader = AttributeReader(item)
    table_path = reader.text("tablePath") or ""
    file_name = reader.text("fileName") or ""
    version = _version(reader, file_name)
    return LogStoreEntry(
        table_path=table_path,
        file_name=file_name,
        version=version,
        temp_path=_temp_path(reader, version),
        complete=_complete(reader),
        expire_time=reader.integer("expireTime", required=False),
        commit_time=reader.integer("commitTime", required=False),
        problems=tuple(reader.problems),
    )


def place_of(entry: LogStoreEntry) -> TableUri:
    """The table that an entry speaks of. Raises ValueError where its `tablePath` names no place on S3.

    Hadoop's writers store the key as it is, delta-rs stores a URL: `s3://b/my%20table` is the key `my%20table` of the
    first and `my table` of the second. The temp file tells them apart; only Hadoop's lies under `.tmp/`.
    """
    by_hadoop = (entry.temp_path or "").startswith(".tmp/")
    return TableUri.parse(entry.table_path) if by_hadoop else TableUri.parse_url(entry.table_path)


def _version(reader: AttributeReader, file_name: str) -> int | None:
    parsed = parse_name(file_name)
    if parsed.kind is NameKind.COMMIT:
        return parsed.version
    if file_name:
        reader.note("fileName", f"is {shown(file_name)}, not a commit's name such as {commit_name(0)}.")
    return None


def _temp_path(reader: AttributeReader, version: int | None) -> str | None:
    path = reader.text("tempPath")
    if path is None:
        return None
    if not is_inside_log(path):
        reader.note("tempPath", f"is {shown(path)}, which is no plain path below _delta_log/.")
        return None
    parsed = parse_name(path)
    if parsed.kind is not NameKind.TEMP or not parsed.unique:
        reader.note("tempPath", f"is {shown(path)}, not the name of a temp file.")
    elif version is not None and parsed.version not in (None, version):
        reader.note("tempPath", f"is {shown(path)}, the temp file of another version.")
    return path


def _complete(reader: AttributeReader) -> bool | None:
    """Upstream compares the text, so a BOOL, or "True", means something else to each program that reads it."""
    text = reader.text("complete")
    if text in ("true", "false"):
        return text == "true"
    if text is not None:
        reader.note("complete", f'is {shown(text)}, not the text "true" or "false".')
    return None


def is_inside_log(path: str) -> bool:
    """Whether a relative path taken from an item names something below `_delta_log/` and nothing else."""
    parts = path.split("/")
    return path.isprintable() and "\\" not in path and not any(part in ("", ".", "..") for part in parts)
