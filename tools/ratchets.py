"""Measures of production code that may only get better; their numbers, and what is excused, are in ratchets.toml.

A further measure is a function that yields what it counts, its entry in MEASURES with how the counts become one number,
and that number in the file.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from tools.dead_code import dead_code
from tools.machine import CHECKOUT, say

NUMBERS = Path(__file__).with_suffix(".toml")
NOT_PRODUCTION = {"benchmarks", "sandbox", "tests", "tools", "var"}
Counted = tuple[int, str]
"""How much one place adds or reaches, and what and where it is."""


def packages(checkout: Path) -> list[Path]:
    """The packages of production code."""
    found = (path.parent for path in sorted(checkout.glob("*/__init__.py")))
    return [package for package in found if package.name not in NOT_PRODUCTION]


def modules(checkout: Path) -> Iterator[Path]:
    """Every module of production code but the migrations, which Django writes."""
    for package in packages(checkout):
        yield from (path for path in sorted(package.rglob("*.py")) if "migrations" not in path.parts)


def dead(checkout: Path) -> Iterator[Counted]:
    """What no program uses; see tools.dead_code."""
    excused = tuple(tomllib.loads(NUMBERS.read_text())["excused_from_dead_code"])
    yield from ((1, said) for said in dead_code(checkout, packages(checkout), excused))


def duplicate_class_names(checkout: Path) -> Iterator[Counted]:
    """Names that more than one class has; a Django command has to be called Command, and options Meta."""
    places = defaultdict(list)
    for path, node in _nodes(checkout):
        if isinstance(node, ast.ClassDef) and node.name not in {"Command", "Meta"}:
            places[node.name].append(_place(checkout, path, node))
    yield from ((1, f"{name}: {', '.join(found)}") for name, found in sorted(places.items()) if len(found) > 1)


def lines_of_functions(checkout: Path) -> Iterator[Counted]:
    """The lines of each function, from its def on."""
    for path, node in _nodes(checkout):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1, f"{node.name}, {_place(checkout, path, node)}"


def characters_of_template_lines(checkout: Path) -> Iterator[Counted]:
    """The characters of each line of a template."""
    for path in sorted((checkout / "templates").rglob("*.*")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            yield len(line), f"{path.relative_to(checkout)}:{number}"


def lines_of_rooms(checkout: Path) -> Iterator[Counted]:
    """The lines of Python of each package but the tests."""
    for package in sorted(path.parent for path in checkout.glob("*/__init__.py")):
        if package.name != "tests":
            yield _lines(package), package.name


def lines_of_tests(checkout: Path) -> Iterator[Counted]:
    """The lines of Python of the tests."""
    yield _lines(checkout / "tests"), "tests"


def files_of_repairs(checkout: Path) -> Iterator[Counted]:
    """The modules that name a repair besides the one that declares it: findings that it mends, and refusals."""
    texts = {path: path.read_text() for path in modules(checkout)}
    for kind in sorted((checkout / "coordinator" / "repairs" / "kinds").glob("[!_]*.py")):
        [name] = re.findall(r'^NAME = "(.+)"$', kind.read_text(), re.MULTILINE)
        yield sum(f'"{name}"' in text for text in texts.values()), name


MEASURES: dict[str, tuple[Callable[[Path], Iterator[Counted]], Callable[[list[int]], int]]] = {
    "dead_code": (dead, sum),
    "duplicate_class_names": (duplicate_class_names, sum),
    "files_of_a_repair": (files_of_repairs, max),
    "lines_of_a_function": (lines_of_functions, max),
    "characters_of_a_template_line": (characters_of_template_lines, max),
    "lines_of_production": (lines_of_rooms, sum),
    "lines_of_tests": (lines_of_tests, sum),
}


def complaint(name: str, most: int, checkout: Path, *, falls: bool = True) -> str:
    """What is above its number, or, where that falls, what to lower it to; "" where it is as it should be."""
    measure, together = MEASURES[name]
    found = list(measure(checkout))
    measured = together([count for count, _ in found] or [0])
    if measured > most:
        worst = [place for count, place in found if together is sum or count > most]
        return f"{name} is {measured}, and may be {most} at most:\n  " + "\n  ".join(worst)
    if falls and measured < most:
        return f"{name} has fallen to {measured}: write that in {NUMBERS.name}, so that it stays there."
    return ""


def _lines(package: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in package.rglob("*.py"))


def _nodes(checkout: Path) -> Iterator[tuple[Path, ast.AST]]:
    trees = ((path, ast.parse(path.read_text())) for path in modules(checkout))
    return chain.from_iterable(((path, node) for node in ast.walk(tree)) for path, tree in trees)


def _place(checkout: Path, path: Path, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return f"{path.relative_to(checkout)}:{node.lineno}"


def main() -> int:
    """Take all measures; exit 1 where something got worse, or a number is to be lowered.

    With the names of measures as arguments: say all that they count, the most first.
    """
    for name in sys.argv[1:]:
        for count, place in sorted(MEASURES[name][0](CHECKOUT), key=lambda one: -one[0]):
            say(f"{count:5} {place}")
    if sys.argv[1:]:
        return 0
    say(", ".join(f"{room} {lines:,}" for lines, room in chain(lines_of_rooms(CHECKOUT), lines_of_tests(CHECKOUT))))
    numbers = tomllib.loads(NUMBERS.read_text())
    complaints = [complaint(name, most, CHECKOUT) for name, most in numbers["ratchets"].items()]
    complaints += [complaint(name, most, CHECKOUT, falls=False) for name, most in numbers["limits"].items()]
    for said in filter(None, complaints):
        say(said)
    return 1 if any(complaints) else 0


if __name__ == "__main__":
    sys.exit(main())
