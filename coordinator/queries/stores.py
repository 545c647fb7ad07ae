"""Commit stores and buckets as pages show them: the facts that were read, in words; unread facts are Unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count

from coordinator.lifecycle_rules import RuleRow, rule_rows
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
    """One bucket. `rules` is None where the rules could not be read."""

    bucket: Bucket
    tables: int
    versioning: str
    rules: tuple[RuleRow, ...] | None
    temp_rules: tuple[int, int] | None
    """Of how many tables temp files leave by a rule, and of how many tables; None where that is not known."""

    @property
    def rules_share(self) -> float:
        """Percent of the thousand rules that a bucket can have."""
        return 100 * len(self.rules or ()) / MOST_RULES


@dataclass(frozen=True, slots=True)
class FindingLine:
    """What diagnosis said of a store's or bucket's settings, worst first."""

    state: str
    summary: str
    meaning: str


@dataclass(frozen=True, slots=True)
class PairedRule:
    """A rule with what it reaches; `reach` is None for what could not be understood as a rule."""

    row: RuleRow
    reach: RuleReach | None


@dataclass(frozen=True, slots=True)
class BucketRules:
    """All rules of a bucket, those that act on something a table needs first, by when they first do."""

    view: LifecycleView
    rules: tuple[PairedRule, ...]


def paired(view: LifecycleView, rows: Sequence[RuleRow]) -> BucketRules:
    """Rules as read beside what each reaches: the reaches come in the order of the rules that could be read."""
    reaches = list(view.rules)
    found = []
    for row in rows:
        fits = bool(reaches) and reaches[0].id == row.id and reaches[0].enabled == row.enabled
        found.append(PairedRule(row, reaches.pop(0) if fits else None))
    never = datetime.max.replace(tzinfo=UTC)
    found.sort(key=lambda one: (one.reach.first_bites_at or never) if one.reach else never)
    return BucketRules(view, tuple(found))


def finding_lines(facts: Mapping[str, Any]) -> list[FindingLine]:
    found = facts.get("findings")
    kept = [finding for finding in found if isinstance(finding, Mapping)] if isinstance(found, list) else []
    return [FindingLine(*(str(finding.get(key) or "") for key in ("state", "summary", "meaning"))) for finding in kept]


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


def unknown_facts(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Facts that could not be read, each with the reason S3 or DynamoDB gave."""
    found = facts.get("unknown")
    pairs = found if isinstance(found, list | tuple) else []
    return [(str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2]


def tiering_names(facts: Mapping[str, Any]) -> list[str] | None:
    """Names of the archive configurations that are not switched off; None where they could not be read."""
    found = facts.get("tiering")
    if not isinstance(found, list):
        return None
    known = [one for one in found if isinstance(one, Mapping)]
    return [str(one.get("Id") or "without a name") for one in known if one.get("Status") != "Disabled"]


def key_schema(facts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Attribute, role and type of each key part."""
    found = facts.get("key_schema")
    parts = found if isinstance(found, list | tuple) else []
    return [(str(p[0]), str(p[1]), str(p[2])) for p in parts if isinstance(p, list | tuple) and len(p) >= 3]


def worst(things: Sequence[CommitStore] | Sequence[Bucket]) -> CommitStore | Bucket | None:
    """The one whose sentence heads the page; None where all are healthy."""
    troubled = [thing for thing in things if thing.state != State.HEALTHY]
    return min(troubled, key=lambda thing: (thing.state_rank, thing.name), default=None)


def on_or_off(value: object) -> str:
    return UNKNOWN if value is None else ("On" if value else "Off")


def _store_row(store: CommitStore, tables: int) -> StoreRow:
    facts = store.facts if isinstance(store.facts, dict) else {}
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
    found = facts.get("load")
    load = found if isinstance(found, Mapping) else {}
    peak, throttles = load.get("peak_writes"), [load.get("read_throttles"), load.get("write_throttles")]
    told = [first] if first else []
    if isinstance(peak, int | float):
        told.append(f"peak {peak:,.0f} writes/s")
    known = [one for one in throttles if isinstance(one, int)]
    if len(known) == len(throttles):
        told.append(f"{sum(known):,} throttled, 24 h")
    return ", ".join(told)


def _ttl(store: CommitStore, facts: Mapping[str, Any]) -> tuple[str, str, str]:
    """Word, attribute and remark. A coordinator's item is the truth about its table: TTL would delete it."""
    note = "must stay off" if store.kind == CommitStore.Kind.COMMIT_COORDINATOR else ""
    status = str(facts.get("ttl_status") or "").upper()
    words = {"ENABLED": "On", "ENABLING": "Turning on", "DISABLING": "Turning off", "DISABLED": "Off"}
    attribute = str(facts.get("ttl_attribute") or "") if status != "DISABLED" else ""
    return words.get(status, UNKNOWN), attribute, note


def _bucket_row(bucket: Bucket, tables: int) -> BucketRow:
    facts = bucket.facts if isinstance(bucket.facts, dict) else {}
    versioning = str(facts.get("versioning") or UNKNOWN)
    if facts.get("mfa_delete"):
        versioning += ", MFA delete"
    raw = facts.get("lifecycle_rules")
    rules = tuple(rule_rows(raw)) if isinstance(raw, list) else None
    return BucketRow(bucket=bucket, tables=tables, versioning=versioning, rules=rules, temp_rules=_temp_rules(facts))


def _temp_rules(facts: Mapping[str, Any]) -> tuple[int, int] | None:
    """What the bucket's own finding counted, so that list and page say one number."""
    found = facts.get("findings")
    for finding in found if isinstance(found, list) else []:
        if isinstance(finding, Mapping) and finding.get("code") == "temp-rules":
            evidence = finding.get("evidence")
            counts = evidence if isinstance(evidence, Mapping) else {}
            covered, tables = counts.get("covered"), counts.get("tables")
            return (covered, tables) if isinstance(covered, int) and isinstance(tables, int) else None
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
