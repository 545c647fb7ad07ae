"""What `observe`, `table` and `tables` hand on, what they print, and their exit codes."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from coordinator.models import DeltaTable
from dashboard.connections.models import Connection
from tests.builders.lake import NOW, make_connection, make_finding, make_pending, make_store, make_table
from tests.json_types import printed

pytestmark = pytest.mark.django_db


@pytest.fixture
def allowed(connection, settings, monkeypatch) -> Connection:
    """A connection that commands may use, with credentials from the environment."""
    settings.ALLOWED_ENDPOINTS = [connection.endpoint_url]
    settings.OBSERVE_THREADS = 4
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "sandbox")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sandbox")
    return connection


def refused(*words: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        call_command(*words, "--json", stdout=StringIO(), stderr=StringIO())
    return caught.value


@pytest.fixture
def pending() -> DeltaTable:
    """A table with one commit that waits, as stored."""
    table = make_table(state="pending", store=make_store(), accepted_version=42)
    make_pending(table, 42)
    make_finding(table, "C2", 42, repairs=["publish-commit"])
    return table


def test_a_table_is_printed_with_its_entry_and_its_finding(pending):
    document = printed("table", pending.uri)

    assert (document["uri"], document["mechanism"], document["state"]) == (pending.uri, "log_store", "pending")
    assert (document["published_version"], document["accepted_version"]) == (41, 42)
    assert document["observed_at"] == "2026-11-20T09:42:07Z"
    [entry], [finding] = document["entries"], document["findings"]
    assert (entry["state"], entry["published"], entry["complete"], entry["store"]) == ("C2", False, False, "delta_log")
    assert (finding["code"], finding["version"], finding["repairs"]) == ("C2", 42, ["publish-commit"])


def test_a_table_is_found_as_its_writers_spell_it():
    spaced = make_table("s3a://lake/sales/my orders").uri

    for spelled in ("my orders/", "my%20orders", "/my orders"):
        for scheme in ("s3a", "s3", "s3n"):
            assert printed("table", f"{scheme}://lake/sales/{spelled}")["uri"] == spaced
    assert refused("table", "s3a://lake/sales/My orders").returncode == 1


def test_a_table_to_the_letter_comes_before_one_that_a_writer_would_read():
    both = {make_table("s3a://lake/my orders").uri, make_table("s3a://lake/my%20orders").uri}

    assert {printed("table", uri)["uri"] for uri in both} == both


def test_the_list_of_tables_is_worst_first_and_narrowed(pending):
    healthy = make_table("s3a://lake/sales/clicks", connection=make_connection("lab")).uri
    gone = make_table("s3a://lake/gone", gone_at=NOW).uri

    for options, found in [
        ((), [pending.uri, healthy]),
        (("--state", "healthy"), [healthy]),
        (("--search", "ORDERS"), [pending.uri]),
        (("--connection", "lab"), [healthy]),
        (("--gone",), [pending.uri, gone, healthy]),
    ]:
        assert [table["uri"] for table in printed("tables", *options)] == found


@pytest.mark.django_db(transaction=True)
def test_observing_prints_its_jobs(written, allowed):
    written.table("sales/orders")

    [job] = printed("observe")["jobs"]

    assert (job["connection"], job["state"], job["error"]) == ("prod", "succeeded", None)
    assert job["result"]["requests"] > 0
    assert DeltaTable.objects.get().state == "healthy"


@pytest.mark.django_db(transaction=True)
def test_observing_one_table_reads_it_alone_however_it_is_spelled(written, allowed):
    uri = written.table("my orders")
    written.table("sales/clicks")
    [job] = printed("observe", "--table", uri)["jobs"]
    assert (job["target"], job["state"]) == (uri, "succeeded")
    written.commit("my orders", 3)

    [job] = printed("observe", "--table", written.uri("my%20orders"))["jobs"]

    assert (job["target"], DeltaTable.objects.get().published_version) == (uri, 3)


@pytest.mark.django_db(transaction=True)
def test_an_endpoint_that_is_not_allowed_fails_the_job_in_one_sentence(connection, settings):
    settings.ALLOWED_ENDPOINTS = []
    out = StringIO()

    with pytest.raises(CommandError) as caught:
        call_command("observe", "--json", stdout=out)

    assert caught.value.returncode == 1
    [job] = json.loads(out.getvalue())["jobs"]
    assert (job["state"], job["error"]["code"]) == ("failed", "EndpointNotAllowed")
    assert "LEVEE_ALLOWED_ENDPOINTS" in job["error"]["text"]


@pytest.mark.django_db(transaction=True)
def test_a_missing_bucket_fails_the_look_at_one_table(allowed):
    assert refused("observe", "--table", "s3a://no-such-bucket-anywhere/t").returncode == 1
    assert not DeltaTable.objects.exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("table", "s3a://lake/unknown"), 1),
        (("table", "hdfs://lake/unknown"), 2),
        (("table", "s3a://lake/unknown", "--connection", "nowhere"), 2),
        (("store", "unknown"), 1),
        (("bucket", "unknown"), 1),
        (("observe", "--table", "not a path"), 2),
        (("observe", "--table", "s3a://lake/unknown", "--enqueue"), 1),
    ],
)
def test_what_is_unknown_and_what_makes_no_sense_have_their_exit_codes(words, code):
    make_connection()
    error = refused(*words)

    assert error.returncode == code
    assert "\n" not in str(error)


def test_a_name_that_two_connections_have_asks_which(pending):
    make_table(pending.uri, connection=make_connection("other"))

    for words in (("table", pending.uri), ("observe", "--table", pending.uri)):
        assert refused(*words).returncode == 2
    assert printed("table", pending.uri, "--connection", "prod")["connection"] == "prod"


def test_without_a_connection_observing_says_what_to_do():
    error = refused("observe")

    assert (error.returncode, "levee apply" in str(error)) == (1, True)
