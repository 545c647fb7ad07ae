"""Rules about where a session commits: scheme, DynamoDB table, region and endpoint, beside what Levee observed."""

import re
from collections.abc import Iterable, Iterator

from coordinator.coordination.session_conf import COORDINATOR, LOG_STORE, WriterConfig, coordinator_json
from coordinator.protocols.coordinator_conf import aws_endpoint, endpoint_mismatch, read_conf
from coordinator.protocols.verdict import Severity
from coordinator.writers.names import DEFAULTS, LOG_STORE_CLASS
from coordinator.writers.session import (
    CLASS_KEYS,
    DoctorRule,
    SettingChange,
    Trouble,
    WriterSession,
    is_log_store_class,
    set_besides,
    set_to,
)
from lake.delta.coordinator_properties import COORDINATOR as COORDINATOR_PROPERTY
from lake.delta.coordinator_properties import COORDINATOR_CONF
from lake.delta.facts import Mechanism
from lake.delta.uri import same_table

_REGION = re.compile(r"[a-z]{2,4}(?:-[a-z]+){1,3}-\d{1,2}")
_BUCKET_REGION = "fs.s3a.endpoint.region"
_DEFAULT_REGION, _DEFAULT_TABLE = "us-east-1", "delta_log"
_CONF_KEY = f"{DEFAULTS}coordinatedCommits.commitCoordinatorConf-preview"
_OTHER_REGION = (
    "Locks are taken in another table of that name, which Delta creates where it is missing: none is shared."
)
_SERVED = {"emr": {"s3", "s3a"}, "glue": {"s3", "s3a"}}


def _scheme_without_lock(session: WriterSession) -> Iterator[Trouble]:
    if not session.wants_log_store or session.of(*CLASS_KEYS) or session.platform == "databricks":
        return
    impls = session.impls
    for scheme in sorted(reachable(session) - impls.keys()):
        key = f"spark.delta.logStore.{scheme}.impl"
        yield set_besides(
            key,
            LOG_STORE_CLASS,
            f"No log store is set for {scheme}://, and this session can open such paths.",
            f"A commit through {scheme}:// takes no lock, and one through the log store can overwrite it.",
        )


def reachable(session: WriterSession) -> set[str]:
    """The schemes of S3 that have a file system here: s3a always, s3 where something serves it."""
    served = {"s3a"} | _SERVED.get(session.platform, set())
    if session.hadoop("fs.s3.impl"):
        served.add("s3")
    return served | (session.schemes & {"s3", "s3n"})


def _scheme_of_table(session: WriterSession) -> Iterator[Trouble]:
    observed = session.observed.uri
    for uri in session.uris:
        if observed and same_table(uri, observed) and uri.partition("://")[0] != session.observed.scheme:
            yield _misspelt(uri, observed, f"The writers of this table spell it {observed}.")
    if not observed:
        for uri, first in _twice_spelt(session.uris):
            yield _misspelt(uri, first, f"The same path is spelled {first} as well.")


def _misspelt(uri: str, wanted: str, why: str) -> Trouble:
    effect = "Log store and coordinator compare paths letter by letter: the two do not exclude each other."
    return Trouble(uri, why, effect, wanted)


