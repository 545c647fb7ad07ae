"""The documents of the command line, as other programs read them, and its exit codes."""

import json
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from coordinator.models import DeltaTable
from dashboard.commands import Failed
from dashboard.connections.models import Connection
from dashboard.jobs.models import Job
from tests.waiting import scaled


@pytest.fixture
def allowed(connection, settings, monkeypatch) -> Connection:
    """A connection that commands may use, with credentials from the environment."""
    settings.ALLOWED_ENDPOINTS = [connection.endpoint_url]
    settings.OBSERVE_THREADS = 4
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "sandbox")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "sandbox")
    return connection


def printed(*words: str) -> object:
    out = StringIO()
    call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())


def refused(*words: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        call_command(*words, "--json", stdout=StringIO(), stderr=StringIO())
    return caught.value


@pytest.fixture
def pending(written, allowed, observe) -> str:
    """A log store table with one pending commit, observed."""
    uri = written.table("sales/orders", commits=3, log_store=True)
    written.pending("sales/orders", 3)
    observe()
    return uri


TABLE_KEYS = {
    "uri", "name", "connection", "mechanism", "store", "state", "summary", "published_version", "accepted_version",
    "observed_at", "entries", "findings",
}  # fmt: skip


def test_a_table_is_printed_as_its_contract_says(pending):
    document = printed("table", pending)

    assert document.keys() >= TABLE_KEYS
    assert (document["uri"], document["mechanism"], document["state"]) == (pending, "log_store", "pending")
    assert (document["published_version"], document["accepted_version"]) == (2, 3)
    assert document["observed_at"].endswith("Z")


def test_an_entry_is_printed_as_its_contract_says(pending):
    [entry] = [entry for entry in printed("table", pending)["entries"] if entry["version"] == 3]

    assert (entry["state"], entry["published"], entry["complete"]) == ("C2", False, False)
    assert entry["file"].startswith(".tmp/")
    assert isinstance(entry["age_seconds"], int)


def test_a_finding_is_printed_as_its_contract_says(pending):
    [finding] = [finding for finding in printed("table", pending)["findings"] if finding["code"] == "C2"]

    assert finding.keys() >= {"code", "severity", "version", "summary", "evidence", "repairs"}
    assert finding["severity"] in {"info", "warning", "critical"}
    assert (finding["version"], finding["repairs"]) == (3, ["publish-commit"])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["s3a", "s3", "s3n"])
def test_a_table_is_found_under_every_scheme(pending, scheme):
    assert printed("table", pending.replace("s3a:", f"{scheme}:"))["uri"] == pending


@pytest.mark.slow
@pytest.mark.parametrize("written_as", ["{}/", "{}//", "{}%2F"])
def test_a_slash_at_the_end_does_not_hide_a_table(pending, written_as):
    assert printed("table", written_as.format(pending))["uri"] == pending


def test_a_table_is_found_as_its_writers_spell_it(written, allowed, observe):
    spaced = written.table("sales/my orders")
    observe()

    for spelled in ("sales/my%20orders", "sales//my orders", "/sales/my orders"):
        assert printed("table", written.uri(spelled))["uri"] == spaced


def test_a_table_to_the_letter_comes_before_one_that_a_writer_would_read(written, allowed, observe):
    both = {written.table("my orders"), written.table("my%20orders")}
    observe()

    assert {printed("table", uri)["uri"] for uri in both} == both


def test_another_letter_case_is_another_table(written, allowed, observe):
    written.table("sales/orders")
    observe()

    with pytest.raises(Failed, match="Levee knows no table"):
        printed("table", written.uri("sales/Orders"))


def test_the_list_of_tables_is_worst_first(pending, written, observe):
    written.table("sales/clicks")
    observe()

    assert [table["state"] for table in printed("tables")] == ["pending", "healthy"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "count"),
    [
        ((), 1),
        (("--state", "pending"), 1),
        (("--state", "healthy"), 0),
        (("--search", "ORDERS"), 1),
        (("--search", "clicks"), 0),
        (("--connection", "prod"), 1),
    ],
)
def test_the_list_of_tables_is_narrowed(pending, options, count):
    assert len(printed("tables", *options)) == count


