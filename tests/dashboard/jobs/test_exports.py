"""Exports: whole with their length and digest, or a job's file that is whole or nobody's."""

import csv
import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.accounts.actor import Actor
from dashboard.accounts.models import Grant
from dashboard.accounts.roles import Role
from dashboard.audit.log import record
from dashboard.audit.models import AuditEntry
from dashboard.jobs import exports
from dashboard.jobs.execution import execute
from dashboard.jobs.exports import KEPT_FOR, KEPT_OF_A_PERSON, prune_files
from dashboard.jobs.models import ExportPiece, Job
from dashboard.web import exports as web_exports
from tests.builders.lake import make_connection, make_store, make_table
from tests.builders.people import person, signed_in, signed_in_as
from tests.json_types import printed

pytestmark = [pytest.mark.django_db, pytest.mark.postgres("queries")]


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    """A viewer's browser; a list of more than three rows is long, pieces are small, and there are four tables."""
    monkeypatch.setattr(web_exports, "MOST_ROWS", 3)
    monkeypatch.setattr(exports, "PIECE_BYTES", 300)
    for place in range(4):
        make_table(f"s3a://lake/x/t{place}", name=f"=t{place}", state="pending")
    return signed_in_as(person(Role.VIEWER, name="sam"))


def made(client: Client, form: str = "csv", path: str = "/tables/?state=pending") -> Job:
    job = Job.objects.get(pk=client.post(path, {"format": form})["Location"].split("/")[2])
    assert execute(job.pk, "w1")
    job.refresh_from_db()
    return job


def download(client: Client, job: Job) -> Any:
    return client.get(f"/jobs/{job.pk}/file/")


def is_whole(answer: Any, content: bytes) -> bool:
    digest = b64encode(hashlib.sha256(content).digest()).decode()
    return (answer["Content-Length"], answer["Repr-Digest"]) == (str(len(content)), f"sha-256=:{digest}:")


def kept() -> set[Any]:
    return set(ExportPiece.objects.values_list("job", flat=True))


def test_a_short_list_is_answered_whole_and_uncompressed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_exports, "MOST_ROWS", 4)
    answer = client.get("/tables/?format=csv", headers={"Accept-Encoding": "gzip"})
    assert is_whole(answer, answer.content)
    assert answer["Levee-Rows"] == "4" == str(len(answer.content.decode().splitlines()) - 1)


def test_a_long_list_is_offered_as_a_file_and_never_as_one_document(client: Client) -> None:
    pages = [client.get(f"/tables/?state=pending&format={form}") for form in ("csv", "json")]
    as_csv, as_json = [page.content.decode() for page in pages]
    assert [page.status_code for page in pages] == [422, 422]
    assert all(part in as_csv for part in ('action="?state=pending"', 'name="format"', 'value="csv"'))
    assert all(part in as_json for part in ("JSON lines is the form", 'value="jsonl"'))
    assert client.post("/tables/", {"format": "json"}).status_code == 422


