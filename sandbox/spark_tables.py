"""The sample tables that real Spark writes, in a process of its own that ends with its JVM."""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, TextIO

from lake.delta.uri import TableUri
from lake.spark.jars import JarsError, class_path, fetch
from lake.spark.session import SHORT_LIVED_JVM, LakeEndpoint, session_settings, start_session
from lake.spark.sql import delta_path, property_list
from sandbox.client import REGION, Client
from sandbox.coordinated import lose_published, lose_staged, take_back_backfill
from sandbox.delta_files import Shape, append, commit_bytes, creation, data_file
from sandbox.ground import DELTA_COMMITS, FINANCE, PROD, RAW
from sandbox.log_store_writer import file_name

PREFIX = "delta.coordinatedCommits"
THREADS = 3


@dataclass(frozen=True, slots=True)
class SparkLake:
    """Spark and the sandbox it writes to; safe to share between threads."""

    spark: Any
    client: Client

    def sql(self, statement: str) -> list[Any]:
        rows: list[Any] = self.spark.sql(statement).collect()
        return rows

    def create(self, uri: str, columns: str, properties: dict[str, str] | None = None, clause: str = "") -> None:
        options = f"TBLPROPERTIES {property_list(properties)}" if properties else ""
        self.sql(f"CREATE TABLE {delta_path(uri)} ({columns}) USING delta {clause} {options}")

    def insert(self, uri: str, select: str, times: int = 1, into: str = "") -> None:
        """`into` names the columns as (a, b), where others than these have values of their own."""
        for _ in range(times):
            self.sql(f"INSERT INTO {delta_path(uri)} {into} SELECT {select} FROM range(20)")  # noqa: S608 - quoted, ours

    def coordinator(self) -> dict[str, str]:
        """Return the two properties that put a table under the sandbox's commit coordinator."""
        where = json.dumps({"dynamoDBTableName": DELTA_COMMITS, "dynamoDBEndpoint": self.client.dynamodb_origin})
        return {f"{PREFIX}.commitCoordinator-preview": "dynamodb", f"{PREFIX}.commitCoordinatorConf-preview": where}

    def enable(self, uri: str) -> None:
        self.sql(f"ALTER TABLE {delta_path(uri)} SET TBLPROPERTIES {property_list(self.coordinator())}")

    def drop(self, uri: str) -> None:
        self.sql(f"ALTER TABLE {delta_path(uri)} DROP FEATURE 'coordinatedCommits-preview'")


CRM_COLUMNS, CRM_ROWS = "id BIGINT, name STRING", "id, concat('account ', id)"
TICKET_COLUMNS, TICKET_ROWS = "id BIGINT, opened_at TIMESTAMP, status STRING", "id, current_timestamp(), 'open'"


def customers(lake: SparkLake, uri: str) -> None:
    lake.create(uri, CRM_COLUMNS)
    lake.insert(uri, CRM_ROWS, times=2)


def contacts(lake: SparkLake, uri: str) -> None:
    lake.create(uri, CRM_COLUMNS, {"delta.enableDeletionVectors": "true"})
    lake.insert(uri, CRM_ROWS)
    lake.sql(f"DELETE FROM {delta_path(uri)} WHERE id % 7 = 3")  # noqa: S608 - quoted, and our own


def regions(lake: SparkLake, uri: str) -> None:
    lake.create(uri, "id BIGINT, region STRING", clause="PARTITIONED BY (region)")
    lake.insert(uri, "id, element_at(array('emea', 'apac', 'amer'), CAST(id % 3 AS INT) + 1)")


def app_logs(lake: SparkLake, uri: str) -> None:
    """A long history whose older part was cleaned away after Spark's checkpoint at version 20."""
    shape, start, (bucket, key) = Shape(("id long", "line string")), time.time() - 40 * 86_400, _place(uri)
    for version in range(19):
        at = start + version * 2 * 86_400
        actions = creation(shape, "app_logs", at)
        if version:
            file = data_file(shape, at, 20, version)
            lake.client.put(bucket, f"{key}/{file.path}", file.data, modified_at=at)
            actions = append(version, [file], at)
        lake.client.put(bucket, f"{key}/_delta_log/{file_name(version)}", commit_bytes(actions), modified_at=at)
    lake.sql(f"ALTER TABLE {delta_path(uri)} SET TBLPROPERTIES ('delta.checkpointInterval' = '10')")
    lake.insert(uri, "id, 'ready'", times=3)
    for version in range(20):
        lose_published(lake.client, bucket, key, version)


def accounts(lake: SparkLake, uri: str) -> None:
    lake.create(uri, CRM_COLUMNS, lake.coordinator())
    lake.insert(uri, CRM_ROWS, times=4)


def opportunities(lake: SparkLake, uri: str) -> None:
    """Three commits that the coordinator accepted and nobody backfilled."""
    lake.create(uri, CRM_COLUMNS, lake.coordinator())
    lake.insert(uri, CRM_ROWS, times=5)
    take_back_backfill(lake.client, *_place(uri), [3, 4, 5])


