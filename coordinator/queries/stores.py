"""Commit stores and buckets as pages show them: the facts that were read, in words; unread facts are Unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count

from coordinator.models import Bucket, CommitStore, DeltaTable, TableFinding, TtlMigration
from coordinator.protocols.verdict import State
from coordinator.settings.rule_reach import LifecycleView, RuleReach
from dashboard.connections.models import Connection
from lake.delta.facts import Mechanism

MOST_RULES = 1_000
TABLES_SHOWN = 20
UNKNOWN = "Unknown"
Phase = TtlMigration.Phase


@dataclass(frozen=True, slots=True)
class StoreRow:
    """One DynamoDB table. Words are ready to show; `items` and `size` are None where they are not known."""

    store: CommitStore
    tables: int
    capacity: str
    capacity_note: str
    ttl: str
    ttl_attribute: str
    ttl_note: str
    recovery: str
    protection: str
    items: int | None
    size: int | None


@dataclass(frozen=True, slots=True)
class BucketRow:
    """One bucket. `rules` are as S3 returned them, None where they could not be read."""

    bucket: Bucket
    tables: int
    versioning: str
    rules: Sequence[Mapping[str, Any]] | None
    temp_rules: tuple[int, int] | None
    """Of how many tables temp files leave by a rule, and of how many tables; None where that is not known."""

    @property
    def rules_share(self) -> float:
        """Percent of the thousand rules that a bucket can have."""
        return 100 * len(self.rules or ()) / MOST_RULES


def by_first_act(view: LifecycleView, rules: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], RuleReach]]:
    """Each rule as read beside what it reaches, those that act on something a table needs first, by when they do."""
    never = datetime.max.replace(tzinfo=UTC)
    return sorted(zip(rules, view.rules, strict=True), key=lambda one: one[1].first_bites_at or never)


def store_rows(stores: Sequence[CommitStore]) -> list[StoreRow]:
    counts = _table_counts("store_id", [store.pk for store in stores])
    return [_store_row(store, counts.get(store.pk, 0)) for store in stores]


def bucket_rows(buckets: Sequence[Bucket]) -> list[BucketRow]:
    listed = DeltaTable.objects.filter(gone_at=None, bucket__in=[bucket.name for bucket in buckets])
    found = listed.values_list("connection_id", "bucket").annotate(number=Count("id")).order_by()
    counts = {(connection, name): number for connection, name, number in found}
    return [_bucket_row(bucket, counts.get((bucket.connection_id, bucket.name), 0)) for bucket in buckets]


def tables_with_several_writers(connection: Connection | None) -> list[TableFinding]:
    """Findings of tables that several writers commit to without a commit store, newest first."""
    found = TableFinding.objects.filter(code="several-writers", resolved_at=None, table__gone_at=None)
    if connection is not None:
        found = found.filter(table__connection=connection)
    return list(found.select_related("table").order_by("-opened_at")[:TABLES_SHOWN])


def single_driver_tables(connection: Connection | None) -> int:
    """Tables of which nothing shows a commit store."""
    found = DeltaTable.objects.filter(mechanism=Mechanism.SINGLE_DRIVER, gone_at=None)
    return (found.filter(connection=connection) if connection is not None else found).count()


def worst_tables(**of: Any) -> list[DeltaTable]:
    return list(DeltaTable.objects.filter(gone_at=None, **of).order_by("state_rank", "name", "id")[:TABLES_SHOWN])


def tiering_names(facts: Mapping[str, Any]) -> list[str] | None:
    """Names of the archive configurations that are not switched off; None where they could not be read."""
    found = facts.get("tiering")
    if found is None:
        return None
    return [str(one.get("Id") or "without a name") for one in found if one.get("Status") != "Disabled"]


def worst(things: Sequence[CommitStore] | Sequence[Bucket]) -> CommitStore | Bucket | None:
    """The one whose sentence heads the page; None where all are healthy."""
    troubled = [thing for thing in things if thing.state != State.HEALTHY]
    return min(troubled, key=lambda thing: (thing.state_rank, thing.name), default=None)


def on_or_off(value: object) -> str:
    return UNKNOWN if value is None else ("On" if value else "Off")


def _store_row(store: CommitStore, tables: int) -> StoreRow:
    facts = store.facts
    capacity, capacity_note = _capacity(facts)
    ttl, attribute, ttl_note = _ttl(store, facts)
    return StoreRow(
        store=store,
        tables=tables,
        capacity=capacity,
        capacity_note=capacity_note,
        ttl=ttl,
        ttl_attribute=attribute,
        ttl_note=ttl_note,
        recovery=on_or_off(facts.get("point_in_time_recovery")),
        protection=on_or_off(facts.get("deletion_protection")),
        items=facts.get("item_count"),
        size=facts.get("size_bytes"),
    )


def _capacity(facts: Mapping[str, Any]) -> tuple[str, str]:
    if facts.get("billing") == "on_demand":
        return "On-demand", _load_note("", facts)
    read, write = facts.get("read_capacity"), facts.get("write_capacity")
    if facts.get("billing") == "provisioned" and read is not None and write is not None:
        return f"{read:,} read, {write:,} write", _load_note("provisioned", facts)
    return UNKNOWN, ""


def _load_note(first: str, facts: Mapping[str, Any]) -> str:
    """What CloudWatch saw in the last day, where it was read."""
    load = facts.get("load") or {}
    peak, reads, writes = (load.get(name) for name in ("peak_writes", "read_throttles", "write_throttles"))
    told = [first] if first else []
    if peak is not None:
        told.append(f"peak {peak:,.0f} writes/s")
    if reads is not None and writes is not None:
        told.append(f"{reads + writes:,} throttled, 24 h")
    return ", ".join(told)


def _ttl(store: CommitStore, facts: Mapping[str, Any]) -> tuple[str, str, str]:
    """Word, attribute and remark. A coordinator's item is the truth about its table: TTL would delete it."""
    note = "must stay off" if store.kind == CommitStore.Kind.COMMIT_COORDINATOR else ""
    status = facts.get("ttl_status") or ""
    words = {"ENABLED": "On", "ENABLING": "Turning on", "DISABLING": "Turning off", "DISABLED": "Off"}
    attribute = (facts.get("ttl_attribute") or "") if status != "DISABLED" else ""
    return words.get(status, UNKNOWN), attribute, note


