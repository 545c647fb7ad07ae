"""`levee writer-test` and the pages of tests, beside moto: asked for, looked at, cleaned up."""

import io
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from changes.calls import Answer, Result, Sending
from changes.execution import make as make_call
from changes.plan import ChangePlan
from coordinator.models import CommitStore, DeltaTable, Watch, WriterTest
from coordinator.settings.requests import CleanWriterTest
from coordinator.writer_tests import cleaning
from coordinator.writer_tests.cleaning import RemoveScratch, plan_clean
from coordinator.writer_tests.places import usual_places
from dashboard.accounts.roles import Role
from dashboard.audit.models import AuditEntry
from dashboard.commands import Failed
from dashboard.connections.access import lake_access
from dashboard.jobs.models import Job
from lake.aws.access import open_lake
from tests.builders.lake import make_store, make_table
from tests.builders.people import signed_in
from tests.coordinator.settings.conftest import own_temp_key
from tests.coordinator.settings.settings_console import SettingsConsole
from tests.json_types import printed

pytestmark = pytest.mark.django_db


def levee(*words: str) -> tuple[str, str]:
    """What a command writes to stdout and to stderr."""
    out, err = io.StringIO(), io.StringIO()
    call_command(*words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def test(console: SettingsConsole) -> WriterTest:
    levee("writer-test", "--store", console.lake.log_store)
    return WriterTest.objects.get()


@pytest.fixture
def committed(console: SettingsConsole, test: WriterTest, monkeypatch: pytest.MonkeyPatch) -> WriterTest:
    """Five versions with complete entries, written long enough ago to be cleaned up."""
    monkeypatch.setattr(cleaning, "QUIET", timedelta(hours=-3))
    console.lake.table(test.prefix, 5, log_store=True)
    return test


def test_the_scratch_table_is_proposed_where_the_tables_of_the_store_lie() -> None:
    store = make_store()
    for uri in ("s3a://finance", "s3a://prod/warehouse"):
        Watch.objects.create(connection=store.connection, uri=uri)
    assert usual_places(store) == ["s3a://finance", "s3a://prod/warehouse"]
    make_table(uri="s3a://elsewhere/one", store=store)
    for name in ("a", "b"):
        make_table(uri=f"s3a://prod/warehouse/{name}", store=store)
    assert usual_places(store) == ["s3a://prod/warehouse", "s3a://elsewhere/"]


def test_the_script_alone_is_on_stdout_and_the_test_in_the_audit_log(console: SettingsConsole) -> None:
    out, err = levee("writer-test", "--store", console.lake.log_store)

    test = WriterTest.objects.get()
    assert compile(out, "printed", "exec")
    assert f'"{test.uri}"' in out
    assert f"--check {test.token}" in err
    assert test.uri.startswith(f"s3a://{console.lake.bucket}/_levee_writer_test/")
    assert AuditEntry.objects.get(action="store.test-writer").after == {"token": test.token, "uri": test.uri}


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (("--bucket", "other"), "s3a://other/_levee_writer_test/"),
        (("--at", "s3a://other/a b/"), "s3a://other/a b/_levee_writer_test/"),
        (("--at", "s3://other/x"), "s3://other/x/_levee_writer_test/"),
    ],
)
def test_the_scratch_table_lies_where_it_was_asked_for(
    console: SettingsConsole, words: tuple[str, ...], start: str
) -> None:
    found = printed("writer-test", "--store", console.lake.log_store, *words)

    assert found["uri"] == start + found["token"]
    assert f'"{found["uri"]}"' in found["script"]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--store", "x", "--check", "y"),
        ("--check", "nonsense"),
        ("--clean", "0" * 32),
        ("--store", "LOG", "--at", "hdfs://x/y"),
        ("--store", "LOG", "--at", f"s3a://lake/{'x' * 900}"),
        ("--store", "LOG", "--apply"),
        ("--check", "0" * 32, "--bucket", "b"),
    ],
)
def test_what_makes_no_sense_is_refused(console: SettingsConsole, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        levee("writer-test", *[console.lake.log_store if word == "LOG" else word for word in words])

    assert not WriterTest.objects.exists()


def test_a_test_that_was_not_run_fails_the_check(test: WriterTest) -> None:
    with pytest.raises(Failed, match="not shown"):
        levee("writer-test", "--check", test.token)

    test.refresh_from_db()
    assert (test.state, test.checked_at is None) == ("not-seen", False)


def test_a_lock_that_was_taken_is_said_with_its_evidence(committed: WriterTest) -> None:
    found = printed("writer-test", "--check", committed.token)

    assert found["state"] == "lock-taken"
    assert found["evidence"]["versions"] == [0, 1, 2, 3, 4]
    assert found["script"] == ""


def test_a_commit_that_is_not_what_its_entry_accepted_is_no_lock(console, committed: WriterTest) -> None:
    console.lake.put(own_temp_key(3, committed.prefix), b"another")

    with pytest.raises(Failed, match="not shown"):
        levee("writer-test", "--check", committed.token)

    committed.refresh_from_db()
    assert committed.state == "no-lock"


def test_a_store_that_refuses_shows_nothing_and_keeps_what_was_seen(console, committed: WriterTest) -> None:
    levee("writer-test", "--check", committed.token)
    console.lake.dynamodb.delete_table(TableName=console.lake.log_store)

    with pytest.raises(Failed, match="could not be looked at"):
        levee("writer-test", "--check", committed.token)

    committed.refresh_from_db()
    assert committed.state == "lock-taken"
    assert committed.error_text


def test_cleaning_up_is_planned_first_and_then_proven(console: SettingsConsole, committed: WriterTest) -> None:
    levee("writer-test", "--check", committed.token)
    console.lake.table("sales/orders", 2, log_store=True)
    before = console.state()

    planned = printed("writer-test", "--clean", committed.token)
    assert console.state() == before
    assert planned["job"] is None
    assert "5 objects, 0 registrations and 5 log store items" in planned["plan"]["calls"][0]["says"]

    assert printed("writer-test", "--clean", committed.token, "--apply")["job"]["state"] == "succeeded"
    committed.refresh_from_db()
    assert not [key for key, _ in console.state()[0] if "_levee_writer_test" in key]
    assert len([key for key, _ in console.state()[0] if key.startswith("sales/orders/")]) == 2
    assert len(console.lake.dynamodb.scan(TableName=console.lake.log_store)["Items"]) == 2
    assert (committed.state, committed.cleaned_at is None) == ("lock-taken", False)
    assert printed("writer-test", "--clean", committed.token)["refusal"]["why"] == "nothing-to-do"


def test_a_script_at_work_is_not_cleaned_up(console, committed: WriterTest, monkeypatch) -> None:
    monkeypatch.setattr(cleaning, "QUIET", timedelta(hours=3))

    with pytest.raises(Failed, match="may be at work"):
        levee("writer-test", "--clean", committed.token, "--apply")

    assert any("_levee_writer_test" in key for key, _ in console.state()[0])


def test_the_page_makes_a_test_and_shows_its_script(console: SettingsConsole) -> None:
    store = console.store()

    answer = signed_in(Role.OPERATOR).post(
        reverse("store-writer-test-make", args=[store.pk]), {"at": f"s3a://{console.lake.bucket}/<b>&'/"}
    )

    test = WriterTest.objects.get()
    page = signed_in(Role.VIEWER).get(answer.url).content.decode()
    assert answer.url == reverse("store-writer-test", args=[store.pk, test.token])
    assert "run_writer_test(" in page
    assert "<b>&" not in page
    assert "Not seen yet" in page


def test_the_button_looks_and_the_pages_show_the_outcome(console: SettingsConsole, committed: WriterTest) -> None:
    store = console.store()
    address = reverse("store-writer-test-check", args=[store.pk, committed.token])
    where = signed_in(Role.OPERATOR).post(address).url
    assert "It is being looked at" in signed_in(Role.VIEWER).get(where).content.decode()

    console.run(Job.objects.get(kind="check-writer-test"))

    assert "Lock taken" in signed_in(Role.VIEWER).get(where).content.decode()
    listed = signed_in(Role.VIEWER).get(reverse("store-writers", args=[store.pk])).content.decode()
    assert "Lock taken" in listed
    assert committed.uri in listed


def test_tests_of_another_store_are_not_shown(console: SettingsConsole, test: WriterTest) -> None:
    other = CommitStore.objects.create(connection=console.connection, name="other", kind="log_store")

    address = reverse("store-writer-test", args=[other.pk, test.token])

    assert signed_in(Role.VIEWER).get(address).status_code == 404


def test_a_watched_scratch_folder_holds_no_table(console: SettingsConsole, committed: WriterTest) -> None:
    Watch.objects.create(connection=console.connection, uri=f"s3a://{console.lake.bucket}/_levee_writer_test/")

    console.observe()

    assert not DeltaTable.objects.exists()


def test_a_scratch_table_is_not_observed_singly(console: SettingsConsole, committed: WriterTest) -> None:
    with pytest.raises(Failed):
        levee("observe", "--table", committed.uri, "--connection", console.connection.name)

    assert not DeltaTable.objects.exists()


@pytest.fixture
def removal(console: SettingsConsole, committed: WriterTest) -> RemoveScratch:
    """The only call of a plan."""
    with open_lake(lake_access(console.connection)) as lake:
        plan = plan_clean(
            CleanWriterTest(committed.store_name, committed.token), console.connection, lake, timezone.now()
        )
    assert isinstance(plan, ChangePlan)
    [call] = plan.calls
    assert isinstance(call, RemoveScratch)
    return call


def sent(console: SettingsConsole, call: RemoveScratch) -> Answer:
    with open_lake(lake_access(console.connection)) as lake:
        return make_call(call, Sending(lake)).answer


@pytest.mark.parametrize(("version", "data"), [(5, []), (4, [b"other"])], ids=["came", "changed"])
def test_what_came_or_changed_after_the_plan_stays_and_stops_it(console, committed, removal, version, data) -> None:
    console.lake.commit(committed.prefix, version, *data)
    before = console.state()

    assert sent(console, removal).result is Result.STOPPED
    assert console.state() == before


def test_an_object_that_changes_during_the_removal_stays(console, committed, removal, monkeypatch) -> None:
    """Its ETag is asked for with the deletion itself."""
    real = cleaning.remove_leftovers

    def late(lake, found, took):
        console.lake.commit(committed.prefix, 4, b"other")
        return real(lake, found, took)

    monkeypatch.setattr(cleaning, "remove_leftovers", late)

    assert sent(console, removal).result is Result.STOPPED
    assert [key for key, _ in console.state()[0]] == [f"{committed.prefix}/_delta_log/{4:020d}.json"]


def test_nothing_is_deleted_while_a_store_cannot_be_read(console: SettingsConsole, committed, removal) -> None:
    console.lake.dynamodb.delete_table(TableName=console.lake.log_store)

    assert sent(console, removal).result is Result.STOPPED
    assert console.lake.s3.list_objects_v2(Bucket=console.lake.bucket)["KeyCount"] == 5


def test_tables_beside_it_stay(console: SettingsConsole, committed, removal) -> None:
    neighbours = (f"{committed.prefix}2", f"{committed.prefix}-beside", committed.prefix[:-1])
    for neighbour in neighbours:
        console.lake.table(neighbour, 1, log_store=True)

    assert sent(console, removal).result is Result.DONE
    assert sent(console, removal).result is Result.ALREADY
    assert {key.partition("/_delta_log/")[0] for key, _ in console.state()[0]} == set(neighbours)
    assert len(console.lake.dynamodb.scan(TableName=console.lake.log_store)["Items"]) == len(neighbours)
