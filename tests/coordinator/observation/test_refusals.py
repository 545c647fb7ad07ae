"""What AWS refuses is stored with the thing it concerns; the rest of the pass goes on."""

import pytest

from coordinator.models import Bucket, CommitStore, DeltaTable, TableFinding, Watch
from tests.builders.guard import REQUEST_ID


def table(name: str) -> DeltaTable:
    return DeltaTable.objects.get(name=name)


def test_a_refused_log_is_that_tables_trouble(written, guard, observe_guarded):
    written.table("sales/orders")
    written.table("sales/clicks")
    guard.deny("ListObjectsV2", "sales/orders/_delta_log/")

    result = observe_guarded()

    assert (result.tables_changed, result.tables_failed) == (1, 1)
    assert table("sales.clicks").state == "healthy"
    refused = table("sales.orders")
    assert (refused.state, refused.error_code, refused.observed_at) == ("not_checked", "AccessDenied", None)


def test_a_refusal_names_the_permission_and_the_request(written, guard, observe_guarded):
    written.table("sales/orders")
    guard.deny("ListObjectsV2", "sales/orders/_delta_log/")

    observe_guarded()

    evidence = TableFinding.objects.get(code="unreadable").evidence
    assert evidence == {"code": "AccessDenied", "permission": "s3:ListBucket", "request_id": REQUEST_ID}


def test_a_refusal_keeps_what_was_read_before(written, guard, observe_guarded):
    written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    observe_guarded()
    before = table("sales.orders")
    guard.deny("ListObjectsV2", "sales/orders/_delta_log/")

    observe_guarded(in_full=True)

    after = table("sales.orders")
    assert (after.published_version, after.accepted_version) == (2, 3)
    assert (after.observed_at, after.error_code) == (before.observed_at, "AccessDenied")
    assert after.commits.count() == 3
    assert after.entries.count() == 4
    assert set(after.findings.filter(resolved_at=None).values_list("code", flat=True)) == {"C2", "unreadable"}


def test_a_refusal_that_is_lifted_is_forgotten(written, guard, observe_guarded):
    written.table("sales/orders")
    guard.deny("ListObjectsV2", "sales/orders/_delta_log/")
    observe_guarded()
    guard.allow_all()

    observe_guarded()

    healed = table("sales.orders")
    assert (healed.state, healed.error_code, healed.error_at) == ("healthy", "", None)
    assert TableFinding.objects.get(code="unreadable").resolved_at is not None


def test_an_object_that_may_not_be_read_is_that_tables_trouble(written, guard, observe_guarded):
    written.table("sales/orders")
    guard.deny("GetObject", "sales/orders")

    observe_guarded()

    assert table("sales.orders").error_code == "AccessDenied"


def test_a_refused_store_leaves_other_tables_alone(written, guard, observe_guarded):
    written.table("sales/orders")
    written.table("sales/clicks", log_store=True)
    observe_guarded()
    guard.deny("Scan", written.log_store)

    observe_guarded()

    assert table("sales.clicks").error_code == "AccessDeniedException"
    assert table("sales.clicks").mechanism == "log_store"
    assert table("sales.orders").state == "healthy"


def test_a_refused_store_says_so(written, guard, observe_guarded):
    guard.deny("DescribeTable", written.log_store)

    observe_guarded()

    store = CommitStore.objects.get()
    assert (store.state, store.error_code) == ("not_checked", "AccessDeniedException")


def test_a_table_that_no_store_could_vouch_for_is_not_called_healthy(written, guard, observe_guarded):
    written.table("sales/orders")
    guard.deny("Scan")

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


def test_a_refused_prefix_is_said_with_the_watch(written, guard, observe_guarded):
    guard.deny("ListObjectsV2")

    observe_guarded()

    assert Watch.objects.get().error_code == "AccessDenied"


