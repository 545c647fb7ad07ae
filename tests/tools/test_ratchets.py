"""Each measure sees what it is for, and each number holds."""

import tomllib
from pathlib import Path

import pytest

from tools.dead_code import dead_code
from tools.ratchets import MEASURES, NUMBERS, complaint, duplicate_class_names, lines_of_functions, packages


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Two packages of production code, one of tests, and templates."""
    for package in ("backups", "lake", "tests"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "templates").mkdir()
    return tmp_path


def write(checkout: Path, path: str, text: str) -> None:
    file = checkout / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def dead(checkout: Path, *excused: str) -> list[str]:
    return list(dead_code(checkout, packages(checkout), excused))


def test_what_tests_alone_use_is_dead(checkout: Path) -> None:
    write(checkout, "lake/a.py", "def used():\n    pass\n\n\ndef tested():\n    pass\n\n\nLIMIT = 1\n")
    write(checkout, "backups/b.py", "from lake.a import used\n\nused()\n")
    write(checkout, "tests/test_a.py", "from lake.a import LIMIT, tested\n\ntested(LIMIT)\n")
    assert dead(checkout) == ["function tested, lake/a.py:5", "variable LIMIT, lake/a.py:9"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("sandbox/play.py", "from lake.a import named\n\nnamed()\n"),
        ("templates/page.html", "{{ table.named }}"),
        ("backups/settings.py", 'HANDLER = "lake.a.named"\n'),
        ("backups/migrations/0001_first.py", "from lake.a import named\n\nnamed()\n"),
    ],
)
def test_what_a_program_a_template_or_a_setting_uses_is_alive(checkout: Path, path: str, text: str) -> None:
    write(checkout, "lake/a.py", "def named():\n    pass\n")
    assert dead(checkout) == ["function named, lake/a.py:1"]
    write(checkout, path, text)
    assert dead(checkout) == []


def test_what_is_registered_or_excused_is_alive(checkout: Path) -> None:
    write(checkout, "lake/a.py", "@app.task(name='tick')\ndef tick():\n    pass\n\n\nclass LakeConfig:\n    size = 1\n")
    assert dead(checkout) == ["class LakeConfig, lake/a.py:6"]
    assert dead(checkout, "*Config") == []


def test_a_name_of_two_classes_counts_once_with_both_places(checkout: Path) -> None:
    write(checkout, "lake/a.py", "class Plan:\n    pass\n\n\nclass Other:\n    pass\n")
    write(checkout, "backups/b.py", "class Plan:\n    pass\n")
    write(checkout, "tests/c.py", "class Other:\n    pass\n")
    assert list(duplicate_class_names(checkout)) == [(1, "Plan: backups/b.py:1, lake/a.py:1")]


def test_the_lines_of_a_function_are_its_own(checkout: Path) -> None:
    write(checkout, "lake/a.py", "@decorated\ndef one():\n    pass\n\n\ndef two(\n    a,\n):\n    return a\n")
    assert list(lines_of_functions(checkout)) == [(2, "one, lake/a.py:2"), (4, "two, lake/a.py:6")]


def test_what_is_worse_than_its_number_is_named_and_what_is_better_lowers_it(checkout: Path) -> None:
    write(checkout, "templates/page.html", "short\n" + "x" * 30 + "\n")
    name = "characters_of_a_template_line"
    assert complaint(name, 20, checkout) == f"{name} is 30, and may be 20 at most:\n  templates/page.html:2"
    assert complaint(name, 30, checkout) == ""
    assert complaint(name, 31, checkout).startswith(f"{name} has fallen to 30: write that")
    assert complaint(name, 31, checkout, falls=False) == ""


def test_every_measure_has_its_number() -> None:
    numbers = tomllib.loads(NUMBERS.read_text())
    assert {*numbers["ratchets"], *numbers["limits"]} == set(MEASURES)
