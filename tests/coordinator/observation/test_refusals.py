"""What AWS refuses is stored with the thing it concerns; the rest of the pass goes on."""

import pytest

from coordinator.models import CommitStore, DeltaTable, TableFinding, Watch
from tests.builders.guard import REQUEST_ID
from tests.coordinator.settings.denying import Gate


def table(name: str) -> DeltaTable:
    return DeltaTable.objects.get(name=name)


@pytest.mark.parametrize("operation", ["ListObjectsV2", "GetObject"])
def test_a_refused_log_is_that_tables_trouble(written, guard, observe_guarded, operation):
    written.table("sales/orders")
    written.table("sales/clicks")
    guard.deny(operation, "sales/orders/_delta_log/")

    result = observe_guarded()

    assert (result.tables_changed, result.tables_failed) == (1, 1)
    assert table("sales.clicks").state == "healthy"
    refused = table("sales.orders")
    assert (refused.state, refused.error_code, refused.observed_at) == ("not_checked", "AccessDenied", None)
    permission = "s3:GetObject" if operation == "GetObject" else "s3:ListBucket"
    evidence = {"code": "AccessDenied", "permission": permission, "request_id": REQUEST_ID}
    assert TableFinding.objects.get(code="unreadable").evidence == evidence

    guard.allow_all()
    observe_guarded()

    assert (table("sales.orders").state, table("sales.orders").error_at) == ("healthy", None)


def test_a_refusal_keeps_what_was_read_before_and_is_forgotten_once_it_is_lifted(written, guard, observe_guarded):
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    observe_guarded()
    before = table("sales.orders")
    guard.deny("ListObjectsV2", "sales/orders/_delta_log/")

    observe_guarded(in_full=True)

    after = table("sales.orders")
    assert (after.published_version, after.accepted_version) == (2, 3)
    assert (after.observed_at, after.error_code) == (before.observed_at, "AccessDenied")
    assert (after.commits.count(), after.entries.count()) == (3, 4)
    assert set(after.findings.filter(resolved_at=None).values_list("code", flat=True)) == {"C2", "unreadable"}

    guard.allow_all()
    observe_guarded()

    healed = table("sales.orders")
    assert (healed.state, healed.error_code, healed.error_at) == ("pending", "", None)
    assert TableFinding.objects.get(code="unreadable").resolved_at is not None


def test_a_refused_store_leaves_other_tables_alone(written, guard, observe_guarded):
    written.table("sales/orders")
    written.table("sales/clicks", log_store=True)
    observe_guarded()
    guard.deny("Scan", written.log_store)

    observe_guarded()

    assert table("sales.clicks").error_code == "AccessDeniedException"
    assert table("sales.clicks").mechanism == "log_store"
    assert table("sales.orders").state == "healthy"


@pytest.mark.parametrize("kind", ["log_store", "commit_coordinator"])
def test_a_table_that_no_store_could_vouch_for_is_not_called_healthy(written, guard, observe_guarded, connection, kind):
    CommitStore.objects.get_or_create(connection=connection, name=written.coordinator(), kind="commit_coordinator")
    written.table("sales/orders")
    guard.deny("Scan", CommitStore.objects.get(kind=kind).name)

    observe_guarded()

    assert table("sales.orders").state == "not_checked"


def test_a_refused_folder_hides_only_itself(written, guard, observe_guarded):
    written.table("sales/orders")
    written.table("payroll/wages")
    guard.deny("ListObjectsV2", "?payroll/")

    result = observe_guarded()

    assert [t.name for t in DeltaTable.objects.all()] == ["sales.orders"]
    assert any("payroll/" in problem for problem in result.problems)
    assert Watch.objects.get().error_code == "NotAllOfIt"


@pytest.mark.parametrize("declared", ["other keys", "missing"])
def test_a_declaration_that_is_no_store_speaks_for_itself_alone(written, guard, observe_guarded, connection, declared):
    name = written.store(f"keys-{written.bucket}", key="HASH") if declared == "other keys" else "no-such-table"
    CommitStore.objects.create(connection=connection, name=name, kind="log_store")
    written.table("sales/orders")
    written.table("sales/refunds", log_store=True)

    for full in (False, True):
        observe_guarded(in_full=full)
        assert CommitStore.objects.get(name=name).state == ("blocked" if declared == "other keys" else "not_checked")
        assert {one.state for one in DeltaTable.objects.all()} == {"healthy"}
    items_read = [call for call in guard.calls if call.operation in {"Scan", "Query"} and name in call.target]
    assert declared == "missing" or items_read == []


def test_a_load_that_may_not_be_counted_is_said_and_hides_no_settings(written, observe, monkeypatch):
    Gate().install(monkeypatch).deny("cloudwatch:GetMetricData")

    observe()

    store = CommitStore.objects.get()
    assert "GetMetricData" in store.facts["load"]["unread"]
    assert (store.error_code, store.facts["billing"]) == ("", "on_demand")
