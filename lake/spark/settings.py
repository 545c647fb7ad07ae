"""What a Spark worker is started with: Spark's settings and the process's environment, by deployment."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lake.spark import jars
from lake.spark.deployment import LOCAL_MASTER, LOG_STORE_CLASS, LOG_STORE_COORDINATE, has_log_store_class, is_in_driver
from lake.spark.errors import SparkRefused
from lake.spark.liveness import EXIT_WHERE_MEMORY_ENDS
from lake.spark.session import LOOPBACK, SDK_V1_ENVIRONMENT, LakeEndpoint, base_settings

ROOT = Path(__file__).resolve().parents[2]
IDLE_SECONDS = 600.0
LONGEST_SOCKET_FOLDER = 60
"""The path of a socket has 107 bytes at most (unix(7)), and Spark names it by 42."""

_LOG_STORE = "spark.io.delta.storage.S3DynamoDBLogStore"
# What is shuffled passes no network, and no task is done again, so that sums over it tell nothing.
_ONE_MACHINE = LOOPBACK | {
    # Compressing it costs more than the disk does, and holds up the collection of garbage while native code runs.
    "spark.shuffle.compress": "false",
    "spark.shuffle.checksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    # Where it is to answer a mismatch, the sum is worked out all the same.
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}
# Half a minute instead of many for an endpoint that nobody serves.
_S3A_RETRIES = {
    "spark.hadoop.fs.s3a.connection.establish.timeout": "5s",
    "spark.hadoop.fs.s3a.attempts.maximum": "3",
    "spark.hadoop.fs.s3a.retry.limit": "3",
}
_SHORT_LIVED = (
    "-XX:+UseParallelGC",
    # Four times as many calls before code is compiled for good: most of Spark is called for few jobs of seconds, and
    # compiling it takes processors from them. Loops count apart, so that a join of millions is compiled as soon.
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
)
# Variables by which a developer's own Spark would get into ours, or another process's session into this one.
_FOREIGN = ("SPARK_HOME", "SPARK_REMOTE", "SPARK_MASTER", "SPARK_CONNECT_MODE", "SPARK_CONNECT_MODE_ENABLED")
_FOREIGN_PYSPARK = ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "PYSPARK_PIN_THREAD")
_AWS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@dataclass(frozen=True, slots=True)
class Credentials:
    """An AWS key, and the session token of a temporary one."""

    key_id: str
    secret: str = field(repr=False)
    session_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class LogStore:
    """The DynamoDB table through which Delta's S3DynamoDBLogStore commits; the class takes a region, no endpoint."""

    table: str
    region: str


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """One worker's world; another endpoint, credential or log store needs another worker, as Hadoop caches all three.

    Without `credentials` the worker's own AWS chain counts. `idle_seconds` without a job end it.
    """

    endpoint: LakeEndpoint
    master: str = LOCAL_MASTER
    credentials: Credentials | None = None
    extra_jars: tuple[Path, ...] = ()
    log_store: LogStore | None = None
    idle_seconds: float = IDLE_SECONDS
    java_options: str = ""


def require_log_store_class(extra_jars: tuple[Path, ...]) -> None:
    """Raise SparkRefused where the class of the log store is not among these jars."""
    if not has_log_store_class(extra_jars):
        raise SparkRefused(
            f"Spark's class path lacks {LOG_STORE_CLASS}, through which this table's commits go: download the jar of "
            f"{LOG_STORE_COORDINATE} and name its file in LEVEE_SPARK_EXTRA_JARS."
        )


def class_path(settings: WorkerSettings, home: Path) -> str:
    """Return the pinned jars and the extra ones, as a class path."""
    return ":".join([jars.class_path(home), *map(str, settings.extra_jars)])


def session_conf(settings: WorkerSettings, home: Path, scratch: Path, archive_option: str = "") -> dict[str, str]:
    """Return all of Spark's settings."""
    # Delta retries a lost commit ten million times; a version that cannot be written must come to light.
    commit_attempts = {"spark.databricks.delta.maxCommitAttempts": "20"}
    warnings = {"spark.log.level": "WARN"}
    options = f'-Dderby.system.home="{scratch}" -XX:ErrorFile={scratch}/hs_err.log {EXIT_WHERE_MEMORY_ENDS}'
    options = " ".join(part for part in (options, *_SHORT_LIVED, archive_option, settings.java_options) if part)
    conf = base_settings(settings.endpoint, jars=class_path(settings, home), scratch=scratch, java_options=options)
    conf |= {"spark.master": settings.master} | _log_store(settings) | _S3A_RETRIES | commit_attempts | warnings
    return conf | (_one_machine(scratch) if is_in_driver(settings.master) else _executor_settings(settings, home))


def _one_machine(scratch: Path) -> dict[str, str]:
    """Python workers are reached through files of the session's own folder, where their names are not too long."""
    if len(str(scratch)) > LONGEST_SOCKET_FOLDER:
        return _ONE_MACHINE
    sockets = "spark.python.unix.domain.socket"
    return _ONE_MACHINE | {f"{sockets}.enabled": "true", f"{sockets}.dir": str(scratch)}


def _log_store(settings: WorkerSettings) -> dict[str, str]:
    store = settings.log_store
    if store is None:
        return {}
    conf = {f"spark.delta.logStore.{scheme}.impl": LOG_STORE_CLASS for scheme in ("s3a", "s3")}
    conf |= {f"{_LOG_STORE}.ddb.tableName": store.table, f"{_LOG_STORE}.ddb.region": store.region}
    if settings.endpoint.environment_credentials:
        conf[f"{_LOG_STORE}.credentials.provider"] = SDK_V1_ENVIRONMENT
    return conf


def _executor_settings(settings: WorkerSettings, home: Path) -> dict[str, str]:
    """Executors on other machines fetch the jars from the driver, and have its credentials in their environment."""
    files = [*sorted((home / "jars" / "spark").glob("*.jar")), *settings.extra_jars]
    conf = {"spark.jars": ",".join(map(str, files))}
    for name, value in _credential_variables(settings.credentials).items():
        conf[f"spark.executorEnv.{name}"] = value
    return conf


def environment(settings: WorkerSettings, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the worker's environment: ours, without what would lead it to another Spark or another AWS account."""
    foreign = {*_FOREIGN, *_FOREIGN_PYSPARK}
    if settings.credentials is not None:
        foreign |= {*_AWS, "AWS_PROFILE"}
    kept = {name: value for name, value in environ.items() if name not in foreign}
    own = {
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        # The coordinator's DynamoDB client would try a dead endpoint eleven times.
        "AWS_MAX_ATTEMPTS": "4",
        # Which SDK the coordinator uses is Delta's choice, of which it would warn with its whole stack.
        "AWS_JAVA_V1_DISABLE_DEPRECATION_ANNOUNCEMENT": "true",
    }
    if is_in_driver(settings.master):
        own["SPARK_LOCAL_IP"] = "127.0.0.1"
    return kept | own | _credential_variables(settings.credentials)


def _credential_variables(credentials: Credentials | None) -> dict[str, str]:
    if credentials is None:
        return {}
    values = (credentials.key_id, credentials.secret, credentials.session_token)
    return {name: value for name, value in zip(_AWS, values, strict=True) if value}
