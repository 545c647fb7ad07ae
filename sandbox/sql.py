"""Run SQL on the sandbox's tables by real Spark: `python -m sandbox.sql [--home DIRECTORY] STATEMENT…`.

Prints the rows of each answer, values parted by tabs. Needs `make run` beside it.
"""

import argparse
import os
import sys
from pathlib import Path

from sandbox.spark_tables import own_stdout, start_spark


def main() -> int:
    """Exit 1 with Spark's own words where a statement fails; all else that Spark says goes to sandbox/sql.log."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.sql", description="SQL on the sandbox's tables.")
    parser.add_argument("--home", type=Path, default=Path(os.environ.get("LEVEE_HOME") or "var"))
    parser.add_argument("statements", nargs="+", metavar="STATEMENT")
    options = parser.parse_args()
    folder = options.home.resolve() / "sandbox"
    if not (folder / "endpoint").exists():
        sys.stderr.write(f"The sandbox does not run: there is no {folder / 'endpoint'}. Start `make run`.\n")
        return 1
    errors = os.fdopen(os.dup(2), "w")
    out = own_stdout(folder / "sql.log")
    try:
        lake = start_spark((folder / "endpoint").read_text(), options.home.resolve(), cores=2)
        for statement in options.statements:
            for row in lake.sql(statement):
                out.write("\t".join(map(str, row)) + "\n")
        lake.spark.stop()
    except Exception as error:  # noqa: BLE001 - whatever Spark says of a statement is its answer
        errors.write(str(error).partition("\n\tat ")[0] + f"\n{folder / 'sql.log'} has the rest.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
