"""What findings are called in headlines."""

import re
from pathlib import Path

import pytest

from coordinator import protocols
from coordinator.protocols.titles import _SEVERAL_MEANINGS, _TITLES, title_of

GIVEN_BY_A_VARIABLE = {"C6", "C7", "unknown-log-store", "being-checked", "unreadable", "not-read"}
OF_TWO = {"lifecycle-reaches-log", "lifecycle-reaches-data", "archive-tier-reaches-log", "archive-tier-reaches-data"}
CODE = re.compile(r'(?:\b(?:blocked|unsafe|attention|not_checked|Finding)|\))\(\s*"([\w-]+)"')


def codes_in_the_source() -> set[str]:
    """Every code that the protocols' source names in a finding which weighs."""
    sources = (path.read_text() for path in Path(protocols.__path__[0]).glob("*.py"))
    return {code for source in sources for code in CODE.findall(source)} | GIVEN_BY_A_VARIABLE | OF_TWO


@pytest.mark.parametrize("code", sorted(codes_in_the_source()))
def test_every_finding_that_weighs_has_a_title(code: str) -> None:
    assert code in _TITLES or code == "K0"  # a registration that may yet be used never weighs


def test_a_title_and_the_name_of_a_table_fit_into_90_characters() -> None:
    titles = [*_TITLES.values(), *_SEVERAL_MEANINGS.values()]
    assert all(len(title) <= 52 and not title.endswith(".") for title in titles)


def test_a_state_can_make_a_code_another_trouble() -> None:
    assert title_of("C4", "attention") == "An entry still says incomplete"
    assert title_of("C4", "unsafe") == "A version was written twice"
