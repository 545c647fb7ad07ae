"""Whatever stands in the lake, in workers' errors or in people's names is shown as text, on every page there is."""

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator

import pytest
from django.core.management import call_command

from dashboard.accounts.roles import Role
from dashboard.web.exports import export
from tests.choosing import slowly
from tests.dashboard.test_addresses import routes
from tests.security.markup import Page
from tests.security.poison import poison
from tests.security.table import RULES, Least
from tests.security.visits import Visit, Visitor
from tests.security.world import World

pytestmark = pytest.mark.django_db

BREAKS_OUT = "</title></textarea></script>--><x-planted onload=1>'x-planted=1\" x-planted=1 {{ 7|add:7 }}"
UNSEEN = "\x07\x1b]0;x\x1b[2J\x7f\x9b31m\u202e\u2066\u200f"
TEXTS: dict[str, Callable[[str], str]] = {
    "markup after it": lambda value: f"{value}{BREAKS_OUT}",
    "markup before it": lambda value: f"{BREAKS_OUT}{value}",
    "an address": lambda value: f"javascript:alert(1)//{value}",
    "unseen characters": lambda value: f"{value}{UNSEEN}",
    "ten thousand letters": lambda value: value + "<b>" * 3_400,
}


def pages(visitor: Visitor, world: World) -> Iterator[tuple[str, Visit]]:
    for name, _ in routes():
        if RULES[name].see is not Least.NOBODY:
            yield name, visitor.visit("get", world.path(name))


@pytest.mark.parametrize("kind", ["markup after it", *(slowly(kind) for kind in TEXTS if kind != "markup after it")])
def test_every_page_shows_it_as_text(kind: str) -> None:
    world = World()
    visitor = Visitor(Role.ADMIN)
    assert poison(TEXTS[kind]) > 200
    faults = []
    shown = 0
    for name, visit in pages(visitor, world):
        shown += (
            "x-planted" in visit.text or "alert(1)" in visit.text or "\\u202e" in visit.text or "&lt;b" in visit.text
        )
        faults += [f"{name}: {visit.status}"] if visit.status >= 500 and name != "readyz" else []
        faults += [f"{name}: {fault}" for fault in found(visit)]
    assert "\n".join(faults) == ""
    assert shown > 40


def test_no_cell_of_an_export_is_a_formula() -> None:
    world, visitor, starts = World(), Visitor(Role.ADMIN), ("=", "+", "-", "@", "\t", "\r", "\n")
    planted = itertools.cycle(f'{start}HYPERLINK("https://evil.example","x")' for start in starts)
    poison(lambda value: next(planted) + value)
    cells = []
    for path in ("/tables/?format=csv", "/audit/?format=csv", world.path("backup-run-failures")):
        text = visitor.visit("get", path).text
        cells += [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert {cell[1] for cell in cells if cell.startswith("'")} == set(starts)
    assert [cell for cell in cells if cell.startswith(starts)] == []


@pytest.mark.parametrize("name", ['x"; filename="evil.exe', "x\r\nSet-Cookie: a=b", "../../etc/passwd", "x" * 10_000])
def test_a_download_has_a_harmless_name(name: str) -> None:
    header = export([], "csv", name)["Content-Disposition"]
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.csv"', header)
    assert "/" not in header


def test_a_terminal_gets_no_commands(capsys: pytest.CaptureFixture[str]) -> None:
    World()
    poison(TEXTS["unseen characters"])
    lists = ("tables", "jobs", "stores", "buckets", "alerts", "backup runs", "audit", "table s3a://lake/sales/orders")
    for words, option in itertools.product(lists, ([], ["--json"])):
        call_command(*words.split(), *option)
        said = capsys.readouterr()
        assert said.out
        assert [letter for letter in UNSEEN if letter in said.out + said.err and not letter.isprintable()] == []


def found(visit: Visit) -> list[str]:
    """What a page holds that a planted text must not become."""
    headers = " ".join(f"{name}: {value}" for name, value in visit.response.headers.items())
    faults = ["in a header"] if "x-planted" in headers else []
    kind = visit.response.headers.get("Content-Type", "")
    if kind.startswith(("text/html", "text/plain")):
        faults += [f"raw {letter!r}" for letter in UNSEEN if letter in visit.text and not letter.isprintable()]
    if not kind.startswith("text/html"):
        return faults
    page = Page(visit.text)
    faults += [fault for fault in page.faults if "without its token" not in fault]
    faults += [f"<{tag}>" for tag in page.tags if tag == "x-planted"]
    faults += [f"the attribute {name}" for name in page.attributes if name == "x-planted"]
    return faults + (["14 for {{ 7|add:7 }}"] if "x-planted=1 14" in visit.text else [])
