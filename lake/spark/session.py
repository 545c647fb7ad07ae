"""A Spark session that knows Delta on S3A and the DynamoDB commit coordinator: its settings, and how it starts."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Delta's commit coordinator speaks through the AWS SDK v1, S3A 3.4 and newer through v2: each has its own class.
_SDK_V1_ENVIRONMENT = "com.amazonaws.auth.EnvironmentVariableCredentialsProvider"
_SDK_V2_ENVIRONMENT = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
_COORDINATOR = "spark.databricks.delta.coordinatedCommits.commitCoordinator.dynamodb"

# For a JVM that ends after a minute: the quick compiler alone spends 40 % less processor time than both. Its default
# code cache of 48 MB is too small for Spark, which then fails with "Out of space in CodeCache".
SHORT_LIVED_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"


@dataclass(frozen=True, slots=True)
class LakeEndpoint:
    """Where S3 is: a region, and an origin ("http://127.0.0.1:5000") where it is not AWS itself.

    With `environment_credentials` only AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY count; without, the standard chain.
    """

    region: str
    origin: str = ""
    environment_credentials: bool = False


def session_settings(
    endpoint: LakeEndpoint, *, jars: str, scratch: Path, cores: int = 2, java_options: str = ""
) -> dict[str, str]:
    """Return the settings of a local session: `jars` a class path entry, `scratch` for what Spark leaves on disk."""
    options = f'-Dderby.system.home="{scratch}" -XX:+UseSerialGC {java_options}'.rstrip()
    return _local_settings(jars, scratch, cores, options) | _delta_settings() | _s3a_settings(endpoint)


def _local_settings(jars: str, scratch: Path, cores: int, java_options: str) -> dict[str, str]:
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.extraClassPath": jars,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java_options,
        "spark.local.dir": str(scratch),
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        # A table's path may hold ${…}, which SQL would otherwise replace by settings and environment variables.
        "spark.sql.variable.substitute": "false",
    }


def _delta_settings() -> dict[str, str]:
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",
    }


def _s3a_settings(endpoint: LakeEndpoint) -> dict[str, str]:
    """S3A for `s3a://` and for `s3://`, which Hadoop itself does not know."""
    settings = {
        "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "spark.hadoop.fs.s3a.endpoint.region": endpoint.region,
    }
    if endpoint.origin:
        settings |= {
            "spark.hadoop.fs.s3a.endpoint": endpoint.origin,
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": str(not endpoint.origin.startswith("http://")).lower(),
        }
    if endpoint.environment_credentials:
        settings |= {
            "spark.hadoop.fs.s3a.aws.credentials.provider": _SDK_V2_ENVIRONMENT,
            f"{_COORDINATOR}.awsCredentialsProviderName": _SDK_V1_ENVIRONMENT,
        }
    return settings


def start_session(settings: dict[str, str], name: str = "levee") -> Any:
    """Start (or return) this process's SparkSession; a cold start takes about 8 s. pyspark is imported only here."""
    from pyspark.sql import SparkSession

    # py4j tells of each connection it closes, at exit into streams that are closed already.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    builder = SparkSession.builder.appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def delta_path(uri: str) -> str:
    """Quote a table's location for SQL as delta.`…`; ValueError for control characters, which no table's path holds."""
    if not uri or any(ord(character) < 32 or ord(character) == 127 for character in uri):
        raise ValueError(f"{uri!r} is no table location: it is empty or holds control characters.")
    return f"delta.`{uri.replace('`', '``')}`"


def quote_text(text: str) -> str:
    """Quote a text for SQL as '…': a backslash and a quote are escaped; ValueError for control characters."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ValueError(f"{text!r} holds control characters, which a SQL text here never needs.")
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
