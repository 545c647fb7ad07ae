"""Rules about names that nothing reads, or that nothing reads where they stand."""

from collections.abc import Iterator
from dataclasses import replace

from coordinator.protocols.verdict import Severity
from coordinator.writers.names import (
    DEAD_KEYS,
    DEFAULTS,
    HADOOP,
    BroughtName,
    forms_of,
    is_of_commits,
    read_key,
)
from coordinator.writers.session import (
    DoctorRule,
    PastedSetting,
    SettingChange,
    Trouble,
    WriterSession,
    left_out,
    removed,
)

_DEAD = {one.name.removeprefix("spark."): one for one in DEAD_KEYS}
SPARK_ONLY = ("spark-submit", "spark-defaults.conf", "SparkApplication", "JSON")
_UNSET = "a scheme of S3 without a class gets S3SingleDriverLogStore, which takes no lock"
_NEEDS_SPARK = ("io.delta.storage.", "delta.logStore.", "databricks.delta.", "fs.s3a.", "fs.s3.")


def _dead_key(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        if dead := _dead(entry.key):
            yield _about_dead(session, entry, dead)


def _dead(key: str) -> BroughtName | None:
    return _DEAD.get(key.removeprefix(HADOOP).removeprefix("spark."))


def _about_dead(session: WriterSession, entry: PastedSetting, dead: BroughtName) -> Trouble:
    wrong = f"{entry.key} is read by {dead.read_by} ({dead.source})."
    if not dead.instead:
        return left_out(entry, wrong, dead.does, ": no key does this")
    if session.of(dead.instead):
        return left_out(entry, wrong, dead.does, f": {dead.instead} is set")
    return _renamed(entry, dead.instead, wrong, dead.does)


def _unknown_key(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        right = read_key(entry.key)
        if is_of_commits(entry.key) and entry.key not in forms_of(right) and not _dead(entry.key):
            yield _about_unknown(session, entry, right)


def _about_unknown(session: WriterSession, entry: PastedSetting, right: str) -> Trouble:
    is_case = entry.key.lower() in [form.lower() for form in forms_of(right)]
    wrong = f"No release reads {entry.key}{': capitals and small letters are told apart' if is_case else ''}."
    if not right:
        return left_out(entry, wrong, "It is ignored without a word.")
    unset = _UNSET if right.startswith("spark.delta.") else "its default counts"
    effect = f"It is ignored without a word, and {unset}."
    if session.of(*forms_of(right)):
        return left_out(entry, wrong, effect, f": {right} is set")
    return _renamed(entry, right, wrong, effect)


def _renamed(entry: PastedSetting, key: str, wrong: str, effect: str) -> Trouble:
    """The value under another key; no change for one that only the running text knows, which would be lost."""
    if not entry.is_known:
        return Trouble(entry.key, wrong, effect, f"{key}, with the value of this one.")
    change = SettingChange(entry.key, key, entry.value)
    return Trouble(entry.key, wrong, effect, f"{key} = {entry.value}", (change,))


def _unless_set(session: WriterSession, renamed: Trouble, key: str) -> Trouble:
    """The same where the other key is free; else the old one just goes."""
    return replace(renamed, changes=(SettingChange(renamed.key),)) if session.of(key) else renamed


def _without_spark(session: WriterSession) -> Iterator[Trouble]:
    if session.syntax not in SPARK_ONLY:
        return
    for entry in session.entries:
        if entry.key.startswith(_NEEDS_SPARK):
            key = f"{HADOOP if entry.key.startswith('fs.') else 'spark.'}{entry.key}"
            effect = "spark-submit says 'Ignoring non-Spark config property' and drops it."
            yield _unless_set(session, _renamed(entry, key, "The key does not begin with spark.", effect), key)


def _log_store_of_hadoop(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        plain = entry.key.removeprefix(HADOOP).removeprefix("spark.")
        if entry.key.startswith(HADOOP) and plain.startswith("delta.logStore."):
            wrong = "The class of a log store is looked for among Spark's settings, not Hadoop's."
            effect = "Tables of that scheme get S3SingleDriverLogStore, which takes no lock."
            yield _unless_set(session, _renamed(entry, f"spark.{plain}", wrong, effect), f"spark.{plain}")


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
        yield left_out(
            entry,
            "The registration's id is set by hand; Delta makes it.",
            "Creating a table ends in DELTA_CONF_OVERRIDE_NOT_SUPPORTED_IN_SESSION.",
        )


RULES = (
    DoctorRule("dead-key", Severity.CRITICAL, "DeltaSQLConf and S3DynamoDBLogStore of each release", _dead_key),
    DoctorRule("unknown-key", Severity.CRITICAL, "S3DynamoDBLogStore.getParam and DeltaSQLConf, 4.4.0", _unknown_key),
    DoctorRule("key-without-spark", Severity.CRITICAL, "SparkSubmitArguments, Spark 4.2", _without_spark),
    DoctorRule(
        "log-store-in-hadoop", Severity.CRITICAL, "DelegatingLogStore.schemeBasedLogStore, 4.4.0", _log_store_of_hadoop
    ),
    DoctorRule("half-a-coordinator", Severity.WARNING, "CoordinatedCommitsUtils, 4.4.0", _half_a_coordinator),
    DoctorRule("table-conf-by-hand", Severity.WARNING, "CoordinatedCommitsUtils, 4.4.0", _table_conf),
)
