"""What may be done to a connection from the console."""

from dashboard.accounts.actor import Actor
from dashboard.accounts.gate import require
from dashboard.audit.log import record
from dashboard.connections.models import Connection


def set_read_only(actor: Actor, connection: Connection, read_only: bool) -> bool:
    """Switch whether Levee may change a connection's lake; False where it is so already. Raises NotAllowed.

    Jobs ask again before their first call, so what is queued stops there.
    """
    require(actor, "lake.declare", target=connection.name, connection=connection)
    changed = Connection.objects.filter(pk=connection.pk, read_only=not read_only).update(read_only=read_only) > 0
    if changed:
        record(
            actor,
            "connection.read-only",
            target_type="connection",
            target_id=str(connection.pk),
            target_label=connection.name,
            before={"read_only": not read_only},
            after={"read_only": read_only},
        )
        connection.read_only = read_only
    return changed
