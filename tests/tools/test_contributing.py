"""The walks of docs/contributing.md lead through files that are there, and hold what is said of them."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
TEXT = (CHECKOUT / "docs" / "contributing.md").read_text()
WALKS = TEXT.partition("## Adding things")[2].partition("## The suite")[0]
ITEMS = [" ".join(item.split()) for item in re.split(r"^- ", WALKS, flags=re.MULTILINE)[1:]]


def quoted(item: str) -> list[str]:
    """What stands between back-ticks, up to the next heading."""
    return re.findall(r"`([^`]+)`", item.partition(" ### ")[0])


def is_file(text: str) -> bool:
    return (CHECKOUT / text).is_file()


@pytest.mark.parametrize("item", ITEMS, ids=[quoted(item)[0] for item in ITEMS])
def test_a_step_names_a_file_and_what_is_in_it(item: str) -> None:
    first, *rest = quoted(item)
    text = (CHECKOUT / first).read_text()
    for part in rest:
        beside = (CHECKOUT / first).parent / part
        assert part in text or is_file(part) or beside.is_file(), f"{first} does not hold {part}"


@pytest.mark.parametrize(
    "title",
    ["A repair", "A finding", "A change of a setting", "A stage of a backup", "A rule of the doctor", "A page"],
)
def test_each_walk_has_its_steps(title: str) -> None:
    assert WALKS.partition(f"### {title}\n")[2].partition("###")[0].count("\n- ") >= 4
