"""Where people are signed in: kept in the database, listed, and ended one by one or all together.

Sessions are kept under the digest of their key: whoever reads the database cannot take a session over.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest
from django.utils import timezone

from dashboard.accounts.actor import PROVED_AT, Actor, client_address
from dashboard.accounts.models import SignedIn
from dashboard.audit.log import record

LONGEST = timedelta(hours=12)
NOTED_EVERY = timedelta(minutes=1)
BEGAN_AT = "began_at"
NOTED_AT = "used_at"


def stored_key(key: str | None) -> str:
    """Return what stands in the database for a browser's session key, which is random enough to need no salt."""
    return hashlib.sha256(key.encode()).hexdigest()[:40] if key else ""


class SessionStore(db.SessionStore):
    """Django's sessions in the database, looked up and saved under `stored_key`, with whose they are."""

    @classmethod
    def get_model_class(cls) -> type[SignedIn]:
        return SignedIn

    def _get_session_from_db(self) -> SignedIn | None:
        found = SignedIn.objects.filter(pk=stored_key(self.session_key), expire_date__gt=timezone.now()).first()
        if found is None:
            self._session_key = None
        return found

    def get_expiry_date(self, **given: Any) -> datetime:
        """Return the end: some hours after the last use, and in any case LONGEST after the sign-in."""
        began = _moment(self.get(BEGAN_AT))
        end = super().get_expiry_date(**given)
        return end if began is None else min(end, began + LONGEST)

    def get_expiry_age(self, **given: Any) -> int:
        """Return the seconds that a browser keeps the cookie; the row says when the session ends."""
        return int(LONGEST.total_seconds())

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row: Any = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        row.user_id = data.get(SESSION_KEY)
        row.ip, row.user_agent = data.get("ip"), data.get("user_agent", "")
        row.since, row.seen_at = _moment(data.get(BEGAN_AT)), _moment(data.get(NOTED_AT))
        return row

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(stored_key(key))


def note_sign_in(request: HttpRequest) -> None:
    """Write into the session that its person has just typed the password, and when it began."""
    now = timezone.now()
    request.session[PROVED_AT], request.session[BEGAN_AT] = now.isoformat(), now.timestamp()
    note_use(request)


def note_use(request: HttpRequest) -> None:
    """Write into the session, at most once a minute, that it is used and from where; saving it also moves its end.

    Reading a page needs no write: where the database takes none at once, the next request writes it down.
    """
    now, session = timezone.now(), request.session
    noted, was_modified = session.get(NOTED_AT, 0), session.modified
    if now.timestamp() - noted < NOTED_EVERY.total_seconds():
        return
    session[NOTED_AT] = now.timestamp()
    session.setdefault(BEGAN_AT, now.timestamp())
    session["ip"], session["user_agent"] = client_address(request), request.headers.get("User-Agent", "")[:400]
    try:
        with _without_waiting():
            session.save()
    except (DatabaseError, UpdateError):
        session[NOTED_AT] = noted
    session.modified = was_modified  # saved again at the page's end, it would undo what another page wrote meanwhile


@contextmanager
def _without_waiting() -> Iterator[None]:
    """Statements that fail at once where SQLite is locked by another writer."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        [waits_ms] = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {waits_ms}")


def _moment(timestamp: float | None) -> datetime | None:
    return None if timestamp is None else datetime.fromtimestamp(timestamp, UTC)


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
    return list(SignedIn.objects.filter(user=user, expire_date__gt=timezone.now()))


def end_sessions(actor: Actor, user: User, *, only: str = "", but: str = "") -> int:
    """End one session (`only`), or all except `but`, both as `SignedIn` names them; returns how many.

    The next request of each is a stranger's.
    """
    sessions = SignedIn.objects.filter(user=user).exclude(pk=but)
    if only:
        sessions = sessions.filter(pk=only)
    with transaction.atomic():
        ended, _ = sessions.delete()
        if ended:
            record(
                actor,
                "account.end_sessions",
                target_type="person",
                target_id=str(user.pk),
                target_label=user.get_username(),
                after={"ended": ended},
            )
    return ended
