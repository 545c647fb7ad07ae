"""Where people are signed in: kept in the database, listed, and ended one by one or all together.

Sessions are kept under the digest of their key: whoever reads the database cannot take a session over.
"""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest
from django.utils import timezone

from dashboard.accounts.actor import PROVED_AT, Actor, client_address
from dashboard.accounts.models import SignedIn
from dashboard.audit.log import record

LONGEST = timedelta(hours=12)
BEGAN_AT = "began_at"


def stored_key(key: str | None) -> str:
    """Return what stands in the database for a browser's session key, which is random enough to need no salt."""
    return hashlib.sha256(key.encode()).hexdigest()[:40] if key else ""


class SessionStore(db.SessionStore):
    """Django's sessions in the database, looked up and saved under `stored_key`."""

    def _get_session_from_db(self) -> Session | None:
        found = Session.objects.filter(session_key=stored_key(self.session_key), expire_date__gt=timezone.now()).first()
        if found is None:
            self._session_key = None
        return found

    def get_expiry_date(self, **given: Any) -> datetime:
        """Return the end: some hours after the last use, and in any case LONGEST after the sign-in."""
        began = self.get(BEGAN_AT)
        end = super().get_expiry_date(**given)
        return end if began is None else min(end, datetime.fromtimestamp(began, tz=end.tzinfo) + LONGEST)

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, object]) -> Any:
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(stored_key(key))


NOTED_EVERY = timedelta(minutes=1)
NOTED_AT = "used_at"


def note_sign_in(request: HttpRequest) -> None:
    """Write into the session that its person has just typed the password, and when it began."""
    now = timezone.now()
    request.session[PROVED_AT], request.session[BEGAN_AT] = now.isoformat(), now.timestamp()


def note_use(request: HttpRequest) -> None:
    """Write down, at most once a minute, that this request's session is used; saving it also moves its end.

    Reading a page needs no write: where the database takes none at once, the next request writes it down.
    """
    now, noted = timezone.now(), request.session.get(NOTED_AT, 0)
    if now.timestamp() - noted < NOTED_EVERY.total_seconds() or not request.session.session_key:
        return
    was_modified = request.session.modified
    try:
        with without_waiting():
            _note(request, now)
    except DatabaseError:
        request.session[NOTED_AT] = noted
    request.session.modified = was_modified


@contextmanager
def without_waiting() -> Iterator[None]:
    """Statements that fail at once where SQLite is locked by another writer; one transaction."""
    with ExitStack() as after:
        if connection.vendor == "sqlite":
            [[waits_ms]] = _pragma("busy_timeout")
            _pragma("busy_timeout = 0")
            after.callback(_pragma, f"busy_timeout = {waits_ms}")
        with transaction.atomic():
            yield


def _pragma(text: str) -> list[tuple[int]]:
    with connection.cursor() as cursor:
        return list(cursor.execute(f"PRAGMA {text}").fetchall())


def _note(request: HttpRequest, now: datetime) -> None:
    request.session[NOTED_AT] = now.timestamp()
    request.session.setdefault(BEGAN_AT, now.timestamp())
    session = SignedIn(
        session_key=stored_key(request.session.session_key),
        user=person_of(request),
        ip=client_address(request),
        user_agent=request.headers.get("User-Agent", "")[:400],
        since=now,
        seen_at=now,
    )
    seen = SignedIn.objects.filter(pk=session.pk).update(ip=session.ip, user_agent=session.user_agent, seen_at=now)
    if not seen:
        SignedIn.objects.bulk_create([session], ignore_conflicts=True)
    request.session.save()


def person_of(request: HttpRequest) -> User:
    """Return who is signed in. Raises PermissionDenied for a stranger, whom the middleware has sent away before."""
    if not isinstance(request.user, User):
        raise PermissionDenied("Sign in first.")
    return request.user


def this_session(request: HttpRequest) -> str:
    """Return what stands in the database for the key of this request's session."""
    return stored_key(request.session.session_key)


def sessions_of(user: User) -> list[SignedIn]:
    """Return a person's sessions that have not ended, the one used last first."""
    alive = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    return list(SignedIn.objects.filter(user=user, session_key__in=alive))


def end_sessions(actor: Actor, user: User, *, only: str = "", but: str = "") -> int:
    """End one session (`only`), or all except `but`, both as `SignedIn` names them; returns how many.

    The next request of each is a stranger's.
    """
    sessions = SignedIn.objects.filter(user=user).exclude(session_key=but)
    if only:
        sessions = sessions.filter(session_key=only)
    with transaction.atomic():
        keys = list(sessions.values_list("session_key", flat=True))
        Session.objects.filter(session_key__in=keys).delete()
        sessions.filter(session_key__in=keys).delete()
        if keys:
            record(
                actor,
                "account.end_sessions",
                target_type="person",
                target_id=str(user.pk),
                target_label=user.get_username(),
                after={"ended": len(keys)},
            )
    return len(keys)
