"""The chain over the audit log: what was changed, removed or slipped in is found."""

import pytest
import time_machine
from django.db import connection

from dashboard.accounts.actor import Actor
from dashboard.audit import chain
from dashboard.audit.chain import seal_all, seal_new_entries, verify
from dashboard.audit.log import record
from dashboard.audit.models import AuditEntry, AuditSeal

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("triggers", "locks")]


def entries(count: int) -> list[AuditEntry]:
    return [record(Actor.command(), "lake.observe", target_label=f"table {n}", after={"n": n}) for n in range(count)]


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.mark.parametrize("column", ["actor_name", "outcome"])
def test_a_changed_entry_is_found(column: str) -> None:
    changed = entries(3)[1]
    seal_all()
    sql(f"UPDATE audit_auditentry SET {column} = 'other' WHERE id = %s", changed.pk)  # noqa: S608 - a name from above
    assert verify().breaks == (
        f"Entry {changed.pk} (lake.observe of {changed.at:%Y-%m-%d %H:%M} UTC) is not what seal 2 sealed.",
    )


def test_a_removed_entry_is_found() -> None:
    removed = entries(3)[0]
    seal_all()
    sql("DELETE FROM audit_auditentry WHERE id = %s", removed.pk)
    assert f"Entry {removed.pk} was removed" in verify().breaks[0]


def test_an_entry_removed_together_with_its_seal_is_found() -> None:
    removed = entries(3)[1]
    seal_all()
    sql("DELETE FROM audit_auditentry WHERE id = %s", removed.pk)
    sql("DELETE FROM audit_auditseal WHERE entry = %s", removed.pk)
    assert verify().breaks == ("Seal 2 is missing: the chain goes on with 3.",)


def test_a_shortened_chain_is_found_by_a_seal_kept_elsewhere() -> None:
    last = entries(3)[2]
    seal_all()
    head = verify().head
    sql("DELETE FROM audit_auditentry WHERE id = %s", last.pk)
    sql("DELETE FROM audit_auditseal WHERE entry = %s", last.pk)
    assert verify().holds
    assert "removed from its end" in verify(head).breaks[0]


def test_a_seal_kept_elsewhere_is_found_in_a_chain_that_grew() -> None:
    entries(2)
    seal_all()
    head = verify().head
    entries(2)
    seal_all()
    assert verify(head).holds


def test_an_entry_committed_late_is_sealed_after_its_successors() -> None:
    first, second = entries(2)
    seal = chain.seal_of(chain.GENESIS, 1, second.at, second)
    AuditSeal.objects.create(place=1, entry=second.pk, sealed_at=second.at, seal=seal)
    assert seal_all() == 1
    assert AuditSeal.objects.get(entry=first.pk).place == 2
    assert verify().holds


def test_an_entry_that_stays_without_a_seal_is_found() -> None:
    with time_machine.travel("2026-01-01 10:00", tick=False):
        entries(1)
    assert "has no seal" in verify().breaks[0]


def forge(*statements: str) -> None:
    """Change the log as its database's owner can, who knows this code and not the secret, and make every seal anew."""
    for statement in (*statements, "DELETE FROM audit_auditseal"):
        sql(statement)


def test_whoever_owns_the_database_cannot_make_the_seals_anew(settings) -> None:
    entries(3)
    seal_all()
    forge("UPDATE audit_auditentry SET actor_name = 'somebody else'")
    settings.AUDIT_SECRET, kept = "guessed", settings.AUDIT_SECRET
    assert seal_all() == 3
    assert verify().holds
    settings.AUDIT_SECRET = kept
    assert "is not what seal 1 sealed, or LEVEE_AUDIT_SECRET is not what it was." in verify().breaks[0]


def test_seals_that_were_removed_are_not_made_anew_for_old_entries() -> None:
    with time_machine.travel("2026-01-01 10:00", tick=False):
        entries(3)
        seal_all()
    forge("UPDATE audit_auditentry SET actor_name = 'somebody else'")
    entries(1)
    assert seal_all() == 1
    assert "has no seal" in verify().breaks[0]


def test_an_entry_that_was_put_in_with_an_old_date_gets_no_seal() -> None:
    entries(1)
    seal_all()
    with time_machine.travel("2026-01-01 10:00", tick=False):
        slipped_in = entries(1)[0]
    assert seal_all() == 0
    assert f"Entry {slipped_in.pk} of 2026-01-01 10:00 UTC has no seal" in verify().breaks[0]


def test_the_time_of_a_seal_is_sealed_too() -> None:
    entries(2)
    seal_all()
    sql("UPDATE audit_auditseal SET sealed_at = '2026-01-01 10:00:00+00:00' WHERE place = 1")
    assert not verify().holds


def test_a_long_log_is_sealed_and_verified_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "SEAL_AT_ONCE", 2)
    entries(5)
    assert seal_all() == 5
    assert verify().sealed == 5


@pytest.mark.django_db(transaction=True)
def test_an_entry_is_sealed_when_its_transaction_has_ended() -> None:
    entry = record(Actor.command(), "lake.observe")
    assert AuditSeal.objects.get().entry == entry.pk


def test_two_who_seal_at_once_make_one_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    entries(20)
    look = chain._unsealed

    def overtaken(newer_than: int) -> object:
        found = look(newer_than)
        monkeypatch.setattr(chain, "_unsealed", look)
        assert seal_new_entries() == 20
        return found

    monkeypatch.setattr(chain, "_unsealed", overtaken)
    assert seal_new_entries() == 0
    verdict = verify()
    assert (verdict.holds, verdict.sealed, verdict.unsealed) == (True, 20, 0)
    assert verdict.head == AuditSeal.objects.get(place=20).seal
