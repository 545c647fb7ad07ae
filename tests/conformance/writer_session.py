"""A writer's own session, in a process of its own: `settings` and `statements` of standard input, nothing else."""

import json
import sys


def main() -> None:
    from lake.spark.session import start_session

    given = json.load(sys.stdin)
    spark = start_session(given["settings"], "writer")
    for statement in given["statements"]:
        spark.sql(statement).collect()
    spark.stop()


if __name__ == "__main__":
    main()
