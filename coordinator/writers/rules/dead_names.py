"""Rules about names that nothing reads, or that nothing reads where they stand."""

import re
from collections.abc import Iterator

from coordinator.coordination.session_conf import COORDINATOR, LOG_STORE
from coordinator.protocols.verdict import Severity
from coordinator.writers.names import (
    BROUGHT,
    COORDINATOR_SUFFIXES,
    DEFAULTS,
    HADOOP,
    LOG_STORE_SUFFIXES,
    MISSPELT,
    BroughtName,
    in_right_letters,
    log_store_suffix,
)
from coordinator.writers.pasted import PastedSetting
from coordinator.writers.session import DoctorRule, SettingChange, Trouble, WriterSession, removed

_DEAD = {one.name.removeprefix("spark."): one for one in BROUGHT if not one.is_read and not one.is_class}
_OF_LOG_STORES = re.compile(r"(?:spark\.)?(?:hadoop\.)?delta\.logstore\.", re.IGNORECASE)
_SPARK_ONLY = ("spark-submit", "spark-defaults.conf", "SparkApplication", "JSON")
_NEEDS_SPARK = ("io.delta.storage.", "delta.logStore.", "databricks.delta.", "fs.s3a.", "fs.s3.")


def _dead_key(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        dead = _DEAD.get(entry.key.removeprefix(HADOOP).removeprefix("spark."))
        if dead:
            yield _about_dead(session, entry, dead)


def _about_dead(session: WriterSession, entry: PastedSetting, dead: BroughtName) -> Trouble:
    wrong = f"{entry.key} is read by {dead.read_by} ({dead.source})."
    if not dead.instead:
        return Trouble(entry.key, wrong, dead.does, "Leave it out: no key does this.", (removed(entry),))
    if session.of(dead.instead):
        return Trouble(entry.key, wrong, dead.does, f"Leave it out: {dead.instead} is set.", (removed(entry),))
    change = SettingChange(entry.key, dead.instead, entry.value)
    return Trouble(entry.key, wrong, dead.does, f"{dead.instead} = {entry.value}", (change,))


def _unknown_key(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        suffix, known, prefix = log_store_suffix(entry.key), LOG_STORE_SUFFIXES, LOG_STORE
        if entry.key.startswith(f"{COORDINATOR}."):
            suffix, known, prefix = entry.key.removeprefix(f"{COORDINATOR}."), COORDINATOR_SUFFIXES, COORDINATOR
        if suffix and suffix not in known:
            yield _about_unknown(session, entry, prefix, MISSPELT.get(suffix, ""))


def _other_letters(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        right = in_right_letters(entry.key)
        if right and right != entry.key:
            change = removed(entry) if session.of(right) else SettingChange(entry.key, right, entry.value)
            yield Trouble(
                entry.key,
                f"No release reads {entry.key}: capital and small letters count.",
                "It is ignored without a word, and its default counts.",
                f"{right} = {entry.value}",
                (change,),
            )


def _unknown_of_log_stores(session: WriterSession) -> Iterator[Trouble]:
    """Delta reads one class for all schemes, or one a scheme, and nothing else of this name."""
    for entry in session.entries:
        if _OF_LOG_STORES.match(entry.key) and not in_right_letters(entry.key):
            effect = "It is ignored without a word: tables on S3 get S3SingleDriverLogStore, which takes no lock."
            instead = "spark.delta.logStore.s3a.impl, by the scheme of the tables' paths, names the class."
            yield Trouble(entry.key, f"No release reads {entry.key}.", effect, instead, (removed(entry),))


def _about_unknown(session: WriterSession, entry: PastedSetting, prefix: str, near: str) -> Trouble:
    wrong = f"No release reads {entry.key}."
    effect = "It is ignored without a word, and its default counts."
    key = f"{prefix}.{near}"
    if not near or session.of(key):
        return Trouble(entry.key, wrong, effect, "Leave it out.", (removed(entry),))
    return Trouble(entry.key, wrong, effect, f"{key} = {entry.value}", (SettingChange(entry.key, key, entry.value),))


def _without_spark(session: WriterSession) -> Iterator[Trouble]:
    if session.syntax not in _SPARK_ONLY:
        return
    for entry in session.entries:
        if entry.key.startswith(_NEEDS_SPARK):
            key = f"{HADOOP if entry.key.startswith('fs.') else 'spark.'}{entry.key}"
            changes = removed(entry) if session.of(key) else SettingChange(entry.key, key, entry.value)
            yield Trouble(
                entry.key,
                "The key does not begin with spark.",
                "spark-submit says 'Ignoring non-Spark config property' and drops it.",
                f"{key} = {entry.value}",
                (changes,),
            )


def _log_store_of_hadoop(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        plain = entry.key.removeprefix(HADOOP).removeprefix("spark.")
        if entry.key.startswith(HADOOP) and plain.startswith("delta.logStore."):
            key = f"spark.{plain}"
            change = removed(entry) if session.of(key) else SettingChange(entry.key, key, entry.value)
            yield Trouble(
                entry.key,
                "The class of a log store is looked for among Spark's settings, not Hadoop's.",
                "Tables of that scheme get S3SingleDriverLogStore, which takes no lock.",
                f"{key} = {entry.value}",
                (change,),
            )


def _half_a_coordinator(session: WriterSession) -> Iterator[Trouble]:
    name, conf = (f"{DEFAULTS}coordinatedCommits.commitCoordinator{part}-preview" for part in ("", "Conf"))
    has_name, has_conf = session.of(name), session.of(conf)
    if bool(has_name) == bool(has_conf):
        return
    missing = conf if has_name else name
    changes = (SettingChange("", name, "dynamodb"),) if has_conf else (removed(has_name[0]),)
    yield Trouble(
        missing,
        "One of the two defaults that make new tables coordinated stands alone.",
        "Creating a table ends in DELTA_MUST_SET_ALL_COORDINATED_COMMITS_CONFS_IN_SESSION.",
        f"{name} = dynamodb" if has_conf else f"Both, or neither: {conf} has to name the store and its endpoint.",
        changes,
    )


def _table_conf(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.of(f"{DEFAULTS}coordinatedCommits.tableConf-preview"):
        yield Trouble(
            entry.key,
            "The registration's id is set by hand; Delta makes it.",
            "Creating a table ends in DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_SESSION.",
            "Leave it out.",
            (removed(entry),),
        )


RULES = (
    DoctorRule("dead-key", Severity.CRITICAL, "DeltaSQLConf and S3DynamoDBLogStore of each release", _dead_key),
    DoctorRule("unknown-key", Severity.CRITICAL, "S3DynamoDBLogStore.getParam and DeltaSQLConf, 4.4.0", _unknown_key),
    DoctorRule("key-in-other-letters", Severity.CRITICAL, "SparkConf and Configuration, Spark 4.2", _other_letters),
    DoctorRule(
        "unknown-log-store-key",
        Severity.CRITICAL,
        "LogStoreProvider.logStoreSchemeConfKey, 4.4.0",
        _unknown_of_log_stores,
    ),
    DoctorRule(
        "key-without-spark",
        Severity.CRITICAL,
        "SparkSubmitArguments, Spark 4.2",
        _without_spark,
    ),
    DoctorRule(
        "log-store-in-hadoop", Severity.CRITICAL, "DelegatingLogStore.schemeBasedLogStore, 4.4.0", _log_store_of_hadoop
    ),
    DoctorRule("half-a-coordinator", Severity.WARNING, "CoordinatedCommitsUtils, 4.4.0", _half_a_coordinator),
    DoctorRule("table-conf-by-hand", Severity.WARNING, "CoordinatedCommitsUtils, 4.4.0", _table_conf),
)
