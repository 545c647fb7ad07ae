"""The least policies of writers and readers for one table, one store or one folder, from what was observed of them."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import commonpath
from typing import Any

from coordinator.coordination.least_policies import AccessKind, PolicyPlace, WriterEngine, least_statements, notes_for
from coordinator.coordination.session_conf import WriterConfig
from coordinator.coordination.writer_configs import writer_config_of_store, writer_config_of_table
from coordinator.models import Bucket, CommitStore, DeltaTable
from coordinator.settings.iam import policy_document
from coordinator.settings.iam_names import account_of, bucket_key, store_key
from dashboard.connections.models import Connection
from lake.aws.arns import literal, partition_of
from lake.delta.coordinator_properties import coordinator_table_id
from lake.delta.facts import Mechanism
from lake.delta.uri import TableUri

PLACEHOLDER = TableUri("s3a", "BUCKET", "PREFIX")
"""Stands where no table of a store is known."""
WORDS = {WriterEngine.SPARK: "Spark", WriterEngine.DELTA_RS: "delta-rs 1.6.0"}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_+=,.@-]+")
LONGEST_NAME = 128


@dataclass(frozen=True, slots=True)
class WriterPolicy:
    """One IAM policy and what it does not say, as `levee commits policy --json` has it; empty where the engine cannot.

    `name` is what the managed policy is to be called; letters that IAM does not take are hyphens in it.
    """

    mechanism: Mechanism
    role: AccessKind
    engine: WriterEngine
    name: str
    policy: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def what(self) -> str:
        """Whom it is for."""
        return f"A {self.role.value} with {WORDS[self.engine]}"

    @property
    def text(self) -> str:
        return json.dumps(self.policy, indent=2, ensure_ascii=False) if self.policy else ""


@dataclass(frozen=True, slots=True)
class PolicySubject:
    """What policies are asked for: tables of a connection at one place, and what was observed of its writers.

    `table_id` is that of the table's registration, "" for several tables and where it was not read. `left_out` are the
    paths of tables of the store that do not lie at the place, as their writers spell them.
    """

    connection: Connection
    uri: TableUri
    config: WriterConfig
    is_table: bool
    table_id: str = ""
    left_out: tuple[str, ...] = ()


def subject_of_table(table: DeltaTable) -> PolicySubject:
    """The table's own place, in the spelling that its writers commit under; entries may hold any text as a path."""
    spelled = [found for domain in table.domains if (found := _place_named(domain.path))]
    uri = spelled[0] if spelled else TableUri("s3a", table.bucket, table.prefix)
    config = writer_config_of_table(table)
    return PolicySubject(table.connection, uri, config, is_table=True, table_id=coordinator_table_id(table.properties))


def _place_named(path: str) -> TableUri | None:
    try:
        return TableUri.parse(path)
    except ValueError:
        return None


def subject_of_store(store: CommitStore, place: TableUri | None = None) -> PolicySubject:
    """The folder that all known tables of the store lie in, or the one that is named."""
    config = writer_config_of_store(store)
    tables = DeltaTable.objects.filter(store=store, gone_at=None).order_by("bucket", "prefix")
    common = place or _common_place(tables)
    missed = () if place else (path for table in tables for path in _paths(table) if not _lies_in(path, common))
    left_out = tuple(sorted(missed))
    return PolicySubject(store.connection, common, config, is_table=False, left_out=left_out)


def _paths(table: DeltaTable) -> list[str]:
    """As its writers spell it, in each spelling that was met."""
    return [domain.path for domain in table.domains] or [table.uri]


def _lies_in(path: str, place: TableUri) -> bool:
    folder = f"{place.scheme}://{place.bucket}/" + (f"{place.key}/" if place.key else "")
    return f"{path}/".startswith(folder)


def policies_of(subject: PolicySubject, mechanism: Mechanism) -> list[WriterPolicy]:
    """Of a writer and a reader by each engine, Spark's first."""
    return [policy_of(subject, mechanism, kind, engine) for engine in WriterEngine for kind in AccessKind]


