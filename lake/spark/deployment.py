"""Where Spark runs: in the worker's own JVM or on a cluster."""

import re
from collections.abc import Mapping
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from lake.spark.errors import SparkRefused

LOCAL_MASTER = "local[*]"
LOG_STORE_CLASS = "io.delta.storage.S3DynamoDBLogStore"
LOG_STORE_COORDINATE = "io.delta:delta-storage-s3-dynamodb:4.4.0"

_LOCAL = re.compile(r"local(\[(\*|\d+)(, *\d+)?\])?")
_CLUSTER = re.compile(r"(spark://|k8s://|yarn$)")


def is_in_driver(master: str) -> bool:
    """Whether the executors of a master are in the driver's own JVM."""
    return _LOCAL.fullmatch(master) is not None


def read_master(environ: Mapping[str, str]) -> str:
    """Read SPARK_MASTER; SparkRefused where it is no address."""
    master = environ.get("SPARK_MASTER", "").strip() or LOCAL_MASTER
    if not (is_in_driver(master) or _CLUSTER.match(master)):
        raise SparkRefused(f"SPARK_MASTER is {master!r}: write local[N], spark://host:port, yarn or k8s://….")
    return master


def read_extra_jars(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Read LEVEE_SPARK_EXTRA_JARS, paths of jar files with commas between; SparkRefused for one that cannot be read."""
    paths = tuple(Path(part.strip()) for part in environ.get("LEVEE_SPARK_EXTRA_JARS", "").split(",") if part.strip())
    for path in paths:
        if not path.is_file():
            raise SparkRefused(f"LEVEE_SPARK_EXTRA_JARS names {path}, which is no file: correct the path.")
        if any(character in str(path) for character in ":*"):
            raise SparkRefused(f"LEVEE_SPARK_EXTRA_JARS names {path}: a class path cannot hold ':' or '*' in a name.")
    return paths


def has_log_store_class(jars: tuple[Path, ...]) -> bool:
    """Whether one of these jars holds Delta's DynamoDB log store, which is not among the pinned ones."""
    return any(_holds(jar, LOG_STORE_CLASS.replace(".", "/") + ".class") for jar in jars)


def _holds(jar: Path, entry: str) -> bool:
    try:
        with ZipFile(jar) as opened:
            return entry in opened.NameToInfo
    except (OSError, BadZipFile):
        return False
