"""Self-test of a writer: paste this into the PySpark session that writes your tables; `spark` is that session.

It makes one small Delta table below the folder named at the end, lets two threads commit to it at the same time, and
says what it saw. It touches no other path and removes nothing. Levee then reads the table's log and the commit store.
"""

# Nothing within a function is separated by empty lines: an interactive Python ends a pasted function at the first one.

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

ROUNDS = 5
DYNAMODB_CLASS = "io.delta.storage.S3DynamoDBLogStore"
PREFIX = "io.delta.storage.S3DynamoDBLogStore."
COORDINATED = "delta.coordinatedCommits."


def setting(spark: Any, key: str) -> str:
    """What the session says of a key, "" where it says nothing; only keys that hold no secrets are asked for."""
    try:
        found = spark.conf.get(key, None)
    except Exception as error:
        return f"(not readable: {type(error).__name__})"
    return str(found or "")


def jvm_of(spark: Any) -> Any:
    """The session's JVM; None behind Spark Connect."""
    try:
        return spark._jvm
    except Exception:
        return None


def say_settings(spark: Any) -> None:
    """Print what decides where commits go."""
    print(f"Spark {spark.version}, {'classic' if jvm_of(spark) is not None else 'Spark Connect'}")
    keys = [f"spark.delta.logStore.{scheme}.impl" for scheme in ("s3a", "s3", "s3n")]
    keys += ["spark.delta.logStore.class", "spark.hadoop.fs.s3a.endpoint.region"]
    keys += [f"{start}{PREFIX}ddb.{name}" for start in ("spark.", "") for name in ("tableName", "region", "ttl")]
    keys += [f"spark.databricks.delta.properties.defaults.{COORDINATED[6:]}commitCoordinator-preview"]
    for key in keys:
        print(f"  {key} = {setting(spark, key) or '(not set)'}")


def short(error: BaseException) -> str:
    """One line of an error, of Java's own where Java raised it."""
    java = getattr(error, "java_exception", None)
    name, text = (java.getClass().getName(), java.getMessage()) if java is not None else (type(error).__name__, error)
    lines = str(text or "").strip().splitlines()
    return f"{name}: {lines[0][:300] if lines else ''}"


def attempt(act: Callable[[], None]) -> str:
    try:
        act()
    except Exception as error:
        return short(error)
    return ""


def together(acts: list[Callable[[], None]]) -> list[str]:
    """Begin all at the same moment; "" for each that came to its end, else its error."""
    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(attempt, acts))


def append(spark: Any, uri: str, row: int, properties: dict[str, str] | None = None) -> None:
    """One commit of one row; with `properties` the first, which makes the table."""
    writer = spark.range(row, row + 1, 1, 1).write.format("delta").mode("append" if row else "errorifexists")
    for key, value in (properties or {}).items():
        writer = writer.option(key, value)
    writer.save(uri)


def history(spark: Any, uri: str) -> dict[int, int]:
    """The version that each commit had read, by its own version; -1 where it had read none."""
    rows = spark.sql("DESCRIBE HISTORY delta.`" + uri.replace("`", "``") + "`").collect()
    return {int(row["version"]): -1 if row["readVersion"] is None else int(row["readVersion"]) for row in rows}


def rows_of(spark: Any, uri: str) -> list[int]:
    return sorted(int(row[0]) for row in spark.read.format("delta").load(uri).collect())


def rival_appends(spark: Any, uri: str) -> list[str]:
    """Two threads append at once, round by round; what is wrong afterwards, as sentences."""
    accepted, refused = [0, 1, 2], 0
    for number in range(ROUNDS):
        rows = [10 + 2 * number, 11 + 2 * number]
        errors = together([partial(append, spark, uri, row) for row in rows])
        accepted += [row for place, row in enumerate(rows) if not errors[place]]
        refused += sum(bool(error) for error in errors)
        print(f"Rivals, round {number + 1}: " + ", ".join(error or "accepted" for error in errors))
    found, read = rows_of(spark, uri), history(spark, uri)
    retried = sum(version > 0 and read[version] < version - 1 for version in read)
    print(f"{len(accepted)} commits were accepted, {refused} refused; {retried} had to give way and were tried again.")
    wrong = [] if set(accepted) <= set(found) else [f"rows were accepted and are lost: {set(accepted) - set(found)}"]
    wrong += [] if len(found) == len(set(found)) else [f"rows are there twice: {found}"]
    wrong += [] if sorted(read) == list(range(len(read))) else [f"versions are missing: {sorted(read)}"]
    wrong += [] if len(read) == len(found) else [f"{len(read)} versions hold {len(found)} commits"]
    return wrong + ([] if retried or refused else ["no rival ever had to give way, so that nothing was shown"])


def log_store_class(spark: Any, uri: str) -> str:
    """The class that writes the table's log, "" where the session does not say."""
    try:
        log = jvm_of(spark).org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, uri)
        store = log.store()
        store = store.getDelegate(log.logPath()) if hasattr(store, "getDelegate") else store
        store = store.logStoreImpl() if hasattr(store, "logStoreImpl") else store
        return str(store.getClass().getName())
    except Exception:
        return ""


def wrong_class(spark: Any, uri: str) -> list[str]:
    """Whether the session commits through another log store than DynamoDB's."""
    name = log_store_class(spark, uri)
    print(f"The log store of this session for this table: {name or '(not known)'}")
    if not name:
        return ["the log store's class could not be asked for here"]
    return [] if name == DYNAMODB_CLASS else [f"the log store is {name}, not {DYNAMODB_CLASS}"]


def not_coordinated(spark: Any, uri: str, properties: dict[str, str]) -> list[str]:
    """Whether the table came out without the properties that it was made with."""
    rows = spark.sql("DESCRIBE DETAIL delta.`" + uri.replace("`", "``") + "`").select("properties").collect()
    kept = rows[0][0] or {}
    return [f"the table has {key} = {kept.get(key)!r}" for key in properties if kept.get(key) != properties[key]]


def run_writer_test(spark: Any, token: str, uri: str, properties: dict[str, str]) -> bool:
    """Make the table and three commits, then the rivals; prints and returns whether all was as it has to be."""
    say_settings(spark)
    is_log_store, has_jvm = not properties, jvm_of(spark) is not None
    try:
        for row in range(3):
            append(spark, uri, row, properties if row == 0 else None)
        print(f"Three commits were made in {uri}")
        wrong = wrong_class(spark, uri) if is_log_store and has_jvm else not_coordinated(spark, uri, properties)
        wrong += rival_appends(spark, uri)
    except Exception as error:
        wrong = [short(error)]
    for one in wrong:
        print(f"FAILED: {one}.")
    if not wrong:
        print("PASSED in this session: no accepted commit was lost, and of two rivals one had to give way.")
    if is_log_store and not has_jvm:
        print("NOT PROVEN: behind Spark Connect the log store's class cannot be asked for.")
    print("One session cannot show that other sessions are held off: that is proven by the items in DynamoDB.")
    print(f"Have Levee look for them now: levee writer-test --check {token}")
    return not wrong
