"""The small parts of pages: what they say, and what they make of hostile text."""

import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import time_machine
from django.conf import settings
from django.template import engines
from django.test import RequestFactory

from coordinator.protocols.verdict import State
from dashboard.jobs.models import JobState
from dashboard.web.paging import Column, Sort
from dashboard.web.states import LAKE, LOOKS
from tests.dashboard.web.markup import Markup

SYMBOLS = set(re.findall(r'<symbol id="([^"]+)"', Path(settings.BASE_DIR, "static/icons.svg").read_text()))


def rendered(text: str, **context: object) -> str:
    return engines["django"].from_string(text).render(context, RequestFactory().get("/tables/?q=a&after=x"))


def test_a_badge_is_a_shape_and_a_word() -> None:
    html = rendered("{% badge 'pending' %}")
    assert html.startswith('<span class="badge held"><svg class="icon" aria-hidden="true">')
    assert "icons.svg#s-pending" in html
    assert html.endswith("Pending</span>")


def test_every_state_has_a_look_of_its_own() -> None:
    assert set(LAKE) == {state.value for state in State}
    assert {state.value for state in JobState} <= set(LOOKS)
    assert [LAKE[state.value].rank for state in State] == [state.rank for state in State]


def test_every_shape_is_drawn() -> None:
    assert {look.shape for look in LOOKS.values()} <= SYMBOLS


def test_every_icon_that_a_template_names_is_drawn() -> None:
    templates = [path.read_text() for path in Path(settings.BASE_DIR, "templates").rglob("*.html")]
    assert {name for text in templates for name in re.findall(r'{% icon "([^"]+)"', text)} <= SYMBOLS


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onload='x"])
def test_hostile_words_stay_words(hostile: str) -> None:
    html = rendered("{% badge state %}{% badge 'ok' word %}{% icon state %}", state=hostile, word=hostile)
    page = Markup(html)
    assert {tag for tag, _ in page.elements} == {"span", "svg", "use"}
    assert page.inline() == []


def test_a_state_that_nobody_named_is_a_question() -> None:
    html = rendered("{% badge 'half_done' %}")
    assert "#s-unknown" in html
    assert "Half done" in html


@time_machine.travel(datetime(2026, 11, 20, 9, 42, 10, tzinfo=UTC), tick=False)
def test_ago_carries_the_exact_time() -> None:
    html = rendered("{% ago moment %}", moment=datetime(2026, 11, 20, 9, 41, 58, tzinfo=UTC))
    assert html == '<time datetime="2026-11-20T09:41:58Z" title="2026-11-20 09:41:58 UTC">12 s ago</time>'


def test_no_time_is_said_in_words() -> None:
    assert rendered("{% ago nothing %}", nothing=None) == '<span class="dim">Unknown</span>'
    assert rendered("{% ago nothing 'Never' %}", nothing=None) == '<span class="dim">Never</span>'


def test_the_favicon_is_of_the_worst_state() -> None:
    known = SimpleNamespace(is_authenticated=True)
    blocked, healthy = (rendered("{% favicon %}", user=known, worst_state=state) for state in ("blocked", "healthy"))
    assert "d0342b" in blocked
    assert "2b8a57" in healthy
    assert blocked.startswith('<link rel="icon" href="data:image/svg+xml,%3Csvg')
    assert rendered("{% favicon %}", user=known, worst_state="<nonsense>") == healthy


def test_a_sort_header_turns_the_order_round_and_forgets_the_page() -> None:
    sort = Sort("name", (Column("name"), Column("id")))
    html = rendered("{% sort_header 'name' 'Table' sort %}", sort=sort)
    assert 'aria-sort="ascending"' in html
    assert 'href="?q=a&amp;sort=-name"' in html
    other = rendered("{% sort_header 'version' 'Version' sort %}", sort=sort.reversed())
    assert "aria-sort" not in other
    assert 'href="?q=a&amp;sort=version"' in other


def test_what_a_job_found_is_escaped_json() -> None:
    assert rendered("{{ value|json }}", value={"b": "<i>", "a": 1}) == (
        "{\n  &quot;a&quot;: 1,\n  &quot;b&quot;: &quot;&lt;i&gt;&quot;\n}"
    )
