"""The one door: every password is checked here, and who fails waits before the next try is looked at.

django-axes keeps the failures, under a digest in place of the name. Each failure above the free ones doubles the wait:
of a name from an address up to a quarter of an hour; of a name, or of an address, whatever the other is, up to a
minute. Of a browser in which the person has signed in before only its own failures count, so that no stranger keeps
them out, neither by their name nor from behind their address.
"""

import math
import secrets
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import ValidationError
from django.db.models import Max, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from django.utils.crypto import salted_hmac

from dashboard.accounts.actor import Actor, client_address
from dashboard.audit.log import record

KNOWN_COOKIE = "known_browser"
KNOWN_FOR = timedelta(days=90)
_SALT = "levee.accounts.door"
PASSWORD_ACTS = ("account.sign_in", "account.prove", "account.password")


@dataclass(frozen=True)
class Slowing:
    """How failures slow the next try: `free` cost nothing, the next one two seconds, each further one twice as much."""

    free: int
    longest: timedelta

    def wait_after(self, failures: int) -> timedelta:
        if failures <= self.free:
            return timedelta()
        return min(self.longest, timedelta(seconds=2 ** min(failures - self.free, 20)))


OF_A_NAME_FROM_AN_ADDRESS = Slowing(free=4, longest=timedelta(minutes=15))
OF_A_NAME = Slowing(free=20, longest=timedelta(minutes=1))
OF_AN_ADDRESS = Slowing(free=30, longest=timedelta(minutes=1))


def check_password(request: HttpRequest, act: str, name: str, password: str, *, refusal: str) -> User:
    """Return the person of that name and password, or raise ValidationError: `refusal`, or how long to wait (`paused`).

    `act` is what the audit log calls a refusal. A name that nobody has is not written down: it may be a password.
    """
    user = authenticate(request, username=name, password=password)
    if isinstance(user, User):
        _failures(request, name).filter(ip_address=client_address(request)).delete()
        return user
    wait = _words(waiting_time(request, name))
    if getattr(request, "axes_locked_out", False):  # the password was not looked at
        raise ValidationError(f"Too many tries. Wait {wait}, or ask an admin for a link to a new password.", "paused")
    exists = User.objects.filter(username=name).exists()
    record(
        Actor.from_request(request),
        act,
        target_type="person",
        target_label=name if exists else "",
        outcome="refused",
        detail=refusal if exists else f"{refusal} Nobody has the name that was given.",
    )
    raise ValidationError(f"{refusal} Wait {wait} before the next try." if wait else refusal, "invalid")


def waiting_time(request: HttpRequest, name: str) -> timedelta:
    """Return how long the next try of this name from this browser has to wait; zero: it is looked at now."""
    address, now = client_address(request), timezone.now()
    waits = [_wait(_failures(request, name).filter(ip_address=address), OF_A_NAME_FROM_AN_ADDRESS, now)]
    if not _known_as(request, name):
        waits += [
            _wait(_failures(request, name), OF_A_NAME, now),
            _wait(AccessAttempt.objects.filter(ip_address=address), OF_AN_ADDRESS, now),
        ]
    return max(waits)


def forget_failures(name: str) -> None:
    """Let the person of that name try at once: they were given a new password, or let in again."""
    AccessAttempt.objects.filter(username__startswith=_digest(name)).delete()


def remember_browser(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Tell this browser, for 90 days, that the person has signed in with it; it opens nothing by itself."""
    name = user.get_username()
    key = _known_as(request, name) or secrets.token_urlsafe(16)
    response.set_cookie(
        KNOWN_COOKIE,
        signing.dumps({"name": _digest(name), "key": key}, salt=_SALT),
        max_age=int(KNOWN_FOR.total_seconds()),
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )


class Door(AxesDatabaseHandler):  # type: ignore[misc]
    """django-axes with our waits in place of its lock, and without the forms that it keeps."""

    def user_login_failed(self, sender: object, credentials: Mapping[str, Any], request: Any, **more: object) -> None:
        """Keep a failure and nothing of what was typed: any field may hold a password, and the address a secret."""
        bare = copy(request)
        bare.GET, bare.POST = QueryDict(), QueryDict()
        super().user_login_failed(sender, credentials, bare, **more)
        request.axes_credentials = bare.axes_credentials

    def is_locked(self, request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> bool:
        return bool(waiting_time(request, str((credentials or {}).get("username", ""))))


def key_of(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str:
    """Return under what django-axes keeps the failures of these credentials: a digest of the name, since names, known
    or not, are not kept, and the key of a known browser."""
    name = str((credentials or {}).get("username", ""))
    return _digest(name) + _known_as(request, name)


def paused(request: HttpRequest, response: HttpResponse, credentials: Mapping[str, Any] | None) -> HttpResponse:
    """Answer who has to wait: the page that the view made, which says so in its form, as 429."""
    response.status_code = 429
    wait = waiting_time(request, str((credentials or {}).get("username", "")))
    response["Retry-After"] = str(max(1, math.ceil(wait.total_seconds())))
    return response


def _known_as(request: HttpRequest, name: str) -> str:
    """Return the key of a browser in which this person has signed in before, else an empty text."""
    try:
        known = signing.loads(request.COOKIES.get(KNOWN_COOKIE, ""), salt=_SALT, max_age=KNOWN_FOR)
    except signing.BadSignature:
        return ""
    return str(known["key"]) if known["name"] == _digest(name) else ""


def _digest(name: str) -> str:
    return salted_hmac(_SALT, name, algorithm="sha256").hexdigest()


def _failures(request: HttpRequest, name: str) -> "QuerySet[AccessAttempt]":
    failures: QuerySet[AccessAttempt] = AccessAttempt.objects.filter(username=key_of(request, {"username": name}))
    return failures


def _wait(failures: "QuerySet[AccessAttempt]", slowing: Slowing, now: datetime) -> timedelta:
    recent = failures.filter(attempt_time__gt=now - settings.AXES_COOLOFF_TIME)
    held = recent.aggregate(many=Sum("failures_since_start"), last=Max("attempt_time"))
    wait = slowing.wait_after(held["many"] or 0)
    return max(timedelta(), held["last"] + wait - now) if wait else timedelta()


def _words(wait: timedelta) -> str:
    seconds = math.ceil(wait.total_seconds())
    if seconds > 90:
        return f"{math.ceil(seconds / 60)} minutes"
    return f"{seconds} {'second' if seconds == 1 else 'seconds'}" if seconds else ""
