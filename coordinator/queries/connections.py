"""Connections as pages show them: what they reach, the permissions that each feature needs, and which are held."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from coordinator.models import Bucket, CommitStore
from coordinator.queries.table_counts import tables_by
from coordinator.settings.iam import trust_document
from coordinator.settings.iam_names import NEW_STORES, policies
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job, JobState

CHECK_KIND = "check-permissions"
ORDER = ("no", "unknown", "yes")


@dataclass(frozen=True, slots=True)
class FeatureLines:
    """One feature: its policy as text, and its permissions as last checked, the missing ones first."""

    feature: str
    title: str
    policy: str
    lines: list[Mapping[str, str]]
    missing: int
    unknown: int

    @property
    def held(self) -> int:
        return len(self.lines) - self.missing - self.unknown


def with_numbers(connections: "QuerySet[Connection]") -> list[Connection]:
    """Each with the numbers of what it holds: `table_count`, `store_count` and `bucket_count`."""
    counts = tables_by("connection_id", is_gone=False)
    found: list[Any] = list(
        connections.annotate(
            store_count=_number_of(CommitStore.objects.all()), bucket_count=_number_of(Bucket.objects.all())
        )
    )
    for one in found:
        one.table_count = counts[(one.pk,)]
    return found


def _number_of(rows: "QuerySet[Any]") -> Coalesce:
    own = rows.filter(connection=OuterRef("pk")).order_by().values("connection")
    return Coalesce(Subquery(own.annotate(number=Count("pk")).values("number")), 0)


def newest_check(connection: Connection) -> Job | None:
    """The check that found out most lately, or the one under way."""
    jobs = Job.objects.filter(kind=CHECK_KIND, connection=connection)
    return jobs.exclude(state__in=[JobState.CANCELLED, JobState.LOST]).order_by("-created_at").first()


def last_result(connection: Connection) -> Mapping[str, Any]:
    """What the last finished check found; empty where there was none."""
    jobs = Job.objects.filter(kind=CHECK_KIND, connection=connection, state=JobState.SUCCEEDED)
    found = jobs.order_by("-created_at").values_list("result", flat=True).first()
    return found if isinstance(found, dict) else {}


def feature_lines(
    connection: Connection, result: Mapping[str, Any], new_stores: str = NEW_STORES
) -> list[FeatureLines]:
    """Each feature with its policy for this connection's names; policies name the account once it is known."""
    account = str(result.get("identity", "")).split(":")
    known = account[4] if len(account) > 4 else "*"
    return [
        _feature(policy, result.get("permissions", [])) for policy in policies(connection, known or "*", new_stores)
    ]


def role_trust(connection: Connection) -> str:
    """The trust policy of the role that the connection assumes, "" where it assumes none."""
    if not connection.role_arn:
        return ""
    return _as_json(trust_document(connection.external_id))


def _as_json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def _feature(policy: Any, permissions: list[Mapping[str, str]]) -> FeatureLines:
    own = [one for one in permissions if one["feature"] == policy.feature]
    own.sort(key=lambda one: ORDER.index(one["held"]))
    held = [one["held"] for one in own]
    return FeatureLines(
        feature=policy.feature,
        title=policy.title,
        policy=_as_json(policy.document),
        lines=own,
        missing=held.count("no"),
        unknown=held.count("unknown"),
    )
