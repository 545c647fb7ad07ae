"""The embedded SQLite database brings its own tables; a PostgreSQL of a team is migrated by its operators."""

import fcntl

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def ensure_migrated() -> None:
    """Create or update the tables of the embedded database; two commands at once wait for each other.

    A command must work in a new LEVEE_HOME without a server ever having run there. Any other database is left alone.
    """
    if connection.vendor != "sqlite" or not _is_behind():
        return
    with open(settings.LEVEE_HOME / "migrate.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_behind():
            call_command("migrate", interactive=False, verbosity=0)


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
