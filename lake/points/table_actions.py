"""The actions of a table itself, by the log that leads to one version of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from lake.delta.file_actions import LogUnreadable, commit_rows, unreadable_checkpoint
from lake.delta.names import NameKind, parse_name

_OF_THE_TABLE = ("metaData", "protocol")


def newest_actions(names: Iterable[str], open_: Callable[[str], BinaryIO]) -> dict[str, Mapping[str, Any]]:
    """The newest `metaData` and `protocol` of a log of one checkpoint, or the first commit, and the commits after it.

    Raises LogUnreadable where the log lacks one.
    """
    found: dict[str, Mapping[str, Any]] = {}
    kinds = {name: parse_name(name) for name in names}
    commits = sorted((name for name, kind in kinds.items() if kind.kind == NameKind.COMMIT), reverse=True)
    # Of a checkpoint in parts the first one has these actions; its sidecars, which have no version, have none.
    for name in (*commits, *sorted(name for name, kind in kinds.items() if kind.format)):
        wanted = [one for one in _OF_THE_TABLE if one not in found]
        version = kinds[name].version
        if version is None or not wanted:
            break
        with open_(name) as file:
            for row in _rows(version, name, file, wanted):
                found |= {one: row[one] for one in wanted if row.get(one)}
    if len(found) < len(_OF_THE_TABLE):
        raise LogUnreadable("The log has no protocol, or no metadata.")
    return found


def _rows(version: int, name: str, file: BinaryIO, wanted: Sequence[str]) -> list[dict[str, Any]]:
    """The lines of a commit, or of a checkpoint those of the wanted actions, in which nothing is null."""
    if name.endswith(".json"):
        return list(commit_rows(version, file.read()))
    import pyarrow.parquet as pq

    with unreadable_checkpoint(version):
        parquet = pq.ParquetFile(file)
        columns = [one for one in wanted if one in parquet.schema_arrow.names]
        table = parquet.read(columns=columns)
        return [
            {one: _plain(row)} for one in columns for row in table[one].drop_null().to_pylist(maps_as_pydicts="strict")
        ]


def _plain(value: Any) -> Any:
    """A struct of Parquet as JSON would have it."""
    return {name: _plain(one) for name, one in value.items() if one is not None} if isinstance(value, dict) else value
