"""A file that was saved aside comes back as it was, byte for byte."""

import pytest

from dashboard.audit.models import AuditEntry
from tests.coordinator.repairs.console import Console
from tests.coordinator.rescue import saved

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def young_count_as_old(monkeypatch: pytest.MonkeyPatch) -> None:
    saved.let_young_count_as_old(monkeypatch)


@pytest.mark.slow
def test_the_table_is_observed_again(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    job = saved.restored(console, table, saved.only_copy(console, table, "temp-file")["id"])

    table.refresh_from_db()
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


@pytest.mark.slow
def test_the_copy_stays(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")

    saved.restored(console, table, copy["id"])

    assert saved.only_copy(console, table, "temp-file") == copy


def test_what_is_there_already_is_nothing_to_do(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")
    saved.restored(console, table, copy["id"])

    assert saved.refusal(console, table, copy["id"])["why"] == "nothing-to-do"


@pytest.mark.slow
def test_the_audit_log_names_the_copy_and_the_requests(console: Console) -> None:
    table, _, _ = saved.named_temp_file(console)
    copy = saved.only_copy(console, table, "temp-file")

    job = saved.restored(console, table, copy["id"])

    done = AuditEntry.objects.get(job_id=job.pk, outcome="done")
    assert (done.before["copy"], done.target_id) == (copy["id"], str(table.pk))
    assert done.after["calls"][-1]["outcome"] == "done"
    assert done.aws_request_ids


def _keys(console: Console) -> set[str]:
    return {key for key, _ in console.state()[0]}
