"""`levee apply FILE --prune`: what the file no longer names goes, unless something would be lost with it."""

import pytest

from backups.models import Plan
from coordinator.models import Bucket, CommitStore, ProvenanceRow, TtlMigration, Watch
from dashboard.accounts.models import Grant
from dashboard.alerts.models import Rule
from dashboard.audit.models import AuditEntry
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job, JobState
from tests.backups.page_records import make_run
from tests.builders.lake import NOW, make_bucket, make_entry, make_pass, make_table
from tests.builders.people import person
from tests.dashboard.declaration.builders import NOTHING_LEFT, NOTHING_TO_CHANGE, WHOLE

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("constraints")]
ONLY_CONNECTIONS = '[connections.prod]\nregion = "us-west-2"\n'


@pytest.fixture(autouse=True)
def _whole(apply):
    apply(WHOLE, "--apply")


def prune(apply, text: str = NOTHING_LEFT) -> str:
    return apply(text, "--prune", "--apply")


def counts() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Connection, Watch, CommitStore, Plan))


def test_what_goes_is_shown_first_and_nothing_is_removed(apply):
    printed = apply(NOTHING_LEFT, "--prune")

    assert printed.splitlines() == [
        "  remove plan warehouse-daily",
        "  remove store prod/delta_log",
        "  remove watch prod/s3a://acme-lake-prod/warehouse/",
        "  remove connection prod",
        "Nothing is stored yet: add --apply.",
    ]
    assert counts() == (1, 1, 1, 1)


def test_with_apply_it_is_removed_and_the_second_time_there_is_nothing_to_do(apply):
    assert prune(apply).endswith("Stored.\n")
    assert counts() == (0, 0, 0, 0)
    assert prune(apply).strip() == NOTHING_TO_CHANGE


def test_without_prune_it_stays(apply):
    assert apply(NOTHING_LEFT, "--apply").strip() == NOTHING_TO_CHANGE
    assert counts() == (1, 1, 1, 1)
    assert AuditEntry.objects.count() == 1


def test_a_section_that_the_file_does_not_have_is_left_alone(apply):
    assert prune(apply, ONLY_CONNECTIONS).strip() == NOTHING_TO_CHANGE
    assert counts() == (1, 1, 1, 1)


def test_what_is_removed_is_in_the_audit_log_as_it_was(apply):
    prune(apply, "stores = []\n")

    row = AuditEntry.objects.order_by("-pk")[0]
    gone = {"connection": "prod", "name": "delta_log", "kind": "log_store"}
    assert (row.action, row.before, row.after) == (
        "lake.declare",
        {"store prod/delta_log": gone},
        {"store prod/delta_log": None},
    )


def test_what_is_added_and_what_goes_are_stored_at_once(apply):
    moved = WHOLE.replace("delta_log", "delta_log_2").replace('"us-west-2"', '"eu-west-1"')

    assert prune(apply, moved).splitlines() == [
        "  change connection prod: region 'us-west-2' becomes 'eu-west-1'",
        "  add store prod/delta_log_2",
        "  remove store prod/delta_log",
        "Stored.",
    ]
    assert CommitStore.objects.get().name == "delta_log_2"


# A plan.


@pytest.mark.parametrize(
    ("states", "why"), [(["running"], "A run of it is under way"), ([], "1 run proves what was copied under its name")]
)
def test_a_plan_with_a_run_is_kept(apply, states, why):
    make_run(Plan.objects.get(), *states)

    assert f"keep plan warehouse-daily: {why}" in prune(apply, "plans = []\n")
    assert Plan.objects.exists()


# A commit store.


@pytest.mark.parametrize("trace", ["store", "entry", "acceptance", "lock domain"])
def test_a_store_is_kept_while_any_trace_of_a_table_leads_to_it(apply, trace):
    store = CommitStore.objects.get()
    domains = [{"store": "delta_log", "path": "s3a://lake/x"}] if trace == "lock domain" else []
    table = make_table(lock_domains=domains, store=store if trace == "store" else None)
    if trace == "entry":
        make_entry(table, store=store)
    if trace == "acceptance":
        ProvenanceRow.objects.create(table=table, version=1, store="delta_log", lock_domain="s3a://lake/x")

    assert "keep store prod/delta_log: 1 Delta table has commits in it, or had" in prune(apply, "stores = []\n")
    assert CommitStore.objects.exists()


@pytest.mark.parametrize(("finished_at", "is_kept"), [(None, True), (NOW, False)])
def test_a_store_whose_ttl_is_being_moved_is_kept(apply, finished_at, is_kept):
    moments = {"started_at": NOW, "phase_at": NOW, "next_at": NOW, "finished_at": finished_at}
    TtlMigration.objects.create(store=CommitStore.objects.get(), requested_by_name="ada", **moments)

    prune(apply, "stores = []\n")

    assert CommitStore.objects.exists() is is_kept


# A watched prefix.


@pytest.mark.parametrize(
    ("table", "prefix", "stays"),
    [("", "", False), ("s3a://acme-lake-prod/warehouse/orders", "", True), ("", "s3a://acme-lake-prod/raw/", True)],
)
def test_a_bucket_goes_with_its_prefix_unless_something_else_has_it_read(apply, table, prefix, stays):
    make_bucket("acme-lake-prod")
    if table:
        make_table(table, lock_domains=[])

    prune(apply, f'[[watch]]\nconnection = "prod"\nuri = "{prefix}"\n' if prefix else "watch = []\n")

    assert Bucket.objects.exists() is stays


# A connection.


def test_a_connection_is_kept_with_what_is_kept_of_it(apply):
    make_run(Plan.objects.get())

    printed = prune(apply)

    assert "keep connection prod: The plan warehouse-daily names it, and stays." in printed
    assert counts() == (1, 0, 0, 1)


def test_a_connection_that_its_plan_leaves_in_the_same_file_goes(apply):
    moved = WHOLE.replace("prod]", "other]").replace('"prod"', '"other"')

    prune(apply, moved)

    assert (Connection.objects.get().name, Plan.objects.get().connection.name) == ("other", "other")


def test_a_connection_whose_tables_are_known_is_kept(apply):
    make_table(lock_domains=[])

    assert "keep connection prod: What belongs to it would go with it: 1 Delta table." in prune(apply)
    assert Connection.objects.exists()


def test_a_connection_that_people_and_rules_speak_of_is_kept(apply):
    connection = Connection.objects.get()
    Grant.objects.create(user=person(None, "ada"), connection=connection, role="viewer")
    Rule.objects.create(name="of prod", kind="late", threshold=1, connection=connection)

    printed = prune(apply)

    assert "1 role that a person has on it" in printed
    assert "1 alert rule" in printed


@pytest.mark.parametrize(("state", "is_kept"), [(JobState.RUNNING, True), (JobState.SUCCEEDED, False)])
def test_a_connection_is_kept_while_a_job_uses_it(apply, state, is_kept):
    Job.objects.create(kind="observe", title="Observe", connection=Connection.objects.get(), state=state)

    prune(apply)

    assert Connection.objects.exists() is is_kept
    assert Job.objects.exists()


def test_looks_at_it_and_its_buckets_do_not_keep_a_connection(apply):
    make_pass(Connection.objects.get())
    make_bucket("elsewhere")

    prune(apply)

    assert not Connection.objects.exists()