def test_a_file_holds_every_row_that_the_filter_lets_through_and_no_formula(client: Client) -> None:
    make_table("s3a://lake/healthy/t")
    job = made(client)
    answer = download(client, job)
    content = answer.getvalue()

    assert is_whole(answer, content)
    assert [row["name"] for row in csv.DictReader(content.decode().splitlines())] == ["'=t0", "'=t1", "'=t2", "'=t3"]
    assert job.result == {"rows": 4, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert ExportPiece.objects.count() > 1
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert all(part in page for part in (f'href="/jobs/{job.pk}/file/"', job.result["sha256"], "Kept until"))
    asked = AuditEntry.objects.filter(action="list.export", outcome="requested").get()
    assert (asked.actor_name, asked.target_label) == ("sam", "/tables/?state=pending")


def test_of_a_file_that_was_not_written_to_its_end_nothing_can_be_had(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = exports._pieces

    def cut(rows: Iterator[str]) -> Iterator[tuple[bytes, int]]:
        yield next(pieces(rows))
        raise MemoryError

    monkeypatch.setattr(exports, "_pieces", cut)
    job = made(client)
    assert (job.state, kept(), download(client, job).status_code) == ("failed", {job.pk}, 404)
    prune_files(timezone.now())
    assert kept() == set()


def test_a_file_is_for_who_asked_while_they_may_see_what_it_holds(client: Client) -> None:
    job = made(client)
    assert download(signed_in(Role.ADMIN), job).status_code == 404
    assert download(client, job).status_code == 200

    person(None, name="sam").groups.clear()
    Grant.objects.create(user=person(None, name="sam"), connection=make_connection(), role=Role.VIEWER.value)
    make_table("s3a://lake/x/t", connection=make_connection("theirs"), state="pending")
    assert download(client, job).status_code == 404
    narrow = made(client)
    rows = csv.DictReader(download(client, narrow).getvalue().decode().splitlines())
    assert [row["connection"] for row in rows] == ["prod"] * 4
    Grant.objects.update(connection=make_connection("elsewhere"))
    assert download(client, narrow).status_code == 404


def test_a_connection_that_took_over_the_name_is_in_nobodys_file(client: Client) -> None:
    asked = client.post("/tables/?connection=prod", {"format": "csv"})
    job = Job.objects.get(pk=asked["Location"].split("/")[2])
    make_connection().delete()
    make_table("s3a://lake/of/another")
    execute(job.pk, "w1")
    job.refresh_from_db()
    assert job.error_code == "ConnectionGone"


def test_files_are_kept_for_a_day_and_the_newest_of_a_person(client: Client) -> None:
    admin = signed_in(Role.ADMIN)
    other, jobs = made(admin), [made(client) for _ in range(KEPT_OF_A_PERSON + 1)]
    prune_files(timezone.now())
    assert kept() == {other.pk, *(job.pk for job in jobs[1:])}
    assert "kept for 24 hours" in download(client, jobs[0]).content.decode()
    assert "The file has been removed." in client.get(f"/jobs/{jobs[0].pk}/").content.decode()

    Job.objects.filter(pk=other.pk).update(finished_at=timezone.now() - KEPT_FOR)
    assert download(admin, other).status_code == 404
    prune_files(timezone.now())
    assert other.pk not in kept()


def test_the_audit_log_is_a_file_too(client: Client) -> None:
    for target in "abcd":
        record(Actor.command(), "lake.declare", target_label=target)
    assert client.get("/audit/?action=lake.declare&format=jsonl").status_code == 422
    job = made(client, "jsonl", "/audit/?action=lake.declare")
    rows = [json.loads(line) for line in download(client, job).getvalue().splitlines()]
    assert [row["target_label"] for row in rows] == [*"abcd"]


def test_a_row_of_an_export_is_the_line_of_the_commands() -> None:
    make_table("s3a://lake/b/waiting", store=make_store(), state="pending", unpublished_count=2, accepted_version=43)
    unread = {"observed_at": None, "published_version": None, "last_commit_at": None, "mechanism": "unknown"}
    make_table("s3a://lake/c/unread", state="not_checked", **unread)
    sent = signed_in(Role.VIEWER).get("/tables/?format=json").json()["tables"]
    assert sent == printed("tables")
    assert [{name: printed("table", line["uri"])[name] for name in line} for line in sent] == sent


def test_a_person_has_five_files_made_at_a_time_and_the_same_one_once(client: Client) -> None:
    asked = [client.post(f"/tables/?q=t{place}", {"format": "csv"})["Location"] for place in (*range(5), 0)]
    assert len(set(asked)) == 5 == Job.objects.count()
    refused = client.post("/tables/?q=t9", {"format": "csv"})
    assert (refused.status_code, Job.objects.count()) == (422, 5)
    assert "5 files are being made for you" in refused.content.decode()
    assert client.post("/tables/?connection=no-such", {"format": "csv"}).status_code == 404
