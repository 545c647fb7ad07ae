"""Finding the connection that a command names; a name that fits nothing is said at once."""

from dashboard.commands import Failed, UsageError
from dashboard.connections.models import Connection


def connections() -> list[Connection]:
    """All connections. Raises Failed where none is declared."""
    found = list(Connection.objects.all())
    if not found:
        raise Failed("No connection is declared: write [connections.NAME] into a file for `levee apply`.")
    return found


def connection_named(name: str) -> Connection:
    """Return the connection. Raises UsageError naming those there are."""
    found = Connection.objects.filter(name=name).first()
    if found is None:
        known = ", ".join(Connection.objects.values_list("name", flat=True)) or "none yet"
        raise UsageError(f"No connection is called {name!r}. Declared: {known}.")
    return found


def only_connection(name: str | None) -> Connection:
    """The connection of a name, or the only one there is. Raises Failed, or UsageError where several are meant."""
    if name is not None:
        return connection_named(name)
    found = connections()
    if len(found) > 1:
        raise UsageError("Several connections are declared: add --connection NAME.")
    return found[0]
