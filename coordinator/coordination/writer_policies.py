"""The least policies of writers and readers for one table, one store or one folder, from what was observed of them."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
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
from lake.delta.uri import TableUri, table_uri

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


def place_of_table(table: DeltaTable, mechanism: Mechanism) -> PolicyPlace:
    """The table's own place, in the spelling that its writers commit under; entries may hold any text as a path."""
    spelled = [found for domain in table.domains if (found := table_uri(domain.path))]
    uri = spelled[0] if spelled else TableUri("s3a", table.bucket, table.prefix)
    table_id = coordinator_table_id(table.properties)
    locks = {Mechanism.LOG_STORE: literal(_spelled(uri)), Mechanism.COORDINATED_COMMITS: table_id}
    key = locks.get(mechanism, "")
    return _place(table.connection, uri, writer_config_of_table(table), mechanism, (key,) if key else (), is_table=True)


def place_of_store(store: CommitStore, mechanism: Mechanism, place: TableUri | None = None) -> PolicyPlace:
    """The folder that all known tables of the store lie in, or the one that is named."""
    tables = DeltaTable.objects.filter(store=store, gone_at=None).order_by("bucket", "prefix")
    uri = place or _common_place(tables)
    keys = (f"{literal(_spelled(uri))}/*",) if mechanism is Mechanism.LOG_STORE else ()
    found = _place(store.connection, uri, writer_config_of_store(store), mechanism, keys, is_table=False)
    paths = () if place else (path for table in tables for path in _paths(table))
    missed = sorted(path for path in paths if not f"{path}/".startswith(f"{_spelled(uri)}/"))
    told = []
    if missed:
        more = f" and {len(missed) - 5} more" if len(missed) > 5 else ""
        where = f"{uri.scheme}://{uri.bucket}/{found.below}"
        told = [f"Tables of this store are not below {where} and not reached: {', '.join(missed[:5])}{more}."]
    if uri is PLACEHOLDER:
        told = ["No table of this store is known: put bucket and prefix in."]
    return replace(found, notes=(*found.notes, *told))


def _spelled(uri: TableUri) -> str:
    return f"{uri.scheme}://{uri.bucket}" + (f"/{uri.key}" if uri.key else "")


def _paths(table: DeltaTable) -> list[str]:
    """As its writers spell it, in each spelling that was met."""
    return [domain.path for domain in table.domains] or [table.uri]


def policies_of(place: PolicyPlace, mechanism: Mechanism) -> list[WriterPolicy]:
    """Of a writer and a reader by each engine, Spark's first."""
    return [policy_of(place, mechanism, kind, engine) for engine in WriterEngine for kind in AccessKind]


def policy_of(place: PolicyPlace, mechanism: Mechanism, kind: AccessKind, engine: WriterEngine) -> WriterPolicy:
    """One policy, with what it does not say."""
    document = policy_document(least_statements(mechanism, kind, engine, place))
    notes = (*notes_for(mechanism, kind, engine, place), *place.notes)
    name = f"delta-{kind.value}-{place.uri.name}"
    named = _NOT_IN_NAMES.sub("-", name)[:LONGEST_NAME]
    if not document["Statement"]:
        return WriterPolicy(mechanism, kind, engine, named, {}, notes[:1])
    return WriterPolicy(mechanism, kind, engine, named, document, notes)


def _place(
    connection: Connection,
    uri: TableUri,
    config: WriterConfig,
    mechanism: Mechanism,
    lock_keys: tuple[str, ...],
    *,
    is_table: bool,
) -> PolicyPlace:
    bucket = Bucket.objects.filter(connection=connection, name=uri.bucket).first()
    stores = {one.name: one for one in CommitStore.objects.filter(connection=connection)}
    account = account_of(connection, stores.values())
    used = {
        Mechanism.LOG_STORE: config.log_store or "delta_log",
        Mechanism.COORDINATED_COMMITS: config.coordinator,
    }
    name = used.get(mechanism, "")
    store = stores.get(name)
    return PolicyPlace(
        partition=partition_of(connection.region),
        region=connection.region,
        account=account,
        bucket=uri.bucket,
        prefix=uri.key,
        is_table=is_table,
        store=name,
        lock_keys=lock_keys,
        bucket_key=bucket_key(bucket, account) if bucket else None,
        store_key=store_key(store, account) if store else None,
        notes=tuple(_not_read(uri.bucket, bucket, account)),
    )


def _not_read(name: str, bucket: Bucket | None, account: str) -> Iterator[str]:
    """What was not read is said: a policy without the key of an encrypted bucket reaches nothing."""
    if (bucket.facts if bucket else {}).get("encryption_key") is None:
        yield f"The default encryption of {name} was not read: where it is a KMS key, its use has to be added."
    if account == "*":
        yield "The account was not read, so the ARNs of DynamoDB hold a * in its place."


def _common_place(tables: Iterable[DeltaTable]) -> TableUri:
    """The deepest folder that holds all tables of the first bucket among them."""
    places = [(one.bucket, one.prefix.rpartition("/")[0]) for one in tables]
    if not places:
        return PLACEHOLDER
    bucket = places[0][0]
    return TableUri("s3a", bucket, commonpath([folder for name, folder in places if name == bucket]))
