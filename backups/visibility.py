"""Whose things an address of backups names: a plan's, which belongs to the connections it reads and writes through."""

from collections.abc import Iterable
from uuid import UUID

from backups.models import Plan, Run
from dashboard.accounts.scope import owned_by


def register_owners() -> None:
    """Tell which connections a plan or run in an address belongs to."""
    owned_by(plan_name=_of_plan, run_id=_of_run)


def _of_plan(name: str) -> Iterable[int | None]:
    found = Plan.objects.filter(name=name).values_list("connection_id", "vault_connection_id")
    return [number for pair in found for number in pair]


def _of_run(run_id: UUID) -> Iterable[int | None]:
    found = Run.objects.filter(pk=run_id).values_list("plan__connection_id", "plan__vault_connection_id")
    return [number for pair in found for number in pair]
