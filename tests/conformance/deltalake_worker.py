"""Runs in an environment of its own with deltalake 1.6.0: one JSON request on stdin, its answer on stdout."""

import json
import sys
from typing import Any

import deltalake
from arro3.core import Array, DataType, Table


def append(uri: str, options: dict[str, str], ids: list[int]) -> dict[str, Any]:
    """Write these ids as one commit; creates the table where there is none."""
    rows = Table.from_pydict({"id": Array(ids, type=DataType.int64())})
    deltalake.write_deltalake(uri, rows, mode="append", storage_options=options)
    return {"version": deltalake.DeltaTable(uri, storage_options=options).version()}


def read(uri: str, options: dict[str, str]) -> dict[str, Any]:
    """Open the table, which by itself repairs its newest commit, and count its rows."""
    table = deltalake.DeltaTable(uri, storage_options=options)
    found = deltalake.QueryBuilder().register("t", table).execute("select count(*) as rows from t").read_all()
    return {"version": table.version(), "rows": found.column("rows")[0].as_py()}


def conflict(uri: str, options: dict[str, str]) -> dict[str, Any]:
    """Append through a table that was opened before another commit, which it has to read first."""
    late = deltalake.DeltaTable(uri, storage_options=options)
    append(uri, options, [1])
    rows = Table.from_pydict({"id": Array([2], type=DataType.int64())})
    deltalake.write_deltalake(late, rows, mode="append")
    return {"version": late.version()}


def vacuum(uri: str, options: dict[str, str]) -> dict[str, Any]:
    """Replace every row, and delete the files that held the former ones."""
    rows = Table.from_pydict({"id": Array([1, 2], type=DataType.int64())})
    deltalake.write_deltalake(uri, rows, mode="overwrite", storage_options=options)
    table = deltalake.DeltaTable(uri, storage_options=options)
    gone = table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    return {"version": table.version(), "files": len(gone)}


def main() -> None:
    request = json.load(sys.stdin)
    work = {"append": append, "read": read, "conflict": conflict, "vacuum": vacuum}[request.pop("do")]
    try:
        answer = work(**request)
    except Exception as error:  # noqa: BLE001 - whatever deltalake raises is what the tests ask for
        answer = {"error": f"{type(error).__name__}: {error}"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
