"""Triggers that make the database itself refuse to change or remove a row of the audit log or a seal on one."""

from django.db.backends.base.base import BaseDatabaseWrapper

ENTRIES = "audit_auditentry"
SEALS = "audit_auditseal"
SENTENCE = "The audit log only grows: its rows are neither changed nor removed."

_PREFIXES = {ENTRIES: "audit_refuse", SEALS: "audit_seal_refuse"}
_FUNCTION = (
    f"CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{SENTENCE}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
)


def protect(connection: BaseDatabaseWrapper, table: str) -> None:
    """Create the triggers of ENTRIES or SEALS; a database other than SQLite and PostgreSQL is a KeyError."""
    statements = {"sqlite": _sqlite_protect, "postgresql": _postgresql_protect}[connection.vendor]
    _execute(connection, statements(table))


def unprotect(connection: BaseDatabaseWrapper, table: str) -> None:
    """Remove the triggers: for migrating backwards, and for tests that have to empty every table."""
    statements = {"sqlite": _sqlite_unprotect, "postgresql": _postgresql_unprotect}[connection.vendor]
    _execute(connection, statements(table))


def _sqlite_protect(table: str) -> list[str]:
    return [
        f"CREATE TRIGGER {_PREFIXES[table]}_{verb.lower()} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
        for verb in ("UPDATE", "DELETE")
    ]


def _sqlite_unprotect(table: str) -> list[str]:
    return [f"DROP TRIGGER {_PREFIXES[table]}_{verb}" for verb in ("update", "delete")]


def _postgresql_protect(table: str) -> list[str]:
    return [
        _FUNCTION,
        f"CREATE TRIGGER {_PREFIXES[table]}_change BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION audit_refuse()",
        f"CREATE TRIGGER {_PREFIXES[table]}_truncate BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()",
    ]


def _postgresql_unprotect(table: str) -> list[str]:
    return [f"DROP TRIGGER {_PREFIXES[table]}_{event} ON {table}" for event in ("truncate", "change")]


def _execute(connection: BaseDatabaseWrapper, statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
