"""What pages and commands show of stores and buckets beyond their settings, from the records alone."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict, cast

from django.db.models import Count, Q
from django.db.models.functions import TruncMinute
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from coordinator.models import Bucket, Commit, CommitStore, DeltaTable, Entry, TtlMigration
from coordinator.observation.bucket_contents import tables_in
from coordinator.protocols.log_store import UNPUBLISHED_CODES
from coordinator.protocols.stores import COMMIT_COORDINATOR
from coordinator.protocols.wording import counted
from coordinator.settings.capacity import WINDOW, CapacityAdvice, advise
from coordinator.settings.rule_reach import LifecycleView, kept_view, view_of_rules


class ExpiryCounts(TypedDict):
    """Entries that Levee keeps of a log store: past their time and still there, and those that never expire."""

    past_their_time: int
    incomplete: int
    complete_without_time: int
    with_commit_time: int


@dataclass(frozen=True, slots=True)
class ExpiryFacts:
    """TTL of a store, since when, and what it leaves behind. `since_is_exact` is false where it was so when Levee first
    looked.
    """

    ttl_status: str
    ttl_attribute: str
    since: datetime | None
    since_is_exact: bool
    counts: ExpiryCounts
    migration: TtlMigration | None
    sentence: str


def capacity_advice(store: CommitStore, now: datetime | None = None) -> CapacityAdvice:
    """Needed units for the commits of the last day through this store, beside what it has."""
    now = now or timezone.now()
    commits = Commit.objects.filter(table__store=store, table__gone_at=None, modified_at__range=(now - WINDOW, now))
    minutes = commits.annotate(minute=TruncMinute("modified_at")).values("minute").annotate(made=Count("pk"))
    made = [one["made"] for one in minutes.order_by()]
    tables = DeltaTable.objects.filter(store=store, gone_at=None).count()
    return advise(store.kind, sum(made), max(made, default=0), tables, store.facts)


def expiry_counts(store: CommitStore, now: datetime | None = None) -> ExpiryCounts:
    """Count the entries of a log store that Levee keeps; all 0 for a coordinator."""
    moment = int((now or timezone.now()).timestamp())
    found = Entry.objects.filter(store=store, store__kind=CommitStore.Kind.LOG_STORE).aggregate(
        past_their_time=Count("pk", filter=Q(complete=True, expire_time__lt=moment)),
        incomplete=Count("pk", filter=Q(complete=False)),
        complete_without_time=Count("pk", filter=Q(complete=True, expire_time=None)),
        with_commit_time=Count("pk", filter=Q(commit_time__isnull=False)),
    )
    return cast("ExpiryCounts", found)


def tables_before_ttl(store: CommitStore) -> list[DeltaTable]:
    """Tables with an entry that carries a time although its commit has no file: once TTL has taken that entry, another
    commit can take its version, so that these come before any TTL."""
    entries = store.entries.filter(code__in=UNPUBLISHED_CODES, published=False).exclude(expire_time=None)
    return list(DeltaTable.objects.filter(pk__in=entries.values("table")).order_by("name", "pk"))


def expiry_facts(store: CommitStore, now: datetime | None = None) -> ExpiryFacts:
    """TTL of a store in words."""
    facts, counts = store.facts, expiry_counts(store, now)
    status, attribute = facts.get("ttl_status") or "", facts.get("ttl_attribute") or ""
    is_moved = store.ttl_migrations.filter(phase=TtlMigration.Phase.DONE).exists()
    since = parse_datetime(facts.get("ttl_since") or "")
    return ExpiryFacts(
        ttl_status=status,
        ttl_attribute=attribute,
        since=since,
        since_is_exact=bool(facts.get("ttl_since_is_exact")) or (is_moved and since is not None),
        counts=counts,
        migration=store.ttl_migrations.filter(finished_at=None).first(),
        sentence=_expiry_sentence(store.kind, status, attribute, counts),
    )


def judged_lifecycle(bucket: Bucket) -> LifecycleView:
    """That of the bucket's last judgement, which a page has without looking at each table.

    While the bucket cannot be read nothing judges it again; what another release kept may have other fields.
    """
    kept = bucket.facts.get("lifecycle")
    if kept and bucket.error_at is None:
        with suppress(KeyError, TypeError):
            return kept_view(kept)
    return lifecycle_view(bucket)


def lifecycle_view(bucket: Bucket, now: datetime | None = None) -> LifecycleView:
    """The rules of a bucket, what each reaches and when, and whether a rule for every table would fit."""
    rules, least = bucket.facts.get("lifecycle_rules") or [], bucket.facts.get("least_size_moved") or ""
    return view_of_rules(rules, tables_in(bucket), now or timezone.now(), least)


def _expiry_sentence(kind: str, status: str, attribute: str, counts: ExpiryCounts) -> str:
    if not status:
        return "Whether TTL is on is not known."
    where = f"on {attribute}" if attribute and status != "DISABLED" else "off"
    if kind == COMMIT_COORDINATOR:
        return "TTL is off, as it has to be." if status == "DISABLED" else f"TTL is {where}, and must be off here."
    told = [f"TTL is {where}."]
    if past := counts["past_their_time"]:
        told.append(f"{counted(past, 'entry is past its', 'entries are past their')} time and still there.")
    if waiting := counts["incomplete"]:
        entries = counted(waiting, "incomplete entry", "incomplete entries")
        told.append(f"{entries} would never expire: without expireTime, TTL leaves them.")
    return " ".join(told)