def tickets(lake: SparkLake, uri: str) -> None:
    """Plain first, then upgraded."""
    lake.create(uri, TICKET_COLUMNS)
    lake.insert(uri, TICKET_ROWS)
    lake.enable(uri)
    lake.insert(uri, TICKET_ROWS, times=2)


def messages(lake: SparkLake, uri: str) -> None:
    """Coordinated once, and downgraded again."""
    lake.create(uri, TICKET_COLUMNS, lake.coordinator())
    lake.insert(uri, TICKET_ROWS, times=2)
    lake.drop(uri)
    lake.insert(uri, TICKET_ROWS)


def csat_scores(lake: SparkLake, uri: str) -> None:
    """K6: accepted, the list cleared, and the published file gone; the staged file survives."""
    lake.create(uri, CRM_COLUMNS, lake.coordinator())
    lake.insert(uri, CRM_ROWS, times=2)
    lose_published(lake.client, *_place(uri), 2)


def daily_close(lake: SparkLake, uri: str) -> None:
    """K7: an accepted commit whose staged file is gone before it was backfilled."""
    lake.create(uri, CRM_COLUMNS, lake.coordinator())
    lake.insert(uri, CRM_ROWS, times=2)
    take_back_backfill(lake.client, *_place(uri), [2])
    lose_staged(lake.client, *_place(uri), 2)


def _place(uri: str) -> tuple[str, str]:
    """The bucket and the key of a table."""
    parsed = TableUri.parse(uri)
    return parsed.bucket, parsed.key


Recipe = Callable[[SparkLake, str], None]

# The longest first: threads take them in this order.
RECIPES: tuple[tuple[str, Recipe, str], ...] = (
    (f"s3a://{PROD}/warehouse/crm/opportunities", opportunities, "coordinated, three commits not backfilled"),
    (f"s3a://{PROD}/warehouse/support/messages", messages, "coordinated once, downgraded again"),
    (f"s3a://{RAW}/events/app_logs", app_logs, "a checkpoint and a cleaned-up log"),
    (f"s3a://{PROD}/warehouse/support/tickets", tickets, "upgraded to coordinated commits"),
    (f"s3a://{PROD}/warehouse/crm/accounts", accounts, "coordinated, healthy"),
    (f"s3a://{PROD}/warehouse/crm/contacts", contacts, "deletion vectors"),
    (f"s3a://{PROD}/warehouse/support/csat_scores", csat_scores, "coordinated, a lost file"),
    (f"s3a://{FINANCE}/reporting/daily_close", daily_close, "coordinated, a lost staged file"),
    (f"s3a://{PROD}/warehouse/crm/customers", customers, "plain, one driver at a time"),
    (f"s3a://{RAW}/reference/regions", regions, "plain, partitioned by region"),
)


def make_tables(lake: SparkLake, say: Callable[[str], None]) -> None:
    """Make every table, several at a time; the first error ends it."""

    def make(entry: tuple[str, Recipe, str]) -> None:
        uri, recipe, says = entry
        recipe(lake, uri)
        say(f"{uri}: {says}")

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(make, RECIPES))


def main() -> int:
    """Make the Spark tables of a sandbox that is being served; stdin is the leash: its end ends this process group."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.spark_tables")
    parser.add_argument("--origin", required=True)
    parser.add_argument("--home", type=Path, required=True)
    options = parser.parse_args()
    Thread(target=_die_with_parent, daemon=True).start()
    out = own_stdout(options.home / "sandbox" / "spark.log")
    try:
        fetch(options.home, say=lambda line: _say(out, line))
    except JarsError as error:
        _say(out, f"the tables that Spark writes are left out: {error}")
        return 1
    lake = start_spark(options.origin, options.home, cores=4)
    make_tables(lake, lambda line: _say(out, line))
    lake.spark.stop()
    return 0


def start_spark(origin: str, home: Path, *, cores: int) -> SparkLake:
    """Start this process's JVM and Spark on a sandbox that is being served."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox", "SPARK_LOCAL_IP": "127.0.0.1"}
    endpoint = LakeEndpoint(REGION, origin, environment_credentials=True)
    scratch = home / "sandbox" / "spark"
    settings = session_settings(
        endpoint, jars=class_path(home), scratch=scratch, cores=cores, java_options=SHORT_LIVED_JVM
    )
    return SparkLake(start_session(settings, "levee-sandbox"), Client(origin))


def _die_with_parent() -> None:
    """Wait for the end of stdin, then take this process's own group along, which holds the JVM."""
    while os.read(0, 1):
        continue
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)


def own_stdout(log: Path) -> TextIO:
    """Keep the real stdout for our lines; what Spark and the JVM print goes to a file."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    with log.open("wb") as target:
        os.dup2(target.fileno(), 1)
        os.dup2(target.fileno(), 2)
    return out


def _say(out: TextIO, line: str) -> None:
    out.write(f"sandbox: {line}\n")


if __name__ == "__main__":
    sys.exit(main())
