"""`python -m lake.points.second_reader`: opens a table by deltalake, in a process of its own.

It takes {"uri": …, "options": …} on stdin and prints one line of JSON. deltalake brings threads and memory of its own,
and what stops it stops nothing else.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lake.delta.columns import columns_of

ROOT = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 300
_LONGEST_REASON = 300
_PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}
)


def read_by_deltalake(uri: str, options: Mapping[str, str]) -> dict[str, Any]:
    """`version`, `files`, `bytes`, `rows`, `columns`, `partition_columns`, `properties` and `features` of the writer as
    deltalake reads them, or the `reason` why it did not. `options` are its storage options."""
    asked = json.dumps({"uri": uri, "options": dict(options)})
    command = [sys.executable, "-m", "lake.points.second_reader"]
    try:
        done = subprocess.run(
            command, input=asked, capture_output=True, text=True, timeout=LONGEST_SECONDS, cwd=ROOT, env=_environment()
        )
        told: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"reason": f"It gave no answer in {LONGEST_SECONDS // 60} minutes."}
    except ValueError:
        return {"reason": f"Its process ended with exit code {done.returncode}."}
    return told


def _environment() -> dict[str, str]:
    """What any program needs, and nothing of AWS: deltalake would take an endpoint or a token of this process."""
    return {name: value for name, value in os.environ.items() if name.upper() in _PASSED_ON}


def read(uri: str, options: Mapping[str, str]) -> dict[str, Any]:
    """The same in this process. Raises whatever deltalake does."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from deltalake import DeltaTable, QueryBuilder

    table = DeltaTable(uri, storage_options=dict(options))
    counted = QueryBuilder().register("t", table).execute("SELECT count(*) AS n FROM t").read_all()
    QueryBuilder().register("t", table).execute("SELECT * FROM t LIMIT 1").read_all()  # counting may read no file
    metadata, files = table.metadata(), pa.table(table.get_add_actions())
    return {
        "version": table.version(),
        "files": files.num_rows,
        "bytes": pc.sum(files["size_bytes"]).as_py() or 0,
        "rows": int(counted["n"][0].as_py()),
        "columns": columns_of(json.loads(table.schema().to_json())),
        "partition_columns": list(metadata.partition_columns),
        "properties": dict(metadata.configuration),
        "features": list(table.protocol().writer_features or ()),
    }


def main() -> None:
    asked = json.load(sys.stdin)
    try:
        told = read(asked["uri"], asked["options"])
    except Exception as error:  # noqa: BLE001 - whatever deltalake raises is its answer
        told = {"reason": " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_REASON]}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
