"""A pause after failed sign-ins, counted in the audit log: no second book to keep, and a restart forgets nothing."""

from datetime import timedelta

from django.utils import timezone

from dashboard.audit.models import AuditEntry

SIGN_IN = "account.sign_in"
WINDOW = timedelta(minutes=15)
TRIES_PER_NAME = 10
TRIES_PER_ADDRESS = 30


def is_paused(name: str, ip: str | None) -> bool:
    """Say whether this name from this address, or the address alone, has failed too often within the window.

    A name is counted per address, so that a stranger elsewhere cannot lock somebody out.
    """
    failures = AuditEntry.objects.filter(action=SIGN_IN, outcome="refused", at__gte=timezone.now() - WINDOW, ip=ip)
    if failures.filter(target_label=name).count() >= TRIES_PER_NAME:
        return True
    return failures.count() >= TRIES_PER_ADDRESS
