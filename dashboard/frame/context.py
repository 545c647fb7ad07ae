"""What every page may use as `console`: navigation with counts, scope, role, theme, read-only mode.

Everything is computed when a template first asks for it, so a fragment without navigation costs no query.
"""

from dataclasses import dataclass
from functools import cached_property

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from dashboard.accounts.access import access_of
from dashboard.accounts.roles import PERMISSIONS, Role
from dashboard.accounts.scope import WHOLE_CONSOLE, connections_of, current_connection, visible
from dashboard.connections.models import Connection
from dashboard.jobs.beats import silent_queues
from dashboard.web.navigation import NavCount, NavItem, counts_of, registered
from dashboard.web.states import LAKE, StateStyle, look_of

THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class NavEntry:
    """One entry as the template shows it."""

    item: NavItem
    url: str
    is_current: bool
    count: NavCount | None

    @property
    def look(self) -> StateStyle | None:
        return look_of(self.count.state) if self.count else None


class Console:
    """The shell's view of one request."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @cached_property
    def navigation(self) -> tuple[NavEntry, ...]:
        """The entries that this person sees, group by group."""
        shown = [item for item in self.pages if item.icon]
        counts = counts_of(shown, self.connection.pk if self.connection else None)
        return tuple(self._entry(item, counts.get(item.url_name)) for item in shown)

    @property
    def pages(self) -> tuple[NavItem, ...]:
        """The pages that this person may find; asking for them counts nothing."""
        return tuple(item for item in registered() if self._shows(item))

    def _entry(self, item: NavItem, count: NavCount | None) -> NavEntry:
        url = reverse(item.url_name)
        return NavEntry(item, url, self._request.path.startswith(url), count)

    def _shows(self, item: NavItem) -> bool:
        if visible(self._request) is not None and item.url_name in WHOLE_CONSOLE:
            return False
        return not item.verb or self._may(item.verb)

    def _may(self, verb: str) -> bool:
        return bool(self.role) and Role(self.role).includes(PERMISSIONS[verb])

    @cached_property
    def worst_state(self) -> str:
        """The worst state of the lake that the navigation counts, for the favicon; empty when none is counted."""
        counted = {entry.count.state for entry in self.navigation if entry.count is not None}
        return min((state for state in counted if state in LAKE), key=lambda state: LAKE[state].rank, default="")

    @cached_property
    def connection(self) -> Connection | None:
        return current_connection(self._request)

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        return tuple(connections_of(self._request))

    @cached_property
    def role(self) -> str:
        role = access_of(self._request).role
        return role.value if role else ""

    @cached_property
    def silent_queues(self) -> tuple[str, ...]:
        """The queues whose worker does not answer."""
        return silent_queues(timezone.now())

    @property
    def read_only(self) -> bool:
        return bool(settings.READ_ONLY)

    @cached_property
    def theme(self) -> str:
        """light or dark when the person has pinned one, else empty: the system decides."""
        session = getattr(self._request, "session", None)
        chosen = session.get("theme", "") if session is not None else ""
        return chosen if chosen in THEMES else ""


def console(request: HttpRequest) -> dict[str, Console]:
    """The context processor."""
    return {"console": Console(request)}
