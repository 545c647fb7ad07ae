"""Rules about values that lose commits, or that no session starts with."""

import re
from collections.abc import Iterator

from coordinator.coordination.session_conf import COORDINATOR, LOG_STORE
from coordinator.protocols.verdict import Severity
from coordinator.writers.names import HADOOP, LOG_STORE_SUFFIXES, spellings
from coordinator.writers.pairs import PACKAGES
from coordinator.writers.rules.dead_names import SPARK_ONLY
from coordinator.writers.rules.places import reachable
from coordinator.writers.session import (
    CLASS_KEYS,
    DoctorRule,
    PastedSetting,
    SettingChange,
    Trouble,
    WriterSession,
    left_out,
    removed,
    set_to,
)
from coordinator.writers.stack import stack_of

_FLAGS = re.compile(r"spark\.hadoop\.fs\.s3a\.(?:bucket\..+\.)?performance\.flags")
_CREATE = re.compile(r"spark\.hadoop\.fs\.s3a\.(?:bucket\..+\.)?create\.performance(?:\.enabled)?")
_SINGLE_DRIVER = "S3SingleDriverLogStore"
_OTHER_FLAGS = ("delete", "mkdir", "open")
_DAY, _HOUR = 86_400, 3_600
_LOG_STORE_KEY = re.compile(r"(?:spark\.)?(delta\.logStore\..+)")
_OVERWRITES = "A second writer of a version then overwrites the first one's commit without a word."
_STRICT = "spark.databricks.delta.v2.enableMode"


def _performance_flags(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        flags = [one.strip().lower() for one in entry.value.split(",") if one.strip()]
        if _FLAGS.fullmatch(entry.key) and {"create", "*"} & set(flags):
            kept = ",".join(_OTHER_FLAGS if "*" in flags else [one for one in flags if one != "create"])
            wrong = "The flag create is set: S3A no longer looks whether a file exists before it creates it."
            yield set_to(entry, kept, wrong, _OVERWRITES) if kept else left_out(entry, wrong, _OVERWRITES)


def _create_performance(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.entries:
        if _CREATE.fullmatch(entry.key) and entry.value.lower() == "true":
            yield left_out(entry, "Files are created for speed, without a look whether they exist.", _OVERWRITES)


def _fast_listing(session: WriterSession) -> Iterator[Trouble]:
    """S3SingleDriverLogStore then lists without a delimiter, and VACUUM tells hidden files by their own names alone."""
    release, schemes = stack_of(session).release, _listed_fast(session)
    if schemes and _lists_below(release):
        wrong = f"Delta {release} then lists a folder of {schemes} with all that is below it, _delta_log too."
        effect = "VACUUM deletes files of the log as if they were unused data (#1797)."
        yield from _about_listing(session, wrong, effect)


def _fast_listing_perhaps(session: WriterSession) -> Iterator[Trouble]:
    """Where the release is not known, or none of the classes set here reads the key."""
    lists_below = _lists_below(stack_of(session).release)
    if lists_below is None or (lists_below and not _listed_fast(session)):
        reads = "S3DynamoDBLogStore does not read it; S3SingleDriverLogStore of Delta 2.2.0 to 4.4.0 does"
        wrong = f"{reads}, and lists a folder with all that is below it."
        effect = (
            "Where that class lists, as for a scheme of S3 without another, VACUUM deletes files of _delta_log (#1797)."
        )
        yield from _about_listing(session, wrong, effect)


def _about_listing(session: WriterSession, wrong: str, effect: str) -> Iterator[Trouble]:
    key = "delta.enableFastS3AListFrom"
    for entry in session.of(f"{HADOOP}{key}", *(() if session.syntax in SPARK_ONLY else (key,))):
        if entry.value.strip().lower() == "true":
            yield left_out(entry, wrong, effect)


def _lists_below(release: str) -> bool | None:
    """Whether a release lists so; None where it is not known."""
    minor = re.match(r"(\d+)\.(\d+)", release)
    return (2, 2) <= (int(minor[1]), int(minor[2])) <= (4, 4) if minor else None


def _listed_fast(session: WriterSession) -> str:
    """The schemes of S3 whose folders S3SingleDriverLogStore lists, as it does where no other class is set."""
    whole = {scheme: entry for entry in session.of(*CLASS_KEYS) for scheme in reachable(session)}
    values = {scheme: entry.value for scheme, entry in (whole or session.impls).items()}
    found = [one for one in sorted(reachable(session)) if values.get(one, _SINGLE_DRIVER).endswith(_SINGLE_DRIVER)]
    return ", ".join(f"{scheme}://" for scheme in found)


def _ttl(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.log_store("ddb.ttl"):
        if entry.is_known and (found := _about_ttl(entry.value)):
            yield set_to(entry, str(_DAY), *found)


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
            yield left_out(
                entry,
                "Capacity is a whole number of units from 1 on.",
                "A store that is missing is not created, or the session ends in NumberFormatException.",
                ": 5 units, and an existing store keeps its own",
            )


def _skip_path_check(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.of(f"{COORDINATOR}.skipPathCheckEnabled"):
        if entry.value.lower() == "true":
            yield left_out(
                entry,
                "The coordinator no longer compares the table's path with the registered one.",
                "A copy of the table commits into the original's sequence of versions.",
            )


def _strict(session: WriterSession) -> Iterator[Trouble]:
    for entry in session.of(_STRICT):
        if session.wants_coordinator and entry.value.upper() == "STRICT":
            yield set_to(
                entry,
                "AUTO",
                "STRICT routes every table to Delta Kernel, which does not know coordinated commits.",
                "Tables with a coordinator can neither be read nor written.",
            )


def _two_spellings(session: WriterSession) -> Iterator[Trouble]:
    for suffix in sorted(LOG_STORE_SUFFIXES):
        yield from _conflict(session.log_store(suffix), f"{LOG_STORE}.{suffix}")
    keys = {found[1] for entry in session.entries if (found := _LOG_STORE_KEY.fullmatch(entry.key))}
    for key in sorted(keys):
        yield from _conflict(session.of(f"spark.{key}", key), f"spark.{key}")


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
            yield set_to(
                entry,
                entry.value[1:-1],
                "The value stands in quotes, which are a part of it here.",
                "Spark looks for a class, a name or a number with quotes around it.",
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
_LISTING = "S3LogStoreUtil and VacuumCommand, 2.2.0 to 4.4.0; #1797, #7451"
RULES = (
    DoctorRule("performance-flags", Severity.CRITICAL, _S3A, _performance_flags),
    DoctorRule("create-performance", Severity.CRITICAL, "HADOOP-18930, hadoop-aws 3.4.0", _create_performance),
    DoctorRule("fast-listing", Severity.CRITICAL, _LISTING, _fast_listing),
    DoctorRule("fast-listing-perhaps", Severity.WARNING, _LISTING, _fast_listing_perhaps),
    DoctorRule("quotes", Severity.WARNING, "java.util.Properties.load knows no quotes", _in_quotes),
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