def _twice_spelt(uris: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Later spellings of a path beside the one that the text prefers: s3a, which every Hadoop serves."""
    by_place: dict[str, list[str]] = {}
    for uri in uris:
        spelt = by_place.setdefault(uri.partition("://")[2].rstrip("/"), [])
        if uri.partition("://")[0] not in [one.partition("://")[0] for one in spelt]:
            spelt.append(uri)
    for spelt in by_place.values():
        wanted = next((one for one in spelt if one.startswith("s3a://")), spelt[0])
        yield from ((one, wanted) for one in spelt if one != wanted)


def _region(session: WriterSession) -> Iterator[Trouble]:
    if not session.wants_log_store:
        return
    entries = [entry for entry in session.log_store("ddb.region") if entry.is_known]
    wanted = session.observed.region
    for entry in entries:
        if wanted and entry.value != wanted:
            yield set_to(entry, wanted, f"The region is {entry.value}; the store is in {wanted}.", _OTHER_REGION)
        elif not wanted and not _REGION.fullmatch(entry.value):
            yield _no_region(session, entry.key, entry.value)
    key = f"{LOG_STORE}.ddb.region"
    bucket = session.value(f"spark.hadoop.{_BUCKET_REGION}") or ""
    if session.log_store("ddb.region"):
        return
    if wanted and wanted != _DEFAULT_REGION:
        wrong = f"No region is set, so that it is {_DEFAULT_REGION}; the store is in {wanted}."
        yield set_besides(key, wanted, wrong, _OTHER_REGION)
    elif not wanted and bucket and bucket != _DEFAULT_REGION:
        yield _region_unsaid(key, bucket)


def _region_unsaid(key: str, bucket: str) -> Trouble:
    """The store may be in another region than the bucket: what is guessed would move the writer's locks."""
    wrong = f"No region is set, so that it is {_DEFAULT_REGION}; the bucket is in {bucket}."
    effect = "Where the store is elsewhere, locks are taken in another table of its name, and none is shared."
    instead = f"{key} = the store's region; with --store NAME the doctor compares with what was observed."
    return Trouble(key, wrong, effect, instead)


def _no_region(session: WriterSession, key: str, value: str) -> Trouble:
    zone = re.fullmatch(r"(.*\d)[a-f]", value)
    near = zone[1] if zone and _REGION.fullmatch(zone[1]) else ""
    changes = (SettingChange(key, key, near),) if near else ()
    instead = f"{key} = {near}" if near else "The store's region, such as eu-west-1."
    return Trouble(
        key, "The value is no region of AWS.", "The first commit finds no DynamoDB to ask.", instead, changes
    )


def _bucket_region(session: WriterSession) -> Iterator[Trouble]:
    wanted = session.observed.bucket_region
    for entry in session.hadoop(_BUCKET_REGION):
        if wanted and entry.is_known and entry.value != wanted:
            yield set_to(
                entry,
                wanted,
                f"The region is {entry.value}; the bucket is in {wanted}.",
                "S3 refuses the requests, or each goes a long way round.",
            )


def _table_name(session: WriterSession) -> Iterator[Trouble]:
    wanted = session.observed.log_store
    if not wanted or not session.wants_log_store:
        return
    told = "Locks are taken in {}; the table's entries are in {}."
    effect = "This writer and the others do not exclude each other."
    entries = session.log_store("ddb.tableName")
    for entry in entries:
        if entry.is_known and entry.value != wanted:
            yield set_to(entry, wanted, told.format(entry.value, wanted), effect)
    if not entries and wanted != _DEFAULT_TABLE:
        yield set_besides(f"{LOG_STORE}.ddb.tableName", wanted, told.format(_DEFAULT_TABLE, wanted), effect)


def _mechanism(session: WriterSession) -> Iterator[Trouble]:
    observed = session.observed
    takes_lock = any(is_log_store_class(entry.value) for entry in session.classes)
    if observed.mechanism is Mechanism.LOG_STORE and not session.classes:
        scheme = observed.scheme or "s3a"
        key = f"spark.delta.logStore.{scheme}.impl"
        yield set_besides(
            key,
            LOG_STORE_CLASS,
            "The table commits through the log store, and this session sets none.",
            "Its commits take no lock, and writers with the lock can overwrite them.",
        )
    if observed.mechanism is Mechanism.SINGLE_DRIVER and takes_lock:
        yield Trouble(
            session.classes[0].key,
            "The table commits without a lock, as seen so far, and this session takes one.",
            "The first writer with a lock and those without it do not exclude each other.",
            "The log store in every session that writes the table, or in none.",
        )


def _coordinator_conf(session: WriterSession) -> Iterator[Trouble]:
    observed = session.observed
    for entry in session.of(_CONF_KEY):
        if not entry.is_known:
            continue
        conf = read_conf({COORDINATOR_PROPERTY: "dynamodb", COORDINATOR_CONF: entry.value})
        wrong = conf.problem
        if not wrong and observed.coordinator and conf.store != observed.coordinator:
            wrong = f"New tables are registered in {conf.store}; the coordinator is {observed.coordinator}."
        if not wrong and observed.region:
            wrong = endpoint_mismatch(conf.endpoint, observed.region, observed.endpoint)
        if wrong:
            yield _about_conf(session, entry.key, wrong, conf.store)


def _about_conf(session: WriterSession, key: str, wrong: str, store: str) -> Trouble:
    observed = session.observed
    name = observed.coordinator or store
    value = ""
    if name and observed.region:
        endpoint = observed.endpoint or aws_endpoint(observed.region)
        value = coordinator_json(WriterConfig(observed.region, dynamodb_endpoint=endpoint, coordinator=name))
    changes = (SettingChange(key, key, value),) if value else ()
    instead = f"{key} = {value}" if value else "A JSON object with dynamoDBTableName and dynamoDBEndpoint."
    return Trouble(key, wrong, "New tables commit through another coordinator, or cannot be created.", instead, changes)


def _databricks(session: WriterSession) -> Iterator[Trouble]:
    if session.platform == "databricks" and (session.wants_log_store or session.wants_coordinator):
        named_entries = [*session.classes, *session.entries]
        ours = (entry.key for entry in named_entries if entry.key.startswith((LOG_STORE, COORDINATOR, "spark.delta.")))
        yield Trouble(
            next(ours, "spark_conf"),
            "Databricks commits through a service of its own, and takes no lock of DynamoDB.",
            "Its commits and those of writers with the lock can overwrite each other.",
            "Let Databricks read this table, and write it from elsewhere.",
        )


_STORE = "S3DynamoDBLogStore, 2.2.0 to 4.4.0"
_PATHS = "ExternalCommitEntry: tablePath as the writer spells it, 4.4.0"
_BUILDER = "DynamoDBCommitCoordinatorClientBuilder, 3.3.0 to 4.4.0"
RULES = (
    DoctorRule("scheme-without-lock", Severity.CRITICAL, "DelegatingLogStore.s3Schemes, 4.4.0", _scheme_without_lock),
    DoctorRule("scheme-of-table", Severity.CRITICAL, _PATHS, _scheme_of_table),
    DoctorRule("region", Severity.CRITICAL, f"{_STORE}: ddb.region is us-east-1 unless set", _region),
    DoctorRule("bucket-region", Severity.WARNING, "fs.s3a.endpoint.region, hadoop-aws 3.3.2 and newer", _bucket_region),
    DoctorRule("store-name", Severity.CRITICAL, f"{_STORE}: ddb.tableName is delta_log unless set", _table_name),
    DoctorRule("mechanism", Severity.CRITICAL, "DelegatingLogStore, 4.4.0", _mechanism),
    DoctorRule("coordinator-conf", Severity.CRITICAL, _BUILDER, _coordinator_conf),
    DoctorRule("databricks", Severity.CRITICAL, "Databricks' page on limits of Delta on S3", _databricks),
)
