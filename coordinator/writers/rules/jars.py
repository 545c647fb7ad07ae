"""Rules about jars and what makes Spark know Delta; they speak only where the text names all jars."""

import re
from collections.abc import Iterator

from coordinator.coordination.releases import SDK_V1_BUNDLE
from coordinator.protocols.verdict import Severity
from coordinator.writers.pairs import PACKAGES
from coordinator.writers.session import DoctorRule, SettingChange, Trouble, WriterSession
from coordinator.writers.stack import (
    HADOOP_AWS,
    LOG_STORE_JAR,
    Stack,
    delta_package,
    is_before_3_4,
    stack_of,
)

_COORDINATES = re.compile(r"[^:\s]+:[^:\s]+:[^:\s]+")
_EXTENSIONS = ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
_CATALOG = ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")


def _malformed(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.of(PACKAGES):
        names = [part.strip() for part in entry.value.split(",") if part.strip()]
        wrong = [name for name in names if not _COORDINATES.fullmatch(name)]
        if entry.is_known and wrong:
            kept = ",".join(name for name in names if name not in wrong)
            yield Trouble(
                entry.key,
                f"{wrong[0][:80]} is no group:artifact:version.",
                "Spark does not start: it resolves no jar at all.",
                "The coordinates with a version, such as io.delta:delta-spark_2.13:4.0.1.",
                (SettingChange(entry.key, entry.key, kept),) if kept else (),
            )


def _delta(session: WriterSession) -> Iterator[Trouble]:
    stack = stack_of(session)
    if stack.why_unknown or stack.delta or session.brings_delta:
        return
    named = stack.find(HADOOP_AWS)
    wanted = delta_package(named.version if named else "")
    yield _missing(session, "Delta itself", "Spark cannot load its extension or any table.", wanted)


def _log_store(session: WriterSession) -> Iterator[Trouble]:
    stack = stack_of(session)
    if stack.why_unknown or stack.find(LOG_STORE_JAR) or not session.wants_log_store:
        return
    release = stack.release
    wanted = f"io.delta:{LOG_STORE_JAR}:{release}" if release else ""
    effect = "The session ends in ClassNotFoundException at its first table."
    yield _missing(session, "the log store, a jar of its own", effect, wanted, LOG_STORE_JAR)


def _hadoop_aws(session: WriterSession) -> Iterator[Trouble]:
    stack = stack_of(session)
    if stack.why_unknown or stack.find(HADOOP_AWS):
        return
    wanted = f"org.apache.hadoop:{HADOOP_AWS}:{stack.hadoop}" if stack.hadoop else ""
    yield _missing(session, "S3A", "No path of S3 can be opened.", wanted, HADOOP_AWS)


def _sdk_v1(session: WriterSession) -> Iterator[Trouble]:
    stack = stack_of(session)
    hadoop = stack.hadoop_in_use
    uses_v1 = session.wants_log_store or session.wants_coordinator
    if stack.why_unknown or stack.has_sdk_v1 or not uses_v1 or not hadoop or is_before_3_4(hadoop):
        return
    effect = f"The first commit ends in NoClassDefFoundError: hadoop-aws {hadoop} brings v2 alone."
    yield _missing(session, "AWS SDK v1, which asks DynamoDB", effect, SDK_V1_BUNDLE)


def _missing(session: WriterSession, what: str, effect: str, wanted: str, name: str = "") -> Trouble:
    """A jar that is not named: added to the packages where these are how jars are named."""
    entries = session.of(PACKAGES)
    changes: tuple[SettingChange, ...] = ()
    if wanted and entries:
        changes = (SettingChange(PACKAGES, PACKAGES, ",".join([entries[-1].value, wanted])),)
    instead = f"{wanted} among the packages." if wanted else f"{name} of Delta's own release among the packages."
    if name == HADOOP_AWS and not wanted:
        instead = f"{name} of exactly the Hadoop release that pyspark brings."
    return Trouble(PACKAGES, f"Jars are named, and none brings {what}.", effect, instead, changes)


def _hadoop_release(session: WriterSession) -> Iterator[Trouble]:
    stack = stack_of(session)
    named, wanted = stack.find(HADOOP_AWS), stack.hadoop
    if named and named.version and wanted and named.version != wanted:
        yield _other_version(
            session,
            f"hadoop-aws is {named.version}; the Spark that this Delta is for brings Hadoop {wanted}.",
            "S3A and Hadoop of two releases end in NoSuchMethodError or NoClassDefFoundError.",
            f"org.apache.hadoop:{HADOOP_AWS}:{named.version}",
            f"org.apache.hadoop:{HADOOP_AWS}:{wanted}",
        )


def _log_store_release(session: WriterSession) -> Iterator[Trouble]:
    stack = stack_of(session)
    named, delta = stack.find(LOG_STORE_JAR), stack.delta
    if named and delta and named.version and delta.version and named.version != delta.version:
        yield _other_version(
            session,
            f"The log store is of {named.version}, Delta of {delta.version}.",
            "The log store is compiled against another delta-storage: calls between them can fail.",
            f"io.delta:{LOG_STORE_JAR}:{named.version}",
            f"io.delta:{LOG_STORE_JAR}:{delta.version}",
        )


def _other_version(session: WriterSession, wrong: str, effect: str, old: str, new: str) -> Trouble:
    changes = tuple(
        SettingChange(PACKAGES, PACKAGES, entry.value.replace(old, new))
        for entry in session.of(PACKAGES)
        if old in entry.value
    )
    return Trouble(PACKAGES, wrong, effect, new, changes)


def _delta_for_spark(session: WriterSession) -> Iterator[Trouble]:
    """Delta up to 2.1 loses commits beside a slow writer."""
    stack: Stack = stack_of(session)
    delta = stack.delta
    if delta and session.wants_log_store and re.match(r"(?:1\.|2\.[01]\.)", delta.version):
        yield Trouble(
            PACKAGES,
            f"Delta {delta.version} writes with a log store that looks for no file before it takes a version.",
            "A slow second writer overwrites a commit whose entry is gone (#1410).",
            "Delta 2.2.0 or newer in every session that writes the table.",
        )


def _extension(session: WriterSession) -> Iterator[Trouble]:
    """Judged only where a text brings Delta's jar along: others may leave it to the cluster."""
    if not session.is_whole or not (stack_of(session).delta or session.brings_delta):
        return
    changes = [change for key, value in (_EXTENSIONS, _CATALOG) for change in _lacking(session, key, value)]
    if changes:
        yield Trouble(
            changes[0].key,
            "Delta's jar is there, and Spark is not told of it.",
            "Statements of Delta, such as ALTER TABLE … DROP FEATURE, are not understood.",
            ", ".join(f"{change.key} = {change.value}" for change in changes),
            tuple(changes),
        )


def _lacking(session: WriterSession, key: str, value: str) -> Iterator[SettingChange]:
    """The setting that lacks Delta's class; extensions of others stay beside it, and a catalogue has one class."""
    entries = session.of(key)
    if entries and (not entries[-1].is_known or value in entries[-1].value.split(",")):
        return
    others = [entry.value for entry in entries[-1:]] if key == _EXTENSIONS[0] else []
    yield SettingChange(key if entries else "", key, ",".join([*others, value]))


_MATRIX = "wheels of pyspark 3.5 to 4.2 and poms of Delta 3.0 to 4.4"
RULES = (
    DoctorRule(
        "coordinates", Severity.WARNING, "SparkSubmitUtils.extractMavenCoordinates, Spark 4.2; #4930", _malformed
    ),
    DoctorRule("delta-jar", Severity.WARNING, _MATRIX, _delta),
    DoctorRule("log-store-jar", Severity.WARNING, "delta-storage-s3-dynamodb, 1.2.0 to 4.4.0", _log_store),
    DoctorRule("hadoop-aws-jar", Severity.WARNING, _MATRIX, _hadoop_aws),
    DoctorRule("sdk-v1-jar", Severity.WARNING, "poms of hadoop-aws 3.4 and newer; #4930, #3556", _sdk_v1),
    DoctorRule("hadoop-release", Severity.WARNING, _MATRIX, _hadoop_release),
    DoctorRule("log-store-release", Severity.WARNING, "pom of delta-storage-s3-dynamodb, 4.4.0", _log_store_release),
    DoctorRule("old-log-store", Severity.CRITICAL, "BaseExternalLogStore up to 2.1.0; #1410", _delta_for_spark),
    DoctorRule("delta-in-spark", Severity.WARNING, "DeltaSparkSessionExtension and DeltaCatalog, 4.4.0", _extension),
)
