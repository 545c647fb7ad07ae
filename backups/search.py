"""Backup plans and runs found by typing, and what may be asked of plans."""

from collections.abc import Iterable

from django.urls import reverse

from backups.models import Plan, Run
from dashboard.accounts.search import MOST_TO_ACT_ON, Search, SearchHit, SearchKind, register


def _acts(search: Search) -> Iterable[SearchHit]:
    yield SearchHit("Add a backup plan…", reverse("backup-plan-add"), verb="backup.plan", about="new")
    for plan in search.rows(Plan).select_related("vault_connection")[:MOST_TO_ACT_ON]:
        path = f"{reverse('backup-plan', args=[plan.name])}#run"
        yield SearchHit(f"Run the backup {plan.name}…", path, verb="backup.run", connection=plan.vault_connection)


register(
    SearchKind(
        "Backup plans", "i-shield", 40, "backup-plan", lambda search: search.rows(Plan),
        ("name__icontains", "source__icontains"), key="name", note="source",
    ),
    SearchKind(
        "Backup runs", "i-shield", 41, "backup-run", lambda search: search.rows(Run).select_related("plan"),
        ("id__istartswith", "plan__name__icontains"),
    ),
    acts=_acts,
)  # fmt: skip
