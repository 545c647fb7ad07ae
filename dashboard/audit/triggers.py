"""Triggers that make the database itself refuse to change or remove a row of the audit log."""

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "audit_auditentry"
SENTENCE = "The audit log only grows: its rows are neither changed nor removed."

_SQLITE_PROTECT = [
    f"CREATE TRIGGER audit_refuse_{verb.lower()} BEFORE {verb} ON {TABLE} BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
    for verb in ("UPDATE", "DELETE")
]
_SQLITE_UNPROTECT = [f"DROP TRIGGER audit_refuse_{verb}" for verb in ("update", "delete")]

_POSTGRESQL_PROTECT = [
    f"CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{SENTENCE}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
    f"CREATE TRIGGER audit_refuse_change BEFORE UPDATE OR DELETE ON {TABLE} "
    f"FOR EACH ROW EXECUTE FUNCTION audit_refuse()",
    f"CREATE TRIGGER audit_refuse_truncate BEFORE TRUNCATE ON {TABLE} "
    f"FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()",
]
_POSTGRESQL_UNPROTECT = [
    f"DROP TRIGGER audit_refuse_truncate ON {TABLE}",
    f"DROP TRIGGER audit_refuse_change ON {TABLE}",
    "DROP FUNCTION audit_refuse()",
]

_PROTECT = {"sqlite": _SQLITE_PROTECT, "postgresql": _POSTGRESQL_PROTECT}
_UNPROTECT = {"sqlite": _SQLITE_UNPROTECT, "postgresql": _POSTGRESQL_UNPROTECT}


def protect(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers; a database other than SQLite and PostgreSQL is a KeyError."""
    _execute(connection, _PROTECT)


def unprotect(connection: BaseDatabaseWrapper) -> None:
    """Remove the triggers: for migrating backwards, and for tests that have to empty every table."""
    _execute(connection, _UNPROTECT)


def _execute(connection: BaseDatabaseWrapper, statements: dict[str, list[str]]) -> None:
    with connection.cursor() as cursor:
        for statement in statements[connection.vendor]:
            cursor.execute(statement)
