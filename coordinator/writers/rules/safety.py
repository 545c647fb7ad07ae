"""Rules about values that lose commits, or that no session starts with."""

import re
from collections.abc import Iterator

from coordinator.coordination.session_conf import COORDINATOR, LOG_STORE
from coordinator.protocols.verdict import Severity
from coordinator.writers.names import HADOOP, LOG_STORE_SUFFIXES, spellings
from coordinator.writers.pasted import PACKAGES, PastedSetting
from coordinator.writers.session import DoctorRule, SettingChange, Trouble, WriterSession, named, removed
from coordinator.writers.stack import stack_of

_FLAGS = re.compile(r"spark\.hadoop\.fs\.s3a\.(?:bucket\..+\.)?performance\.flags")
_CREATE = re.compile(r"spark\.hadoop\.fs\.s3a\.(?:bucket\..+\.)?create\.performance(?:\.enabled)?")
_OTHER_FLAGS = ("delete", "mkdir", "open")
_DAY, _HOUR = 86_400, 3_600
_LOG_STORE_KEY = re.compile(r"(?:spark\.)?(delta\.logStore\..+)")
_OVERWRITES = "A second writer of a version then overwrites the first one's commit without a word."
_FAST_LISTING = "delta.enableFastS3AListFrom"
_STRICT = "spark.databricks.delta.v2.enableMode"


