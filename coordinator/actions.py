"""What an operator may do with the lake. Pages, commands and the schedule all call these."""

from coordinator.models import DeltaTable
from dashboard.accounts.actor import Actor
from dashboard.connections.models import Connection
from dashboard.jobs.actions import Target, run_in_foreground, submit
from dashboard.jobs.models import Job
from lake.delta.uri import TableUri


def observe_lake(actor: Actor, connection: Connection, *, in_full: bool = False) -> Job:
    """Queue a look at a whole connection; the one under way is returned instead of a second. Raises NotAllowed."""
    return submit(
        actor, "observe", _lake_title(connection), connection=connection, params={"in_full": in_full} if in_full else {}
    )


def observe_lake_now(actor: Actor, connection: Connection, *, in_full: bool = False) -> Job:
    """Look at a whole connection in this process and return the finished job. Raises NotAllowed, JobBusy."""
    return run_in_foreground(
        actor, "observe", _lake_title(connection), connection=connection, params={"in_full": in_full} if in_full else {}
    )


def observe_table(actor: Actor, table: DeltaTable) -> Job:
    """Queue a look at one table. Raises NotAllowed."""
    uri = TableUri("s3a", table.bucket, table.prefix)
    return submit(
        actor,
        "observe-table",
        _table_title(uri),
        connection=table.connection,
        target=Target("table", str(table.pk), table.uri),
        params={"uri": uri.s3a},
    )


def observe_table_now(actor: Actor, connection: Connection, uri: TableUri) -> Job:
    """Look at one table, known or not, in this process and return the finished job. Raises NotAllowed, JobBusy."""
    table = DeltaTable.objects.filter(connection=connection, bucket=uri.bucket, prefix=uri.key).first()
    return run_in_foreground(
        actor,
        "observe-table",
        _table_title(uri),
        connection=connection,
        target=Target("table", str(table.pk) if table else "", uri.s3a),
        params={"uri": uri.s3a},
    )


def _lake_title(connection: Connection) -> str:
    return f"Observe {connection.name}"


def _table_title(uri: TableUri) -> str:
    return f"Observe {uri.name}"
