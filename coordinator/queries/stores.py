"""Commit stores and buckets as lists of them show them; what was read of each its templates read from its facts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet

from coordinator.models import Bucket, CommitStore, DeltaTable, TableFinding
from coordinator.protocols.titles import title_of
from coordinator.protocols.verdict import State
from coordinator.queries.table_counts import sum_of_tables, tables_by
from coordinator.settings.equivalents import rule_switched_off
from coordinator.settings.rule_reach import LifecycleView, RuleReach
from dashboard.connections.models import Connection
from lake.delta.facts import Mechanism

TABLES_SHOWN = 20
TABLES_OFFERED = 500


def stores_with_tables(stores: "QuerySet[CommitStore]") -> list[CommitStore]:
    """Each with `table_count`, the number of its tables, the worst first."""
    counts = tables_by("store_id", is_gone=False)
    found = list(stores.select_related("connection").order_by("state_rank", "name"))
    for one in found:
        one.table_count = counts[(one.pk,)]  # type: ignore[attr-defined]
    return found


def buckets_with_tables(buckets: "QuerySet[Bucket]") -> list[Bucket]:
    """Each with `table_count`, the number of its tables, the worst first."""
    counts = tables_by("connection_id", "bucket", is_gone=False)
    found = list(buckets.select_related("connection"))
    for one in found:
        one.table_count = counts[one.connection_id, one.name]  # type: ignore[attr-defined]
    return found


def by_first_act(bucket: Bucket, view: LifecycleView) -> list[tuple[Mapping[str, Any], RuleReach, str]]:
    """Each rule as read beside what it reaches, those that act on something a table needs first, by when they do; with
    the commands that switch it off where that is soon, "" elsewhere."""
    never, raw = datetime.max.replace(tzinfo=UTC), bucket.facts.get("lifecycle_rules") or ()
    remedies = [
        rule_switched_off(bucket.name, reach.id, bucket.facts.get("least_size_moved") or "")
        if reach.id and reach.state != State.HEALTHY and not reach.is_temp_rule
        else ""
        for reach in view.rules
    ]
    return sorted(zip(raw, view.rules, remedies, strict=True), key=lambda one: one[1].first_bites_at or never)


def decided_by(bucket: Bucket, view: LifecycleView) -> RuleReach | None:
    """The rule that the worst finding is about, where it takes something soon: it is what has to be decided about."""
    findings = bucket.facts.get("findings") or [{}]
    rule = findings[0].get("evidence", {}).get("rule")
    reached = (reach for reach in view.rules if rule and reach.id == rule)
    return next((reach for reach in reached if reach.is_temp_rule or reach.state != State.HEALTHY), None)


def title(thing: CommitStore | Bucket | None) -> str:
    """The title of the worst finding, "" where the summary is another sentence: that the last check failed."""
    findings = thing.facts.get("findings") if thing else None
    is_told = bool(thing and findings and findings[0]["summary"] == thing.summary)
    return title_of(findings[0]["code"], findings[0]["state"]) if findings and is_told else ""


def tables_with_several_writers(connection: Connection | None) -> list[TableFinding]:
    """Findings of tables that several writers commit to without a commit store, newest first."""
    found = TableFinding.objects.filter(code="several-writers", resolved_at=None, table__gone_at=None)
    if connection is not None:
        found = found.filter(table__connection=connection)
    return list(found.select_related("table").order_by("-opened_at")[:TABLES_SHOWN])


def single_driver_tables(connection: Connection | None) -> int:
    """Tables of which nothing shows a commit store."""
    narrow = {"connection": connection} if connection is not None else {}
    return sum_of_tables(mechanism=Mechanism.SINGLE_DRIVER, is_gone=False, **narrow)


def guarded_tables(stores: Sequence[CommitStore]) -> int:
    return sum_of_tables(is_gone=False, store__in=stores)


def worst_tables(tables: "QuerySet[DeltaTable]") -> list[DeltaTable]:
    return list(tables.order_by("state_rank", "name", "id")[:TABLES_SHOWN])


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
