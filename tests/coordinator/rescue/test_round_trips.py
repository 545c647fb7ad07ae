"""What each call saves aside comes back as it was: bytes of a file, attributes of an item."""

import pytest

from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from tests.builders.people import actor
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


def test_an_abandoned_entry_comes_back_with_every_attribute(console: Console) -> None:
    table, entry = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")
    assert console.item(saved.ORDERS, 3) == {}

    job = saved.restored(console, table, copy["id"])

    assert (job.state, job.error_text) == ("succeeded", "")
    assert console.item(saved.ORDERS, 3) == entry
    assert (copy["repair"], copy["version"]) == ("abandon-commit", 3)


@pytest.mark.slow
def test_the_table_is_observed_again(console: Console) -> None:
    table, _ = saved.abandoned(console)
    table.refresh_from_db()
    assert table.accepted_version == 2

    job = saved.restored(console, table, saved.only_copy(console, table, "entry")["id"])

    table.refresh_from_db()
    assert table.accepted_version == 3
    assert table.summary in job.message


def test_a_removed_temp_file_comes_back_byte_for_byte(console: Console) -> None:
    table, key, data = saved.removed_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")
    assert key not in _keys(console)

    job = saved.restored(console, table, copy["id"])

    assert (job.state, job.error_text) == ("succeeded", "")
    assert console.bytes_of(key) == data
    assert copy["goes_to"] == f"s3a://{console.lake.bucket}/{key}"


def test_a_removed_staged_file_comes_back_byte_for_byte(console: Console) -> None:
    table, key, data = saved.contended(console)
    copy = saved.only_copy(console, table, "staged-file")
    assert key not in _keys(console)

    job = saved.restored(console, table, copy["id"])

    assert (job.state, job.error_text) == ("succeeded", "")
    assert console.bytes_of(key) == data


def test_a_registration_that_was_lost_after_it_was_saved_comes_back_with_every_attribute(console: Console) -> None:
    table, item = saved.unpublished_by_mistake(console)
    copy = saved.only_copy(console, table, "registration")
    saved.lose_registration(console)

    job = saved.restored(console, table, copy["id"])

    assert (job.state, job.error_text) == ("succeeded", "")
    assert saved.registrations(console) == [item]


@pytest.mark.slow
def test_the_copy_stays(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")

    saved.restored(console, table, copy["id"])

    assert saved.only_copy(console, table, "entry") == copy


def test_what_is_there_already_is_nothing_to_do(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")
    saved.restored(console, table, copy["id"])

    assert saved.refusal(console, table, copy["id"])["why"] == "nothing-to-do"


@pytest.mark.slow
def test_the_audit_log_names_the_copy_and_the_requests(console: Console) -> None:
    table, _ = saved.abandoned(console)
    copy = saved.only_copy(console, table, "entry")

    job = saved.restored(console, table, copy["id"])

    done = AuditEntry.objects.get(job_id=job.pk, outcome="done")
    assert (done.before["copy"], done.target_id) == (copy["id"], str(table.pk))
    assert done.after["calls"][-1]["outcome"] == "done"
    assert done.aws_request_ids


def test_a_first_commit_comes_back_although_nothing_was_left_of_its_table(console: Console) -> None:
    console.lake.pending(saved.ORDERS, 0)
    console.lake.delete(console.temp_key(saved.ORDERS, 0))
    table = console.observed(saved.ORDERS)
    entry = console.item(saved.ORDERS, 0)
    plan = console.plan(table, "abandon-commit")
    console.run(console.repair(table, plan, by=actor(Role.ADMIN), confirm=table.name))
    assert console.item(saved.ORDERS, 0) == {}

    job = saved.restored(console, table, saved.only_copy(console, table, "entry")["id"])

    assert (job.state, job.error_text) == ("succeeded", "")
    assert console.item(saved.ORDERS, 0) == entry


def _keys(console: Console) -> set[str]:
    return {key for key, _ in console.state()[0]}
