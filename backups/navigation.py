"""The entry of backups in the navigation, with the number of plans that need a person."""

from collections.abc import Iterable
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from backups.models import Plan, RestorePoint, Run, RunState
from dashboard.accounts.scope import owned_by
from dashboard.web.navigation import Counted, NavItem, register

# What waits for a person comes before what has ended badly, as on the status page.
_LOUD = {state.value: state.value for state in (RunState.WAITING_FOR_APPROVAL, RunState.FAILED)}


def register_addresses() -> None:
    """Register the entries of the navigation, and whose things the addresses of these pages name."""
    register(NavItem("Protection", "Backups", "backups", "i-shield", 10, COUNTED))
    owned_by(plan_name=_of_plan, run_id=_of_run, point_id=_of_point)


def _by_newest_run(connection_id: int | None) -> "QuerySet[Plan, Any]":
    """Plans by the state of their newest run."""
    newest = Run.objects.filter(plan=OuterRef("pk")).order_by("-created_at", "-id").values("state")[:1]
    plans = Plan.objects.order_by()
    if connection_id is not None:
        plans = plans.filter(Q(connection=connection_id) | Q(vault_connection=connection_id))
    return plans.annotate(key=Subquery(newest)).values("key").annotate(number=Count("pk"))


COUNTED = Counted(_by_newest_run, _LOUD)


def _of_plan(name: str) -> Iterable[int | None]:
    found = Plan.objects.filter(name=name).values_list("connection_id", "vault_connection_id")
    return chain.from_iterable(found)


def _of_point(point_id: UUID) -> Iterable[int | None]:
    found = RestorePoint.objects.filter(pk=point_id).values_list("plan__connection_id", "plan__vault_connection_id")
    return chain.from_iterable(found)


def _of_run(run_id: UUID) -> Iterable[int | None]:
    found = Run.objects.filter(pk=run_id).values_list("plan__connection_id", "plan__vault_connection_id")
    return chain.from_iterable(found)
