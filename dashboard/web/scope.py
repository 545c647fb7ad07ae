"""The connection that a person looks at: one, or all of them. Lists and counts are narrowed to it."""

from django.http import HttpRequest

from dashboard.connections.models import Connection

SESSION_KEY = "connection"


def current_connection(request: HttpRequest) -> Connection | None:
    """Return the connection in scope, or None for all; one that has been removed since is no longer in scope."""
    session = getattr(request, "session", None)
    number = session.get(SESSION_KEY) if session is not None else None
    return Connection.objects.filter(pk=number).first() if isinstance(number, int) else None


def choose_connection(request: HttpRequest, name: str) -> Connection | None:
    """Keep the connection of that name in the session; an unknown or empty name means all."""
    chosen = Connection.objects.filter(name=name).first() if name else None
    request.session[SESSION_KEY] = chosen.pk if chosen else None
    return chosen
