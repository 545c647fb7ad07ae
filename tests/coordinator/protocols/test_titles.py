"""What findings are called in headlines."""

import ast
from pathlib import Path

import pytest

from coordinator import protocols
from coordinator.protocols.titles import _TITLES, title_of

GIVEN_BY_A_VARIABLE = {
    "C6",
    "C7",
    "unknown-log-store",
    "being-checked",
    "unreadable",
    "not-read",
    "lifecycle-never-applies",
}


CONSTRUCTORS = ("Finding", "blocked", "unsafe", "attention", "not_checked")


def codes_in_the_source() -> set[str]:
    """Every code that the protocols' source names in a finding which weighs."""
    found: set[str] = set(GIVEN_BY_A_VARIABLE)
    for path in Path(protocols.__path__[0]).glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in CONSTRUCTORS):
                continue
            code = next((one.value for one in call.keywords if one.arg == "code"), call.args[0] if call.args else None)
            if code is not None and "severity=Severity.INFO, state=State.HEALTHY" not in ast.unparse(call):
                found.update(str(one.value) for one in _results(code) if isinstance(one, ast.Constant))
    return found


def _results(code: ast.expr) -> list[ast.expr]:
    return [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]


@pytest.mark.parametrize("code", sorted(codes_in_the_source()))
def test_every_finding_that_weighs_has_a_title(code: str) -> None:
    assert code in _TITLES or code == "K0"  # a registration that may yet be used never weighs


def test_a_state_can_make_a_code_another_trouble() -> None:
    assert title_of("C4", "attention") == "An entry still says incomplete"
    assert title_of("C4", "unsafe") == "A version was written twice"


def test_a_code_of_another_release_says_no_more_than_is_known() -> None:
    assert title_of("C99", "blocked") == "Something is out of order"
    assert title_of("not-read-owner", "not_checked") == "Part of it could not be read"
