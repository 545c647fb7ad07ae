"""What may be done with plans: add and edit them, check their permissions, set up their inventories."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from backups import inventory_setup
from backups.models import Plan
from backups.policies.jobs import PREFLIGHT_KIND
from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection
from dashboard.declaration.declaring import store
from dashboard.declaration.differences import read_declaration
from dashboard.declaration.reading import DeclarationError
from dashboard.jobs.actions import Target, run_in_foreground, submit
from dashboard.jobs.models import Job

PLACE = "plans[0]"


class NameTaken(DeclarationError):
    """A new plan has the name of one that is there."""


@transaction.atomic
def save_plan(actor: Actor, values: Mapping[str, Any], plan: Plan | None = None) -> Plan:
    """Add a plan, or change one, by the same rules as `levee apply`; `values` are the keys of its `[[plans]]`.

    Raises NotAllowed, NameTaken, and DeclarationError that names the key as plans[0].key.
    """
    target = plan.name if plan else str(values.get("name", ""))
    for connection in _concerned(values, plan):
        require(actor, "backup.plan", target=target, connection=connection)
    declared = read_declaration({"plans": [dict(values)]})
    [wanted] = declared["plans"]
    if plan is None and Plan.objects.filter(name=wanted.name).exists():
        raise NameTaken(f"{PLACE}.name: a plan is called {wanted.name!r} already: choose another name.")
    if plan is not None and plan.name != wanted.name:
        raise DeclarationError(f"{PLACE}.name: a plan keeps its name, which its runs and their evidence carry.")
    changes = store(declared).changes
    saved = Plan.objects.select_related("connection", "vault_connection").get(name=wanted.name)
    if changes:
        record(
            actor,
            "backup.plan",
            target_type="plan",
            target_id=str(saved.pk),
            target_label=saved.name,
            before=changes[0].before,
            after=wanted.values,
        )
    return saved


def _concerned(values: Mapping[str, Any], plan: Plan | None) -> set[Connection | None]:
    """Every connection that the plan reads or writes through, before and after; None for a name that is none."""
    names = {values.get("connection", ""), values.get("vault_connection") or values.get("connection", "")}
    found = {name: Connection.objects.filter(name=name).first() for name in names}
    return {*found.values(), *((plan.connection, plan.vault_connection) if plan else ())}


def ask_for_preflight(actor: Actor, plan: Plan) -> Job:
    """Queue a check of every permission of the plan; changes nothing. Raises NotAllowed."""
    return submit(
        actor,
        PREFLIGHT_KIND,
        f"Check the permissions of {plan.name}",
        connection=plan.vault_connection,
        target=Target("plan", str(plan.pk), plan.name),
        params={"plan": plan.pk},
    )


def ask_for_inventory(
    actor: Actor, plan: Plan, choice: inventory_setup.InventoryOptions, *, replace: bool = False, enqueue: bool = True
) -> Job:
    """Put the plan's inventory configuration on its source; `replace` one of the same id that says something else.

    Queued, or run here where `enqueue` is false. Raises NotAllowed, and PlaceUnfit where S3 could not deliver there.
    """
    configuration = inventory_setup.configuration_of(plan, choice)
    start = submit if enqueue else run_in_foreground
    return start(
        actor,
        inventory_setup.KIND,
        f"Set up the inventory {configuration.id} for {plan.name}",
        connection=plan.connection,
        target=Target("plan", str(plan.pk), plan.name),
        params={"plan": plan.pk, "format": choice.format, "frequency": choice.frequency, "replace": replace},
    )