def _bucket_row(bucket: Bucket, tables: int) -> BucketRow:
    facts = bucket.facts
    versioning = str(facts.get("versioning") or UNKNOWN)
    if facts.get("mfa_delete"):
        versioning += ", MFA delete"
    rules = facts.get("lifecycle_rules")
    return BucketRow(bucket=bucket, tables=tables, versioning=versioning, rules=rules, temp_rules=_temp_rules(facts))


def _temp_rules(facts: Mapping[str, Any]) -> tuple[int, int] | None:
    """What the bucket's own finding counted, so that list and page say one number."""
    for finding in facts.get("findings", []):
        if finding["code"] == "temp-rules":
            return finding["evidence"]["covered"], finding["evidence"]["tables"]
    return None


def _table_counts(field: str, ids: Sequence[int]) -> dict[int, int]:
    listed = DeltaTable.objects.filter(gone_at=None, **{f"{field}__in": ids})
    return dict(listed.values_list(field).annotate(number=Count("id")).order_by())


@dataclass(frozen=True, slots=True)
class TtlPlace:
    """One phase; `state` is the word of a job's step: next, running or done. `at` is when it began."""

    title: str
    says: str
    state: str
    at: datetime | None


def ttl_places(migration: TtlMigration) -> list[TtlPlace]:
    """The four phases; a move that has ended keeps no word of the phase it ended in, so its sentence says it."""
    left = migration.from_attribute or "the other attribute"
    phases = (
        (Phase.DISABLING, "Switch TTL off", f"One call, for TTL on {left}."),
        (Phase.WAITING_OFF, "Wait until it is off", "DynamoDB takes up to an hour."),
        (Phase.ENABLING, "Switch TTL on by expireTime", "DynamoDB takes one change in about an hour."),
        (Phase.WAITING_ON, "See that it is on", "DynamoDB takes up to an hour again."),
    )
    order = [phase.value for phase, _, _ in phases]
    here = order.index(migration.phase) if migration.phase in order else -1
    places = []
    for place, (_, title, says) in enumerate(phases):
        if migration.phase == Phase.DONE or (here >= 0 and place < here):
            state = "done"
        else:
            state = "running" if place == here else "next"
        told = migration.detail if place == here and migration.detail else says
        places.append(TtlPlace(title, told, state, migration.phase_at if place == here else None))
    return places
