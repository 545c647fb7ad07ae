"""The small parts of pages: what they say, and what they make of hostile text."""

import re
from datetime import UTC, datetime
from pathlib import Path

import time_machine
from django.conf import settings
from django.template import engines
from django.test import RequestFactory

from changes.many import TableState
from coordinator.protocols.verdict import State
from dashboard.jobs.models import JobState
from dashboard.web.paging import Column, Sort
from dashboard.web.states import LAKE, LOOKS

SYMBOLS = set(re.findall(r'<symbol id="([^"]+)"', Path(settings.BASE_DIR, "static/icons.svg").read_text()))


def rendered(text: str, **context: object) -> str:
    return engines["django"].from_string(text).render(context, RequestFactory().get("/tables/?q=a&after=x"))


def test_every_state_has_a_look_of_its_own() -> None:
    assert set(LAKE) == {state.value for state in State}
    assert {state.value for state in JobState} <= set(LOOKS)
    assert {state.value for state in TableState} <= set(LOOKS)
    assert [LAKE[state.value].rank for state in State] == [state.rank for state in State]


def test_every_shape_is_drawn() -> None:
    assert {look.shape for look in LOOKS.values()} <= SYMBOLS


def test_every_icon_that_a_template_names_is_drawn() -> None:
    templates = [path.read_text() for path in Path(settings.BASE_DIR, "templates").rglob("*.html")]
    assert {name for text in templates for name in re.findall(r'{% icon "([^"]+)"', text)} <= SYMBOLS


@time_machine.travel(datetime(2026, 11, 20, 9, 42, 10, tzinfo=UTC), tick=False)
def test_ago_carries_the_exact_time() -> None:
    html = rendered("{% ago moment %}", moment=datetime(2026, 11, 20, 9, 41, 58, tzinfo=UTC))
    assert html == '<time datetime="2026-11-20T09:41:58Z" title="2026-11-20 09:41:58 UTC">12 s ago</time>'


def test_a_sort_header_turns_the_order_round_and_forgets_the_page() -> None:
    sort = Sort("name", (Column("name"), Column("id")))
    html = rendered("{% sort_header 'name' 'Table' sort %}", sort=sort)
    assert 'aria-sort="ascending"' in html
    assert 'href="?q=a&amp;sort=-name"' in html
    other = rendered("{% sort_header 'version' 'Version' sort %}", sort=sort.reversed())
    assert "aria-sort" not in other
    assert 'href="?q=a&amp;sort=version"' in other
