"""A plan as its page shows it: its last preflight, and what setting up its inventory would do."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backups import inventory_setup
from backups.models import Plan
from backups.policies.documents import BACKING_UP, PURPOSES
from backups.policies.names import names_of
from backups.policies.preflight import PREFLIGHT_KIND
from dashboard.jobs.models import Job


@dataclass(frozen=True, slots=True)
class PermissionsFor:
    """Of one purpose what is missing, not known, and held: as `PolicyCheck` has it, with all `actions` of a kind."""

    purpose: str
    missing: list[dict[str, Any]]
    unknown: list[dict[str, Any]]
    held: list[dict[str, Any]]

    @property
    def is_restoring(self) -> bool:
        """Whether what is missing is no fault: it need not be granted before it is done."""
        return self.purpose != BACKING_UP


@dataclass(frozen=True, slots=True)
class PermissionReport:
    """The last check of permissions."""

    job: Job
    checked_at: datetime | None
    purposes: list[PermissionsFor]


@dataclass(frozen=True, slots=True)
class InventorySetUp:
    """The configuration `id` of a bucket, the last job that put one, and why none can be put, "" unless so."""

    job: Job | None
    id: str
    bucket: str
    why_not: str
    formats: tuple[str, ...] = inventory_setup.FORMATS
    frequencies: tuple[str, ...] = inventory_setup.FREQUENCIES


def last_preflight(plan: Plan) -> PermissionReport | None:
    jobs = Job.objects.filter(kind=PREFLIGHT_KIND, target_type="plan", target_id=str(plan.pk))
    job = jobs.order_by("-created_at").first()
    if job is None:
        return None
    checks, checked_at = job.result.get("checks", []), job.result.get("checked_at")
    purposes = []
    for purpose in PURPOSES:
        those = [one for one in checks if one.get("purpose", BACKING_UP) == purpose]  # older checks say nothing of it
        by_held = (_together(one for one in those if one["held"] == held) for held in ("no", "unknown", "yes"))
        purposes += [PermissionsFor(purpose, *by_held)] if those else []
    return PermissionReport(job, datetime.fromisoformat(checked_at) if checked_at else None, purposes)


def _together(checks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[tuple[str, Any], ...], list[str]] = {}
    for one in checks:
        said = tuple((name, value) for name, value in one.items() if name != "action")
        found.setdefault(said, []).append(one["action"])
    return [{**dict(said), "actions": actions} for said, actions in found.items()]


def inventory_set_up(plan: Plan) -> InventorySetUp:
    """What setting up the plan's inventory would put where, and the last job that did."""
    job = Job.objects.filter(kind=inventory_setup.KIND, target_type="plan", target_id=str(plan.pk)).first()
    try:
        wanted = inventory_setup.configuration_of(plan)
    except inventory_setup.PlaceUnfit as reason:
        return InventorySetUp(job, "", "", str(reason))
    return InventorySetUp(job, wanted.id, names_of(plan).source.bucket, "")
