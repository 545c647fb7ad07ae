"""A declaration that removes something while somebody else begins to use it."""

import threading

import pytest
from django.db import IntegrityError, connection, connections

from dashboard.accounts.models import Grant
from dashboard.connections.models import Connection
from dashboard.declaration.connections import ConnectionSection
from tests.builders.people import person
from tests.dashboard.declaration.builders import NOTHING_LEFT, WHOLE
from tests.waiting import scaled, wait_until

pytestmark = [
    pytest.mark.postgres("locks"),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite lets one writer in at a time"),
    pytest.mark.django_db(transaction=True),
]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def test_nothing_that_was_stored_after_the_last_look_goes_with_a_connection(apply, monkeypatch):
    """Whoever comes between is refused by the database; if it let them in, the deletion would take their row along."""
    apply(WHOLE, "--apply")
    ada, found = person(None, "ada"), Connection.objects.get()
    refused: list[IntegrityError] = []

    def grant() -> None:
        try:
            Grant.objects.create(user=ada, connection=found, role="viewer")
        except IntegrityError as error:
            refused.append(error)
        finally:
            connections.close_all()

    somebody = threading.Thread(target=grant)
    remove = ConnectionSection.remove

    def remove_after_a_while(section, row):
        somebody.start()
        wait_until(lambda: somebody_waits() or not somebody.is_alive(), 10)
        remove(section, row)

    monkeypatch.setattr(ConnectionSection, "remove", remove_after_a_while)
    apply(NOTHING_LEFT, "--prune", "--apply")
    somebody.join(scaled(30))

    assert not Connection.objects.exists()
    assert len(refused) == 1


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])
