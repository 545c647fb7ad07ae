"""Stopping mails: one's own, or by the link in a mail, which is signed for one address, so that it needs no sign-in and
stops nobody else's."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.urls import reverse

from dashboard.accounts.actor import Actor
from dashboard.alerts.models import Message, Recipient, RecipientKind
from dashboard.alerts.outbox import MAIL
from dashboard.audit.log import record

_signer = Signer(salt="levee.alerts.stop")


def stop_url(address: str) -> str:
    """Return the link that stops mails to an address."""
    return f"{settings.PUBLIC_URL}{reverse('alert-stop', args=[_signer.sign_object(address)])}"


def address_of(token: str) -> str | None:
    """Return the address a link was made for; None for one that Levee did not make."""
    try:
        found = _signer.unsign_object(token)
    except BadSignature:
        return None
    return found if isinstance(found, str) else None


def set_own_mails(actor: Actor, user: User, *, wanted: bool) -> None:
    """Let a person stop their own mails, or have them again."""
    with transaction.atomic():
        _set_stopped(user, not wanted)
        name = user.get_username()
        after = {"mails": wanted}
        record(actor, "account.mails", target_type="person", target_id=str(user.pk), target_label=name, after=after)


def stop_mails(actor: Actor, address: str) -> bool:
    """Stop mails to an address: of the recipients that have it, and of the people. False: nobody has it any more."""
    with transaction.atomic():
        stopped = Recipient.objects.filter(kind=RecipientKind.ADDRESS, address__iexact=address).update(is_stopped=True)
        for user in User.objects.filter(email__iexact=address):
            stopped += _set_stopped(user, True)
        if not stopped and Message.objects.filter(channel=MAIL, address__iexact=address).exists():
            # Named by a plan, and by no list of its own: from now on by one that says no.
            Recipient.objects.create(
                name=f"{address[:80]}, no mails", kind=RecipientKind.ADDRESS, address=address, is_stopped=True
            )
            stopped = 1
        if stopped:
            record(actor, "account.mails", target_type="address", target_label=address, after={"mails": False})
    return bool(stopped)


def _set_stopped(user: User, is_stopped: bool) -> int:
    recipient, _ = Recipient.objects.get_or_create(
        user=user, kind=RecipientKind.PERSON, defaults={"name": user.get_username()[:100]}
    )
    return Recipient.objects.filter(pk=recipient.pk).update(is_stopped=is_stopped)
