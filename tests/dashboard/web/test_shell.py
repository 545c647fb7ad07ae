"""The frame around every page: navigation, scope, theme, read-only mode, and nothing inline anywhere."""

import re
import shlex
import uuid
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.conf import settings as deployed
from django.core.management import get_commands, load_command_class
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from django.utils import timezone

from dashboard.accounts.roles import Role
from dashboard.command_names import ON_PAGES
from dashboard.frame.errors import page_above
from dashboard.jobs.beats import SILENT_AFTER, note_beat
from dashboard.web.states import LAKE
from tests.builders.lake import make_connection, make_table
from tests.builders.people import signed_in
from tests.dashboard.jobs.builders import job
from tests.dashboard.test_addresses import routes
from tests.dashboard.web.markup import flat
from tests.security.table import RULES, Least
from tests.security.world import World

pytestmark = pytest.mark.django_db


def test_a_finished_job_is_polled_no_more_and_announced() -> None:
    client = signed_in(Role.VIEWER)
    running, done = job("running"), job("succeeded", title="Observe the lake", finished_at=timezone.now())
    assert 'hx-trigger="every 2s"' in flat(client.get(f"/jobs/{running.pk}/progress/"))
    fragment = flat(client.get(f"/jobs/{done.pk}/progress/", headers={"HX-Request": "true"}))
    assert "hx-get" not in fragment
    assert "<title>Succeeded · Observe the lake · Levee</title>" in fragment
    assert 'id="fresh" hx-swap-oob="innerHTML">Ended ' in fragment
    assert 'id="announce" hx-swap-oob="innerHTML">Observe the lake: Succeeded.' in fragment


def test_the_navigation_marks_the_page_and_counts_what_runs() -> None:
    job("running")
    html = flat(signed_in(Role.VIEWER).get("/jobs/"))
    assert re.search(r'<a href="/jobs/" aria-current="page">.*?1<span class="unseen"> running</span>', html)
    assert html.count('aria-current="page"') == 2  # the entry and the last crumb


def test_a_fragment_pays_for_no_navigation() -> None:
    found, client = job("running"), signed_in(Role.VIEWER)
    with CaptureQueriesContext(connection) as page:
        client.get(f"/jobs/{found.pk}/")
    with CaptureQueriesContext(connection) as fragment:
        client.get(f"/jobs/{found.pk}/progress/", headers={"HX-Request": "true"})
    assert len(fragment) < len(page)
    assert not any('"connections_connection"."name" ASC' in query["sql"] for query in fragment)


def test_the_scope_narrows_lists_until_it_is_taken_back() -> None:
    one, two = (make_connection(name) for name in ("one", "two"))
    mine, other = job("succeeded", connection=one), job("failed", connection=two)
    client = signed_in(Role.VIEWER)
    assert client.post("/scope/", {"connection": "one", "next": "/jobs/"})["Location"] == "/jobs/"
    html = flat(client.get("/jobs/"))
    assert str(mine.pk) in html
    assert str(other.pk) not in html
    client.post("/scope/", {"connection": "", "next": "/jobs/"})
    assert str(other.pk) in flat(client.get("/jobs/"))


def test_a_theme_is_pinned_on_the_document() -> None:
    client = signed_in(Role.VIEWER)
    assert "data-theme" not in flat(client.get("/me/"))
    client.post("/me/", {"theme": "dark"})
    assert '<html lang="en-GB" data-theme="dark">' in flat(client.get("/me/"))


def test_read_only_mode_is_said_on_every_page(settings: Any) -> None:
    settings.READ_ONLY = True
    assert "Read-only mode." in flat(signed_in(Role.ADMIN).get("/jobs/"))
    settings.READ_ONLY = False
    assert "Read-only mode." not in flat(signed_in(Role.ADMIN).get("/jobs/"))


def test_a_worker_that_does_not_answer_is_said_on_every_page_until_it_does() -> None:
    now, client = timezone.now(), signed_in(Role.VIEWER)
    for queue in deployed.QUEUES:
        note_beat(queue, f"{queue}@here", now - (SILENT_AFTER if queue == "aws" else timedelta()))
    for path in ("/tables/", "/jobs/", "/me/"):
        assert "No worker answers for aws." in flat(client.get(path))
    note_beat("aws", "aws@here", now)
    assert "No worker answers" not in flat(client.get("/tables/"))


def test_an_address_that_only_takes_a_form_has_a_page_of_its_own() -> None:
    answer = signed_in(Role.VIEWER).get("/scope/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address only takes a form." in flat(answer)


def test_the_glossary_has_every_code_and_what_to_do_first_in_every_state_of_the_lake() -> None:
    html = flat(signed_in(Role.VIEWER).get("/states/"))
    for code in [f"C{number}" for number in range(12)] + [f"K{number}" for number in range(13)]:
        assert f"<dt><code>{code}</code></dt>" in html
    assert len(re.findall(r'data-label="What to do first"> *[^< ]', html)) == len(LAKE)


def test_the_page_of_every_address_that_only_takes_a_form_leads_to_one_that_can_be_opened() -> None:
    for name, route in routes():
        path = f"/{re.sub('<uuid:.*?>', str(uuid.uuid4()), re.sub('<(int|slug):.*?>', '1', route))}"
        if RULES[name].see is Least.NOBODY:
            assert RULES[resolve(page_above(path)).url_name or ""].see is not Least.NOBODY, path


def test_a_stranger_is_not_told_the_worst_state_by_the_icon(client: Client) -> None:
    make_table(state="blocked")
    red, grey = "d0342b", "7d858c"
    assert grey in flat(client.get("/login/"))
    assert red not in flat(client.get("/login/"))
    assert red in flat(signed_in(Role.VIEWER).get("/tables/"))


def named_command(client: Client, path: str) -> str:
    line = re.search(r'<p id="shell">In a shell: <code>(.*?)</code>', flat(client.get(path)))
    return unescape(line[1]) if line else ""


def parsed(line: str) -> dict[str, Any]:
    """The arguments as the command itself reads them; a command that does not exist, or refuses them, raises."""
    name, command, *words = shlex.split(line)
    assert name == "levee"
    app = get_commands()[command]
    return vars(load_command_class(str(app), command).create_parser("levee", command).parse_args(words))


def test_the_command_that_a_page_names_can_be_given() -> None:
    world, client = World(words="it's $HOME"), signed_in(Role.ADMIN)
    read = {}
    for page in ON_PAGES:
        name, _, operation = page.partition(" ")
        path = world.path(name)
        read[page] = parsed(named_command(client, path.replace("enable", operation) if operation else path))
    assert read["table"]["uri"] == world.table.uri == "s3a://lake/sales/it's $HOME"
    assert read["backup-run"]["run"] == str(world.runs["backup-run"].pk)
    assert read["alert"]["acknowledge"] == world.alert.pk


def test_filters_are_in_the_command_or_there_is_none() -> None:
    client = signed_in(Role.ADMIN)
    make_table()
    given = parsed(named_command(client, "/tables/?state=blocked&q=-%20%24(x)"))
    assert (given["state"], given["search"]) == ("blocked", "- $(x)")
    update = client.get("/tables/?state=blocked", headers={"HX-Request": "true", "HX-Target": "results"})
    assert "levee tables --state=blocked" in flat(update)
    for path in ("/tables/?state=gone", "/audit/?text=x", "/jobs/?q=x", "/alerts/?q=x", "/me/", "/tables/999/"):
        assert named_command(client, path) == "", path
