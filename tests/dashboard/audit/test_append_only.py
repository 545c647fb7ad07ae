"""The audit log only grows, whoever asks."""

import pytest
from django.db import IntegrityError, connection, transaction

from dashboard.accounts.actor import Actor
from dashboard.audit.log import record
from dashboard.audit.models import AuditEntry
from dashboard.audit.triggers import ENTRIES, protect

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("triggers")]


@pytest.fixture
def entry() -> AuditEntry:
    return record(
        Actor.command(), "lake.observe", target_label="s3a://lake/orders", before={"n": 1}, detail="As asked."
    )


@pytest.fixture
def guarded(entry: AuditEntry) -> AuditEntry:
    """The entry in a database with its triggers, which tests take off to be able to clean up."""
    protect(connection, ENTRIES)
    return entry


def test_saving_under_the_number_of_another_is_refused(guarded: AuditEntry) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        AuditEntry(pk=guarded.pk, at=guarded.at, actor_name="x", source="page", action="x.y", outcome="done").save()


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_auditentry SET detail = ''", "DELETE FROM audit_auditentry WHERE id > 0"]
)
def test_the_database_refuses_plain_sql(guarded: AuditEntry, statement: str) -> None:
    with pytest.raises(IntegrityError, match="only grows"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEntry.objects.get().detail == "As asked."


def test_the_database_still_takes_new_rows(guarded: AuditEntry) -> None:
    record(Actor.schedule(), "lake.observe")
    assert AuditEntry.objects.count() == 2


def test_an_entry_outlives_the_person_it_speaks_of(django_user_model: type) -> None:
    user = django_user_model.objects.create_user("maya")
    record(Actor(name="maya", source="page", user=user), "lake.observe")
    protect(connection, ENTRIES)
    user.delete()
    assert AuditEntry.objects.get().actor_name == "maya"
