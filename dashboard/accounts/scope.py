"""Which connections a person may see, and which one of them they look at. Lists and counts are narrowed to it.

A person with a role everywhere sees all. One with roles on single connections sees only those, one at a time; what
belongs to another connection is not there for them (404), and pages that show the whole console are not theirs (403).
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import ForeignKey, Model, Q, QuerySet
from django.http import Http404, HttpRequest

from dashboard.accounts.access import access_of
from dashboard.connections.models import Connection

SESSION_KEY = "connection"
# What a person without any role may open: their own account and the way out.
OWN_PAGES = frozenset(
    {
        "me",
        "password",
        "end-own-sessions",
        "own-mails",
        "alert-stop",
        "logout",
        "prove",
        "login",
        "welcome",
        "healthz",
        "readyz",
    }
)
# What tells of every connection at once.
WHOLE_CONSOLE = frozenset(
    {
        "audit", "people", "new-person", "person", "person-link", "person-sessions", "alert-messages", "alert-message",
        "alert-message-again", "alert-rules", "alert-rule", "alert-new-rule", "alert-rule-delete", "alert-recipients",
        "alert-recipient-test", "alert-recipient-delete",
    }
)  # fmt: skip

Seen = TypeVar("Seen", bound=Model)
ConnectionOf = Callable[[Any], Iterable[int | None]]
_owners: dict[str, ConnectionOf] = {}


def owned_by(**owners: ConnectionOf) -> None:
    """Register whose things an address names: by the name of its part, such as table_id, a function from its value to
    the connections (none: nothing is there; None: it belongs to no connection)."""
    _owners.update(owners)


def owned_parts() -> frozenset[str]:
    """Return the parts of addresses that `owned_by` knows."""
    return frozenset(_owners)


def visible(request: HttpRequest) -> frozenset[int] | None:
    """Return the numbers of the connections that this person may see; None: all."""
    user = getattr(request, "user", None)
    return access_of(request).connections if user is not None and user.is_authenticated else None


def seen(request: HttpRequest, model: type[Seen], scope: Connection | None = None) -> QuerySet[Seen]:
    """Return the rows of a model that belong to connections which this person may see, or to `scope` alone of those.

    Views read through this alone. A model belongs to the connections that its own fields name, or those of a row that
    it points to; one without any is a TypeError.
    """
    numbers, paths = visible(request), _paths_to_connection(model)
    if scope is not None:
        numbers = frozenset({scope.pk}) if numbers is None else numbers & {scope.pk}
    rows: QuerySet[Seen] = model._default_manager.all()
    if numbers is None:
        return rows
    return rows.filter(Q.create([(f"{path}__in", numbers) for path in paths], connector=Q.OR))


def _paths_to_connection(model: type[Model], *, further: bool = True) -> list[str]:
    """Return the lookups that lead from a row to the connections that it belongs to."""
    if model is Connection:
        return ["pk"]
    keys = [field for field in model._meta.fields if isinstance(field, ForeignKey)]
    to = {key.name: key.related_model for key in keys}
    direct = [name for name, target in to.items() if target is Connection]
    if direct or not further:
        return direct
    paths = {name: _paths_to_connection(target, further=False) for name, target in to.items()}
    leading = [key for key in keys if paths[key.name]]
    # What a row cannot be without is what it belongs to: a run belongs to its plan, and not to the job that moves it.
    owners = [key.name for key in leading if not key.null] or [key.name for key in leading]
    if not owners:
        raise TypeError(f"{model.__name__} belongs to no connection.")
    return [f"{name}__{path}" for name in owners for path in paths[name]]


def connections_of(request: HttpRequest) -> QuerySet[Connection]:
    """Return the connections that this person may see."""
    return seen(request, Connection)


def current_connection(request: HttpRequest) -> Connection | None:
    """Return the connection in scope, or None for all; one that has been removed since is no longer in scope.

    Who may see single connections alone always looks at one of them.
    """
    session = getattr(request, "session", None)
    number = session.get(SESSION_KEY) if session is not None else None
    chosen = connections_of(request).filter(pk=number).first() if isinstance(number, int) else None
    return chosen or (connections_of(request).first() if visible(request) is not None else None)


def choose_connection(request: HttpRequest, name: str) -> Connection | None:
    """Keep the connection of that name in the session; an unknown or empty name means all."""
    chosen = connections_of(request).filter(name=name).first() if name else None
    request.session[SESSION_KEY] = chosen.pk if chosen else None
    return chosen


def require_visible(request: HttpRequest, url_name: str, parts: dict[str, object]) -> None:
    """Let a page be made, or raise PermissionDenied, or Http404 for what belongs to a connection out of sight."""
    numbers = visible(request)
    if numbers is None or url_name in OWN_PAGES:
        return
    if not numbers:
        raise PermissionDenied("You have no role yet: an admin gives one.")
    if url_name in WHOLE_CONSOLE:
        raise PermissionDenied("This page tells of every connection: it needs a role that holds everywhere.")
    for part, value in parts.items():
        if part in _owners and not any(number in numbers for number in _owners[part](value)):
            raise Http404
