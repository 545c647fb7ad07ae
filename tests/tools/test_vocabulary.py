"""The vocabulary of docs/architecture.md is that of the code, and the words that it replaced do not come back."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tools.machine import CHECKOUT
from tools.ratchets import modules

VOCABULARY = (CHECKOUT / "docs" / "architecture.md").read_text().partition("## Vocabulary\n")[2].partition("\n## ")[0]
LINES = re.findall(r"^- .+$", VOCABULARY, re.MULTILINE)
NAMED = sorted({name for line in LINES for name in re.findall(r"`([A-Z]\w+|[\w/]+/|[\w/]+\.py)`", line)})
REPLACED = {
    *("image", "images", "letgo", "litter", "littered", "maypass", "patience", "prefer", "preferable"),
    *("stumble", "stumbled", "stumbles", "telling", "upkeep", "wish", "wished", "wishes", "world", "worlds"),
}


@cache
def types() -> Counter[str]:
    """Every class and type alias of production code, with how many there are of that name."""
    names: Counter[str] = Counter()
    for path in modules(CHECKOUT):
        tree = ast.parse(path.read_text())
        names.update(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        names.update(
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        )
    return names


def defined(tree: ast.AST) -> Iterator[str]:
    """The names that a module gives; what others named, as a key of a job's parameters, is only used."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.alias(asname=str(name)):
                yield name


def replaced_words(name: str) -> set[str]:
    """Replaced words in a name of either spelling, also over the border of two words."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    pairs = [first + second for first, second in pairwise(words)]
    return REPLACED & {*words, *pairs}


@pytest.mark.parametrize("name", NAMED)
def test_what_the_vocabulary_names_is_there_once(name: str) -> None:
    assert (CHECKOUT / name).exists() if "/" in name else types()[name] == 1


def test_each_group_is_in_the_order_of_the_alphabet() -> None:
    groups = [re.findall(r"^- \*(.+?)\*", group, re.MULTILINE) for group in VOCABULARY.split(":\n\n")]
    assert len(LINES) > 30
    assert all(group == sorted(group) for group in groups)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("StoreWish", {"wish"}),
        ("let_go", {"letgo"}),
        ("MOST_STUMBLES", {"stumbles"}),
        ("_world_of", {"world"}),
        ("wishful", set()),
    ],
)
def test_a_replaced_word_is_found_in_any_spelling(name: str, words: set[str]) -> None:
    assert replaced_words(name) == words


def test_no_name_of_production_code_has_a_replaced_word() -> None:
    found = [
        f"{path.relative_to(CHECKOUT)}: {name}"
        for path in modules(CHECKOUT)
        for name in (*Path(path).relative_to(CHECKOUT).with_suffix("").parts, *defined(ast.parse(path.read_text())))
        if replaced_words(name)
    ]
    assert found == ["coordinator/contract.py: wish"], "the JSON that programs read has that key"
