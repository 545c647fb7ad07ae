"""Visits of one person to many addresses: what came back, what was written, and nothing of it stays."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.jobs.models import Job
from dashboard.jobs.registry import kind_named
from tests.builders.people import person, signed_in_as

AUDIT_TABLES = ("audit_auditentry", "audit_seal")


@dataclass
class Visit:
    """An answer; `wrote` are the tables it wrote to beside the audit log, `refused` the details of refusals there, and
    `audited` how many rows were added in all."""

    status: int
    location: str
    text: str
    response: Any
    wrote: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    audited: int = 0
    changing_jobs: list[str] = field(default_factory=list)


class Visitor:
    """A browser of one role or person, or of a stranger; every visit begins with the same session and is taken back."""

    def __init__(self, who: Role | User | None, proved_at: datetime | None = None, **options: Any) -> None:
        self._options = options
        user = who if isinstance(who, User) or who is None else person(who)
        self._cookies = dict(signed_in_as(user, proved_at).cookies) if user else {}

    def visit(self, method: str, path: str, data: Any = None, **headers: str) -> Visit:
        client = Client(raise_request_exception=True, **self._options)
        client.cookies.update(self._cookies)
        with transaction.atomic(), written() as wrote:
            before = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
            jobs = set(Job.objects.values_list("pk", flat=True))
            response = getattr(client, method)(path, data or {}, headers=headers)
            text = response.getvalue().decode()
            entries = AuditEntry.objects.filter(pk__gt=before, outcome="refused")
            new = Job.objects.exclude(pk__in=jobs).values_list("kind", flat=True)
            found = Visit(
                response.status_code,
                response.headers.get("Location", response.headers.get("HX-Redirect", "")),
                text,
                response,
                set(wrote),
                list(entries.values_list("detail", flat=True)),
                AuditEntry.objects.filter(pk__gt=before).count(),
                [kind for kind in new if kind_named(kind).changes_lake],
            )
            transaction.set_rollback(True)
        return found


@contextmanager
def written() -> Iterator[list[str]]:
    """Collect the names of the tables that are written to, beside the audit log."""
    tables: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        words = sql.replace('"', " ").split()
        if words[0].upper() in {"INSERT", "UPDATE", "DELETE", "REPLACE"}:
            table = words[1] if words[0].upper() == "UPDATE" else words[2]
            if not table.startswith(AUDIT_TABLES):
                tables.append(table)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield tables
