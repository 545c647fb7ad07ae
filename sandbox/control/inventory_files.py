"""The files of an inventory: CSV in gzip, ORC and Parquet, with the schema lines that their manifest has."""

import csv
import gzip
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

from lake.backup.objects import encoded_key
from sandbox.control.inventory_rows import Column, Row

ENDINGS = {"CSV": "csv.gz", "ORC": "orc", "Parquet": "parquet"}
_ARROW = {"string": pa.string(), "bigint": pa.int64(), "boolean": pa.bool_(), "timestamp": pa.timestamp("ms")}
_PARQUET = {
    "string": "binary {} (UTF8)",
    "bigint": "int64 {}",
    "boolean": "boolean {}",
    "timestamp": "int64 {} (TIMESTAMP_MILLIS)",
}


def schema_line(file_format: str, columns: Sequence[Column]) -> str:
    """The manifest's fileSchema."""
    if file_format == "CSV":
        return ", ".join(column.csv_name for column in columns)
    if file_format == "ORC":
        return f"struct<{','.join(f'{column.name}:{column.kind}' for column in columns)}>"
    inner = "".join(f"  {_need(column)} {_PARQUET[column.kind].format(column.name)};" for column in columns)
    return f"message s3.inventory {{{inner}}}"


def file_of(file_format: str, columns: Sequence[Column], rows: Sequence[Row]) -> bytes:
    """One file's bytes. The times of ORC and Parquet carry no zone and are UTC; keys are encoded in CSV alone."""
    if file_format == "CSV":
        lines = io.StringIO()
        writer = csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([_text(column, row.get(column.name)) for column in columns] for row in rows)
        return gzip.compress(lines.getvalue().encode(), mtime=0)
    fields = [pa.field(column.name, _ARROW[column.kind], nullable=_need(column) == "optional") for column in columns]
    plain = [{name: _without_zone(value) for name, value in row.items()} for row in rows]
    table = pa.Table.from_pylist(plain, schema=pa.schema(fields))
    sink = io.BytesIO()
    if file_format == "ORC":
        pyarrow.orc.write_table(table, sink, compression="zlib")
    else:
        pyarrow.parquet.write_table(table, sink, compression="snappy")
    return sink.getvalue()


def _need(column: Column) -> str:
    return "required" if column.name in {"bucket", "key"} else "optional"


def _text(column: Column, value: Any) -> str:
    if value is None:
        return ""
    if column.name == "key":
        return encoded_key(str(value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
    return str(value)


def _without_zone(value: Any) -> Any:
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) else value
