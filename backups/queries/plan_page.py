"""A plan as its page shows it: its settings in words, and the ticks of its last preflight."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.dateparse import parse_datetime

from backups import inventory_setup
from backups.destinations import is_pool
from backups.models import Plan
from backups.policies.documents import PolicyDocument, as_cli, as_json, merge_note, policy_documents
from backups.policies.jobs import PREFLIGHT_KIND
from backups.policies.names import PlanNames, names_of
from backups.queries.rows import Fact
from dashboard.jobs.models import Job

_HELD = {"yes": "healthy", "no": "blocked", "unknown": "not_checked"}
_HELD_WORDS = {"yes": "Held", "no": "Missing", "unknown": "Not known"}
_HOW = {"simulated": "simulated by IAM", "read": "read in the bucket's policy"}
FORMS: dict[str, tuple[str, Callable[[PolicyDocument], str]]] = {
    "json": ("JSON", as_json),
    "cli": ("AWS CLI", as_cli),
}
_ACCOUNTS = {"source": "Source account", "vault": "Backup account"}


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """One permission as the list shows it."""

    state: str
    word: str
    action: str
    resource: str
    who: str
    how: str
    reason: str


@dataclass(frozen=True, slots=True)
class PermissionReport:
    """The last check of permissions: what is missing or not known, missing first, and what is held."""

    job: Job
    checked_at: datetime | None
    open_ticks: tuple[PermissionRow, ...]
    held_ticks: tuple[PermissionRow, ...]


@dataclass(frozen=True, slots=True)
class InventorySetUp:
    """The configuration `id` of a bucket, the last job that put one, and why none can be put, "" unless so."""

    job: Job | None
    id: str
    bucket: str
    why_not: str
    formats: tuple[str, ...] = inventory_setup.FORMATS
    frequencies: tuple[str, ...] = inventory_setup.FREQUENCIES


@dataclass(frozen=True, slots=True)
class PolicyView:
    """One policy, as text in the form that was chosen."""

    code: str
    title: str
    why: str
    account: str
    target: str
    note: str
    text: str


def settings_of(plan: Plan) -> tuple[Fact, ...]:
    """What the plan says, in words."""
    ceiling = f"${plan.cost_ceiling_usd:,.2f}" if plan.cost_ceiling_usd is not None else "None"
    facts = [
        Fact("Source", plan.source, f"read through {plan.connection.name}", is_code=True),
        Fact("Destination", plan.destination, f"written through {plan.vault_connection.name}", is_code=True),
        _inventory(plan),
        Fact("Engine", plan.get_engine_display()),
        Fact("Takes", plan.get_selection_display(), _files(plan)),
        Fact("Schedule", plan.schedule or "By hand", "paused" if plan.paused else "UTC" if plan.schedule else ""),
        Fact(
            "Objective",
            f"{plan.objective_hours:,} h",
            "how old the newest copy may be",
        ),
        Fact("Cost ceiling", ceiling, "an estimate above it waits for approval"),
        _keep(plan),
        Fact("Storage class", plan.storage_class or "STANDARD", "of the copies"),
    ]
    if plan.encryption_key:
        facts.append(Fact("Key of the copies", plan.encryption_key, is_code=True))
    if plan.source_key:
        facts.append(Fact("Key of the source", plan.source_key, is_code=True))
    if plan.role_arn:
        facts.append(Fact("Role of S3 Batch", plan.role_arn, is_code=True))
    if plan.evidence:
        facts.append(Fact("Manifests and reports", plan.evidence, is_code=True))
    return (*facts, Fact("Told", ", ".join(map(str, plan.notify)) or "Those of the alert rules", ""))


def last_preflight(plan: Plan) -> PermissionReport | None:
    job = (
        Job.objects.filter(kind=PREFLIGHT_KIND, target_type="plan", target_id=str(plan.pk))
        .order_by("-created_at")
        .first()
    )
    if job is None:
        return None
    result = job.result if isinstance(job.result, dict) else {}
    checks = [one for one in result.get("checks") or [] if isinstance(one, dict)]
    by_held = {held: tuple(_tick(one) for one in checks if one.get("held") == held) for held in _HELD}
    checked_at = parse_datetime(str(result.get("checked_at") or ""))
    return PermissionReport(job, checked_at, by_held["no"] + by_held["unknown"], by_held["yes"])


def inventory_set_up(plan: Plan) -> InventorySetUp:
    """What setting up the plan's inventory would put where, and the last job that did."""
    job = Job.objects.filter(kind=inventory_setup.KIND, target_type="plan", target_id=str(plan.pk)).first()
    try:
        wanted = inventory_setup.configuration_of(plan, inventory_setup.InventoryOptions())
    except inventory_setup.PlaceUnfit as reason:
        return InventorySetUp(job, "", "", str(reason))
    return InventorySetUp(job, wanted.id, names_of(plan).source.bucket, "")


def policy_views(names: PlanNames, form: str) -> tuple[PolicyView, ...]:
    """Every policy of the plan in one of FORMS."""
    return tuple(_policy(one, form) for one in policy_documents(names))


def accounts(views: Iterable[PolicyView]) -> list[tuple[str, list[PolicyView]]]:
    """The policies by account, the backup account's first: the others name its role."""
    listed = list(views)
    return [(word, [one for one in listed if one.account == account]) for account, word in reversed(_ACCOUNTS.items())]


def _policy(policy: PolicyDocument, form: str) -> PolicyView:
    text = FORMS[form][1](policy)
    return PolicyView(policy.code, policy.title, policy.why, policy.account, policy.target, merge_note(policy), text)


def _tick(check: dict[str, object]) -> PermissionRow:
    held = str(check.get("held"))
    return PermissionRow(
        _HELD.get(held, "not_checked"),
        _HELD_WORDS.get(held, "Not known"),
        str(check.get("action", "")),
        str(check.get("resource", "")),
        str(check.get("who", "")),
        _HOW.get(str(check.get("how")), ""),
        str(check.get("reason", "")),
    )


def _inventory(plan: Plan) -> Fact:
    if not plan.inventory:
        return Fact("Inventory", "Not used", "the source is listed at each run")
    lag = f"assumed to hold everything up to {plan.minimum_lag_hours:,} h before its start"
    return Fact("Inventory", plan.inventory, lag, is_code=True)


def _files(plan: Plan) -> str:
    if plan.files == Plan.Files.LIVE:
        return f"files of live versions, back to {plan.window_hours:,} h; the log always"
    return "all files; the log always"


def _keep(plan: Plan) -> Fact:
    if is_pool(plan.destination):
        return Fact("Keep", "Everything", "copies in a pool share objects: none may go by itself")
    said = ", ".join(f"{count} {period}" for period, count in plan.keep.items())
    return Fact("Keep", said or "Everything", "copies without gaps; what else may go is marked, Levee deletes none")