def test_bucket_settings_that_are_refused_stay_unknown(written, guard, observe_guarded):
    guard.deny("GetBucketLifecycleConfiguration")

    observe_guarded()

    bucket = Bucket.objects.get()
    assert bucket.error_code == ""
    assert [fact for fact, _ in bucket.facts["unknown"]] == ["lifecycle"]


@pytest.mark.parametrize("operation", ["ListObjectsV2", "GetObject", "Scan", "DescribeTable"])
def test_throttling_is_waited_out(written, guard, observe_guarded, operation):
    written.table("sales/orders", log_store=True)
    guard.throttle(operation, 3)

    observe_guarded()

    assert table("sales.orders").state == "healthy"


def test_throttling_without_end_is_that_tables_trouble(written, guard, observe_guarded):
    written.table("sales/orders")
    guard.throttle("GetObject", 1_000_000)

    observe_guarded()

    assert table("sales.orders").error_code == "SlowDown"


def test_a_store_of_another_key_is_not_read(written, guard, observe_guarded, connection):
    customers = written.store(f"customers-{written.bucket}", customer="HASH")
    CommitStore.objects.create(connection=connection, name=customers, kind="log_store")
    written.table("sales/orders", log_store=True)

    observe_guarded()

    assert CommitStore.objects.get(name=customers).state == "blocked"
    assert not [call for call in guard.calls if call.operation in {"Scan", "Query"} and customers in call.target]
    assert table("sales.orders").state == "healthy"


@pytest.mark.parametrize("declared", ["other keys", "missing"])
def test_a_declaration_that_is_no_store_speaks_for_itself_alone(written, observe, connection, declared):
    name = written.store(f"keys-{written.bucket}", key="HASH") if declared == "other keys" else "no-such-table"
    CommitStore.objects.create(connection=connection, name=name, kind="log_store")
    written.table("sales/orders")
    written.table("sales/refunds", log_store=True)

    for full in (False, True):
        observe(in_full=full)
        assert CommitStore.objects.get(name=name).state in {"blocked", "not_checked"}
        assert {one.state for one in DeltaTable.objects.all()} == {"healthy"}


def test_a_store_of_the_other_kind_is_not_read(written, guard, observe_guarded, connection):
    coordinator = written.coordinator()
    CommitStore.objects.create(connection=connection, name=coordinator, kind="log_store")

    observe_guarded()

    assert CommitStore.objects.get(name=coordinator).state == "blocked"
    assert not [call for call in guard.calls if call.operation == "Scan" and coordinator in call.target]


def test_a_store_that_is_being_created_says_so(written, observe, monkeypatch):
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.dynamodb.models import dynamodb_backends

    made = dynamodb_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].tables[written.log_store]
    described = made.describe

    def creating(base_key="TableDescription"):
        said = described(base_key)
        said[base_key]["TableStatus"] = "CREATING"
        return said

    monkeypatch.setattr(made, "describe", creating)

    observe()

    store = CommitStore.objects.get()
    assert store.state == "blocked"
    assert "still creating this table" in store.summary


def test_the_table_of_an_item_whose_bucket_is_missing_is_kept_with_the_reason(written, observe):
    written.dynamodb.put_item(
        TableName=written.log_store,
        Item={"tablePath": {"S": "s3://gone-for-good/t"}, "fileName": {"S": "00000000000000000000.json"}},
    )

    observe()

    assert DeltaTable.objects.get().error_code == "NoSuchBucket"


def test_a_bucket_whose_region_cannot_be_told_is_said_with_its_watch(stub, connection):
    from coordinator.observation.passes import observe_connection
    from tests.lake.aws.stub import Reply, quick

    body = b"<Error><Code>PermanentRedirect</Code><Message>Elsewhere</Message></Error>"
    stub.play(Reply(301, body))

    with quick(stub.url) as lake:
        result = observe_connection(connection, lake, threads=2)

    assert Watch.objects.get().error_code == "WrongRegion"
    assert any("s3a://" in problem for problem in result.problems)