def policy_of(subject: PolicySubject, mechanism: Mechanism, kind: AccessKind, engine: WriterEngine) -> WriterPolicy:
    """One policy, with what it does not say."""
    bucket = Bucket.objects.filter(connection=subject.connection, name=subject.uri.bucket).first()
    place = _place(subject, mechanism, bucket)
    document = policy_document(least_statements(mechanism, kind, engine, place))
    notes = (*notes_for(mechanism, kind, engine, place), *_notes_on_keys(subject, place, bucket))
    name = f"delta-{kind.value}-{subject.uri.name or subject.uri.bucket}"
    named = _NOT_IN_NAMES.sub("-", name)[:LONGEST_NAME]
    if not document["Statement"]:
        return WriterPolicy(mechanism, kind, engine, named, {}, notes[:1])
    return WriterPolicy(mechanism, kind, engine, named, document, notes)


def _place(subject: PolicySubject, mechanism: Mechanism, bucket: Bucket | None) -> PolicyPlace:
    connection, uri = subject.connection, subject.uri
    stores = {one.name: one for one in CommitStore.objects.filter(connection=connection)}
    account = account_of(connection, stores.values())
    name = _store_name(subject.config, mechanism)
    store = stores.get(name)
    return PolicyPlace(
        partition=partition_of(connection.region),
        region=connection.region,
        account=account,
        bucket=uri.bucket,
        prefix=uri.key,
        is_table=subject.is_table,
        store=name,
        lock_keys=_lock_keys(subject, mechanism),
        bucket_key=bucket_key(bucket, account) if bucket else None,
        store_key=store_key(store, account) if store else None,
    )


def _store_name(config: WriterConfig, mechanism: Mechanism) -> str:
    if mechanism is Mechanism.LOG_STORE:
        return config.log_store or "delta_log"
    return config.coordinator if mechanism is Mechanism.COORDINATED_COMMITS else ""


def _lock_keys(subject: PolicySubject, mechanism: Mechanism) -> tuple[str, ...]:
    if mechanism is Mechanism.COORDINATED_COMMITS:
        return (subject.table_id,) if subject.is_table and subject.table_id else ()
    if mechanism is not Mechanism.LOG_STORE:
        return ()
    path = f"{subject.uri.scheme}://{subject.uri.bucket}" + (f"/{subject.uri.key}" if subject.uri.key else "")
    return (literal(path),) if subject.is_table else (f"{literal(path)}/*",)


def _notes_on_keys(subject: PolicySubject, place: PolicyPlace, bucket: Bucket | None) -> Iterable[str]:
    """What was not read is said: a policy without the key of an encrypted bucket reaches nothing."""
    facts = bucket.facts if bucket else {}
    if facts.get("encryption_key") is None:
        yield f"The default encryption of {place.bucket} was not read: where it is a KMS key, its use has to be added."
    if place.account == "*":
        yield "The account was not read, so the ARNs of DynamoDB hold a * in its place."
    if subject.left_out:
        more = f" and {len(subject.left_out) - 5} more" if len(subject.left_out) > 5 else ""
        where = f"{subject.uri.scheme}://{place.bucket}/{place.below}"
        yield f"Tables of this store are not below {where} and not reached: {', '.join(subject.left_out[:5])}{more}."
    if subject.uri is PLACEHOLDER:
        yield "No table of this store is known: put bucket and prefix in."


def _common_place(tables: Iterable[DeltaTable]) -> TableUri:
    """The deepest folder that holds all tables of the first bucket among them."""
    places = [(one.bucket, one.prefix.rpartition("/")[0]) for one in tables]
    if not places:
        return PLACEHOLDER
    bucket = places[0][0]
    return TableUri("s3a", bucket, commonpath([folder for name, folder in places if name == bucket]))
