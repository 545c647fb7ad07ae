"""The jars that a session names, and which belong together.

hadoop-aws has to equal the Hadoop client that comes with pyspark, which follows from Delta's artifact and release.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coordinator.coordination.releases import RELEASES
from coordinator.writers.pairs import DRIVER_CLASS_PATH, JARS, PACKAGES
from coordinator.writers.session import WriterSession

LOG_STORE_JAR = "delta-storage-s3-dynamodb"
HADOOP_AWS = "hadoop-aws"
BRINGS_JARS = {"emr": "EMR", "glue": "Glue", "databricks": "Databricks"}
_SDK_V1 = ("aws-java-sdk-bundle", "aws-java-sdk-dynamodb", "aws-java-sdk")
_JAR = re.compile(r"(?P<artifact>.+?)-(?P<version>\d[\w.]*)\.jar|(?P<plain>.+)\.jar")
_HADOOP_OF_SPARK = {"3.5": "3.3.4", "4.0": "3.4.1", "4.1": "3.4.2", "4.2": "3.5.0"}
_SPARK_OF_DELTA = {"3.0": "3.5", "3.1": "3.5", "3.2": "3.5", "3.3": "3.5", "4.0": "4.0", "4.4": "4.2"} | dict.fromkeys(
    ("4.1", "4.2", "4.3"), "4.1"
)


@dataclass(frozen=True, slots=True)
class NamedJar:
    """A jar by coordinates or file name; `version` is "" where the name has none."""

    artifact: str
    version: str


@dataclass(frozen=True, slots=True)
class Stack:
    """Every jar that a session names. `why_unknown` says why what is missing cannot be told, "" where it can."""

    jars: tuple[NamedJar, ...]
    why_unknown: str

    def find(self, *prefixes: str) -> NamedJar | None:
        return next((jar for jar in self.jars if jar.artifact.startswith(prefixes)), None)

    @property
    def delta(self) -> NamedJar | None:
        return self.find("delta-spark", "delta-core")

    @property
    def release(self) -> str:
        """Delta's release, from its own jar or from the log store's; "" where neither says."""
        return next((jar.version for jar in (self.delta, self.find(LOG_STORE_JAR)) if jar and jar.version), "")

    @property
    def hadoop(self) -> str:
        """The Hadoop client of the pyspark that Delta's jar is for, "" where that is not known."""
        return hadoop_of(self.delta) if self.delta else ""

    @property
    def hadoop_in_use(self) -> str:
        """What S3A is of: as it has to be, or as hadoop-aws says."""
        named = self.find(HADOOP_AWS)
        return self.hadoop or (named.version if named else "")

    @property
    def has_sdk_v1(self) -> bool:
        return any(jar.artifact in _SDK_V1 for jar in self.jars)


def stack_of(session: WriterSession) -> Stack:
    jars = tuple(_jars(session))
    return Stack(jars, _why_unknown(session, jars))


def hadoop_of(delta: NamedJar) -> str:
    """`delta-spark_4.1_2.13` names its Spark; other artifacts are for the Spark of their release."""
    named = re.match(r"delta-spark_(\d\.\d)_", delta.artifact)
    spark = named[1] if named else _SPARK_OF_DELTA.get(".".join(delta.version.split(".")[:2]), "")
    return _HADOOP_OF_SPARK.get(spark, "")


def delta_package(hadoop: str) -> str:
    """Delta's coordinates for a Hadoop client, of the newest release where none is for it."""
    row = next((one for one in RELEASES if one.hadoop_aws == hadoop), RELEASES[0])
    return f"io.delta:{row.package}:{row.delta}"


def is_before_3_4(hadoop: str) -> bool:
    """Whether hadoop-aws of that release brings AWS SDK v1, as all before 3.4 do."""
    parts = [int(part) for part in re.findall(r"\d+", hadoop)[:2]]
    return parts < [3, 4]


def _jars(session: WriterSession) -> Iterator[NamedJar]:
    for entry in session.of(PACKAGES):
        for name in filter(None, (part.strip() for part in entry.value.split(","))):
            parts = name.split(":")
            yield NamedJar(parts[1] if len(parts) > 1 else name, parts[-1] if len(parts) > 2 else "")
    for entry in session.of(JARS, DRIVER_CLASS_PATH):
        for name in re.split(r"[,:](?!//)", entry.value):
            if found := _JAR.fullmatch(name.rpartition("/")[2]):
                yield NamedJar(found["artifact"] or found["plain"], found["version"] or "")


def _why_unknown(session: WriterSession, jars: tuple[NamedJar, ...]) -> str:
    if session.platform in BRINGS_JARS:
        return f"{BRINGS_JARS[session.platform]} brings jars of its own, which this text does not name."
    named = session.of(PACKAGES, JARS, DRIVER_CLASS_PATH)
    if any(not entry.is_known for entry in named):
        return "Which jars are named is known only when this text runs."
    if any("*" in entry.value for entry in named):
        return "A folder of jars is named, and what is in it is not in this text."
    if not session.is_whole:
        return "Settings that are not read here may name more jars."
    if not jars:
        return "No jar is named: whoever starts the session has to bring Delta, hadoop-aws and what they need."
    return ""