def test_tables_that_have_gone_are_listed_when_asked_for(written, allowed, observe):
    written.table("sales/orders", commits=1)
    observe()
    written.delete(f"sales/orders/_delta_log/{0:020d}.json")
    observe()

    assert printed("tables") == []
    assert printed("tables", "--gone")[0]["gone_at"] is not None


def test_stores_and_buckets_are_printed_with_what_was_read(pending, written):
    [store], [bucket] = printed("stores"), printed("buckets")

    assert (store["name"], store["kind"], store["tables"]) == (written.log_store, "log_store", 1)
    assert store["settings"]["billing"] == "on_demand"
    assert (bucket["name"], bucket["tables"]) == (written.bucket, 1)
    assert store.items() <= printed("store", written.log_store).items()
    assert bucket.items() <= printed("bucket", written.bucket).items()


@pytest.mark.django_db(transaction=True)
def test_observing_prints_its_jobs(written, allowed):
    written.table("sales/orders")

    document = printed("observe")

    [job] = document["jobs"]
    assert (job["connection"], job["state"], job["error"]) == ("prod", "succeeded", None)
    assert job["result"]["requests"] > 0
    assert DeltaTable.objects.get().state == "healthy"


@pytest.mark.django_db(transaction=True)
def test_observing_one_table_reads_it_alone(written, allowed):
    uri = written.table("sales/orders")
    written.table("sales/clicks")

    [job] = printed("observe", "--table", uri)["jobs"]

    assert (job["target"], job["state"]) == (uri, "succeeded")
    assert DeltaTable.objects.get().uri == uri


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("asked", ["my%20orders", "my orders/", "/my orders"])
def test_observing_a_known_table_reads_it_however_it_is_spelled(written, allowed, asked):
    uri = written.table("my orders")
    printed("observe", "--table", uri)
    written.commit("my orders", 3)

    [job] = printed("observe", "--table", written.uri(asked))["jobs"]

    assert (job["target"], DeltaTable.objects.get().published_version) == (uri, 3)


@pytest.mark.django_db(transaction=True)
def test_observing_one_table_finds_its_entries_under_a_path_with_a_slash(written, allowed):
    uri = written.table("sales/orders")
    written.entry("sales/orders", 3, tablePath={"S": f"{uri}/"}, complete={"S": "false"})

    printed("observe", "--table", uri)

    assert printed("table", uri)["lock_domains"] == [{"store": written.log_store, "path": f"{uri}/"}]
    assert printed("table", uri)["accepted_version"] == 3


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
    assert Job.objects.get().error_text.count(".") < 8


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
        (("tables", "--connection", "nowhere"), 2),
        (("store", "unknown"), 1),
        (("store", "unknown", "--connection", "nowhere"), 2),
        (("bucket", "unknown"), 1),
        (("bucket", "unknown", "--connection", "nowhere"), 2),
        (("observe", "--connection", "nowhere"), 2),
        (("observe", "--table", "not a path"), 2),
        (("observe", "--table", "s3a://lake/unknown", "--enqueue"), 1),
    ],
)
def test_what_is_unknown_and_what_makes_no_sense_have_their_exit_codes(allowed, words, code):
    error = refused(*words)

    assert error.returncode == code
    assert "\n" not in str(error)


def test_a_name_that_two_connections_have_asks_which(pending, allowed):
    other = Connection.objects.create(name="other", region="us-east-1")
    table = DeltaTable.objects.get()
    table.pk, table.connection = None, other
    table.save()

    assert refused("table", pending).returncode == 2
    assert printed("table", pending, "--connection", "prod")["connection"] == "prod"


@pytest.mark.django_db
def test_without_a_connection_observing_says_what_to_do():
    error = refused("observe")

    assert (error.returncode, "levee apply" in str(error)) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("words", [["tables", "--state", "rosy"], ["table"], ["observe", "--nonsense"]])
def test_wrong_usage_ends_in_two_with_nothing_on_stdout(words):
    ended = subprocess.run([sys.executable, "manage.py", *words], capture_output=True, text=True, timeout=scaled(60))

    assert (ended.returncode, ended.stdout) == (2, "")
