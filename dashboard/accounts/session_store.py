"""Sessions in the database under the digest of their key: whoever reads the database cannot take a session over."""

import hashlib
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone


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

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(stored_key(key))