def _performance_flags(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        flags = [one.strip().lower() for one in entry.value.split(",") if one.strip()]
        if _FLAGS.fullmatch(entry.key) and {"create", "*"} & set(flags):
            kept = ",".join(_OTHER_FLAGS if "*" in flags else [one for one in flags if one != "create"])
            yield Trouble(
                entry.key,
                "The flag create is set: S3A no longer looks whether a file exists before it creates it.",
                _OVERWRITES,
                f"{entry.key} = {kept}" if kept else "Leave it out.",
                (named(entry, kept) if kept else removed(entry),),
            )


def _create_performance(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        if _CREATE.fullmatch(entry.key) and entry.value.lower() == "true":
            yield Trouble(
                entry.key,
                "Files are created for speed, without a look whether they exist.",
                _OVERWRITES,
                "Leave it out.",
                (removed(entry),),
            )


def _fast_listing(session: WriterSession) -> Iterator[Trouble]:
    """Where Delta's release is known to be one that loses the log."""
    release = _release(session)
    if release and (2, 1) <= release <= (2, 3):
        yield from _listing_troubles(
            session, "Delta {}.{} lists subfolders with it as if they were files.".format(*release)
        )


def _fast_listing_unknown(session: WriterSession) -> Iterator[Trouble]:
    if _release(session) is None:
        yield from _listing_troubles(
            session, "Delta 2.1 to 2.3 list subfolders with it as if they were files, and no release is named here."
        )


def _listing_troubles(session: WriterSession, wrong: str) -> Iterator[Trouble]:
    for entry in session.of(f"{HADOOP}{_FAST_LISTING}", _FAST_LISTING):
        if entry.value.lower() == "true" or not entry.is_known:
            effect = "VACUUM then deletes _delta_log/ with the files that no version needs: the table is gone."
            yield Trouble(entry.key, wrong, effect, "Leave it out.", (removed(entry),))


def _release(session: WriterSession) -> tuple[int, int] | None:
    """Delta's major and minor release, None where no jar names it."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", stack_of(session).release)
    return (int(found[1]), int(found[2])) if found else None


def _ttl(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.log_store("ddb.ttl"):
        if entry.is_known and (found := _about_ttl(entry.value)):
            wrong, effect = found
            yield Trouble(entry.key, wrong, effect, f"{entry.key} = {_DAY}", (named(entry, str(_DAY)),))


def _about_ttl(value: str) -> tuple[str, str] | None:
    seconds = int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else None
    if seconds is None:
        return "The value is no number of seconds.", "The session ends in NumberFormatException at its first table."
    if seconds < 0:
        return "The value is negative.", "The session ends in IllegalArgumentException at its first table."
    if seconds == 0:
        return (
            "Finished entries expire at once.",
            "A writer that was slow meanwhile finds no entry and overwrites a commit (#1410).",
        )
    if seconds < _HOUR:
        return (
            f"Finished entries expire after {seconds:,} s, which a stalled writer can outlast.",
            "Such a writer finds no entry and overwrites a commit (#1410).",
        )
    return None


def _capacity(session: WriterSession) -> Iterator[Trouble]:
    keys = [key for suffix in ("rcu", "wcu") for key in spellings(f"provisionedThroughput.{suffix}")]
    keys += [f"{COORDINATOR}.readCapacityUnits", f"{COORDINATOR}.writeCapacityUnits"]
    for entry in session.of(*keys):
        if entry.is_known and not re.fullmatch(r"[1-9][0-9]{0,5}", entry.value):
            yield Trouble(
                entry.key,
                "Capacity is a whole number of units from 1 on.",
                "A store that is missing is not created, or the session ends in NumberFormatException.",
                "Leave it out: 5 units, and an existing store keeps its own.",
                (removed(entry),),
            )


def _skip_path_check(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.of(f"{COORDINATOR}.skipPathCheckEnabled"):
        if entry.value.lower() == "true":
            yield Trouble(
                entry.key,
                "The coordinator no longer compares the table's path with the registered one.",
                "A copy of the table commits into the original's sequence of versions.",
                "Leave it out.",
                (removed(entry),),
            )


def _strict(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.of(_STRICT):
        if session.wants_coordinator and entry.value.upper() == "STRICT":
            yield Trouble(
                entry.key,
                "STRICT routes every table to Delta Kernel, which does not know coordinated commits.",
                "Tables with a coordinator can neither be read nor written.",
                f"{entry.key} = AUTO",
                (named(entry, "AUTO"),),
            )


def _two_spellings(session: WriterSession) -> Iterator[Trouble]:
    for suffix in sorted(LOG_STORE_SUFFIXES):
        yield from _conflict(session.log_store(suffix), f"{LOG_STORE}.{suffix}")
    for key in sorted(_log_store_keys(session)):
        yield from _conflict(session.of(f"spark.{key}", key), f"spark.{key}")


def _log_store_keys(session: WriterSession) -> set[str]:
    return {found[1] for entry in session.entries if (found := _LOG_STORE_KEY.fullmatch(entry.key))}


def _conflict(entries: tuple[PastedSetting, ...], preferred: str) -> Iterator[Trouble]:
    """One finding for a setting under several keys with different values; the preferred key's value is kept."""
    values = {entry.value for entry in entries if entry.is_known}
    if len({entry.key for entry in entries}) < 2 or len(values) < 2:
        return
    kept = next((entry for entry in entries if entry.key == preferred), entries[0])
    others = [entry for entry in entries if entry.key != kept.key]
    yield Trouble(
        kept.key,
        f"It is set as {others[0].key} too, with another value.",
        "Delta refuses two spellings that differ: the session ends in an error at its first table.",
        f"{kept.key} = {kept.value}, and no other spelling; make sure that this value is the right one.",
        tuple(removed(entry) for entry in others),
    )


def _in_quotes(session: WriterSession) -> Iterator[Trouble]:
    if session.syntax != "spark-defaults.conf":
        return
    for entry in session.entries:
        if entry.key.startswith(_UNQUOTED) and re.fullmatch(r"(\"[^\"]+\"|'[^']+')", entry.value):
            yield Trouble(
                entry.key,
                "The value stands in quotes, which are a part of it here.",
                "Spark looks for a class, a name or a number with quotes around it.",
                f"{entry.key} = {entry.value[1:-1]}",
                (named(entry, entry.value[1:-1]),),
            )


def _said_twice(session: WriterSession) -> Iterator[Trouble]:
    by_key: dict[str, list[PastedSetting]] = {}
    for entry in session.entries:
        by_key.setdefault(entry.key, []).append(entry)
    for key, entries in by_key.items():
        entries = [entry for entry in entries if not entry.is_late]
        if len(entries) > 1 and len({entry.value for entry in entries}) > 1 and all(one.is_known for one in entries):
            yield _twice_in_a_program(key) if session.syntax == "PySpark" else _twice(key, entries)


def _twice_in_a_program(key: str) -> Trouble:
    """Which of its branches and functions a program goes through is not known, so that nothing is taken out of it."""
    return Trouble(
        key,
        "The key is set in two places, with different values.",
        "Where one session is set in both, the last one counts, and the other is lost.",
        f"{key} once for each session.",
    )


def _twice(key: str, entries: list[PastedSetting]) -> Trouble:
    value = entries[-1].value
    if key == PACKAGES:
        value = ",".join(dict.fromkeys(name for entry in entries for name in entry.value.split(",")))
    return Trouble(
        key,
        "The key is set twice, with different values.",
        "The last one counts, and the other is lost.",
        f"{key} = {value}, once",
        (removed(entries[0]), SettingChange("", key, value)),
    )


def _set_too_late(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        if entry.is_late and entry.is_known and entry.key.startswith(_AT_START):
            yield Trouble(
                entry.key,
                "It is set on a session that runs already.",
                "What the session started with counts: Spark refuses some such keys, and takes others without a word.",
                f"{entry.key} = {entry.value}, before the session is made: .config(…) of its builder.",
                (removed(entry), SettingChange("", entry.key, entry.value)),
            )


_UNQUOTED = ("spark.delta.", "spark.io.delta.", "spark.hadoop.fs.s3", "spark.sql.", "spark.jars", "spark.databricks.")
_AT_START = (
    "spark.delta.logStore.",
    "delta.logStore.",
    "spark.jars",
    "spark.sql.extensions",
    "spark.sql.catalog.spark_catalog",
    "spark.hadoop.",
)
_S3A = "S3A of hadoop-aws 3.5.0, seen to overwrite (HADOOP-19072)"
RULES = (
    DoctorRule("performance-flags", Severity.CRITICAL, _S3A, _performance_flags),
    DoctorRule("create-performance", Severity.CRITICAL, "HADOOP-18930, hadoop-aws 3.4.0", _create_performance),
    DoctorRule("quotes", Severity.WARNING, "java.util.Properties.load knows no quotes", _in_quotes),
    DoctorRule("fast-listing", Severity.CRITICAL, "delta-io/delta #1797, seen with 2.3.0", _fast_listing),
    DoctorRule("fast-listing-unknown", Severity.WARNING, "delta-io/delta #1797", _fast_listing_unknown),
    DoctorRule("ttl", Severity.CRITICAL, "S3DynamoDBLogStore, 2.2.0 to 4.4.0; #1410", _ttl),
    DoctorRule("capacity", Severity.WARNING, "S3DynamoDBLogStore and DeltaSQLConf, 4.4.0", _capacity),
    DoctorRule("skip-path-check", Severity.CRITICAL, "DeltaSQLConf, 3.3.0 to 4.4.0", _skip_path_check),
    DoctorRule("strict-mode", Severity.WARNING, "DeltaSQLConf, 4.1.0 to 4.4.0; #3938", _strict),
    DoctorRule(
        "two-spellings",
        Severity.WARNING,
        "S3DynamoDBLogStore.getParam and LogStoreProvider.verifyLogStoreConfs, 4.4.0",
        _two_spellings,
    ),
    DoctorRule("set-too-late", Severity.CRITICAL, "DelegatingLogStore: SparkEnv.get.conf, 4.4.0", _set_too_late),
    DoctorRule("set-twice", Severity.WARNING, "SparkConf.set, Spark 4.2", _said_twice),
)
