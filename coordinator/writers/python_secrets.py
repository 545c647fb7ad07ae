"""Where literals of a PySpark snippet hold secrets: found by what they are given to, in whatever form they are written.

A pattern over letters sees one quoted text behind a name; Python has prefixes, sums, tuples, defaults and variables.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

IsSecret = Callable[[str], bool]
_VALUE_OF = {"name": "value", "key": "value"}
_MOST_ROUNDS = 8
"""How often names are followed from one variable to another: the time must not grow faster than the text."""


def with_masks(text: str, is_secret: IsSecret, mask: str) -> str:
    """The snippet with every literal replaced that a secret is made of; as it is where it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    data, lines = text.encode(), [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    spans = {
        (lines[one.lineno - 1] + one.col_offset, lines[(one.end_lineno or 1) - 1] + (one.end_col_offset or 0))
        for one in _SecretFinder(tree, is_secret).literals()
    }
    for start, end in sorted(spans, reverse=True):
        data = data[:start] + f'"{mask}"'.encode() + data[end:]
    return data.decode()


class _SecretFinder:
    """Follows names that are given to a secret back to where they are set."""

    def __init__(self, tree: ast.Module, is_secret: IsSecret) -> None:
        self._nodes = list(ast.walk(tree))
        self._is_secret = is_secret
        self._variables: set[str] = set()

    def literals(self) -> list[ast.expr]:
        found: list[ast.expr] = []
        for _ in range(_MOST_ROUNDS):
            known = len(self._variables)
            found = [literal for node in self._nodes for value in self._values(node) for literal in self._within(value)]
            if known == len(self._variables):
                break
        return found

    def _values(self, node: ast.AST) -> Iterator[ast.expr]:
        """What is given to a name that is a secret's."""
        match node:
            case ast.Assign():
                for target in node.targets:
                    yield from self._assigned(target, node.value)
            case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                yield from self._assigned(node.target, value)
            case ast.keyword(arg=str(name)) if self._is_secret(name):
                yield node.value
            case ast.Dict():
                yield from self._in_pairs(zip(node.keys, node.values, strict=True))
                yield from self._named_values(
                    {_text(key): value for key, value in zip(node.keys, node.values, strict=True)}
                )
            case ast.Call():
                yield from self._following(node.args)
                yield from self._named_values({one.arg or "": one.value for one in node.keywords})
            case ast.List() | ast.Tuple():
                yield from self._following(node.elts)
            case ast.arguments():
                yield from self._defaults(node)

    def _assigned(self, target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
        if isinstance(target, ast.Tuple | ast.List):
            several = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            values = value.elts if isinstance(value, ast.Tuple | ast.List) and several else [value] * len(target.elts)
            for one, its in zip(target.elts, values, strict=True):
                yield from self._assigned(one, its)
        elif self._is_named(target):
            yield value

    def _is_named(self, target: ast.expr) -> bool:
        match target:
            case ast.Name(id=name):
                return name in self._variables or self._is_secret(name)
            case ast.Attribute(attr=name):
                return self._is_secret(name)
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                return self._is_secret(name)
        return False

    def _in_pairs(self, pairs: Iterable[tuple[ast.expr | None, ast.expr]]) -> Iterator[ast.expr]:
        return (value for key, value in pairs if self._is_secret(_text(key)))

    def _following(self, nodes: Sequence[ast.expr]) -> Iterator[ast.expr]:
        return self._in_pairs(pairwise(nodes))

    def _named_values(self, given: Mapping[str, ast.expr]) -> Iterator[ast.expr]:
        """A name and its value as two items: {"name": "DB_PASSWORD", "value": "…"}, and config(key=…, value=…)."""
        lower = {name.lower(): value for name, value in given.items()}
        for name, other in _VALUE_OF.items():
            if other in lower and self._is_secret(_text(lower.get(name))):
                yield lower[other]

    def _defaults(self, node: ast.arguments) -> Iterator[ast.expr]:
        named = [*node.posonlyargs, *node.args]
        pairs = zip(named[len(named) - len(node.defaults) :], node.defaults, strict=True)
        for one, value in (*pairs, *zip(node.kwonlyargs, node.kw_defaults, strict=True)):
            if value is not None and self._is_secret(one.arg):
                yield value

    def _within(self, value: ast.expr) -> Iterator[ast.expr]:
        """The literals that a value is made of; names of variables that it asks for are none, and are followed."""
        match value:
            case ast.Constant(value=str() | bytes() | int() | float()) if not isinstance(value.value, bool):
                yield value
            case ast.JoinedStr():
                if any(isinstance(one, ast.Constant) for one in value.values):
                    yield value
                self._variables.update(one.id for one in ast.walk(value) if isinstance(one, ast.Name))
            case ast.Name(id=name):
                self._variables.add(name)
            case ast.Subscript() | ast.Compare():
                return
            case ast.Dict():
                yield from (literal for one in value.values for literal in self._within(one))
            case ast.IfExp():
                yield from (literal for one in (value.body, value.orelse) for literal in self._within(one))
            case ast.Call():
                if isinstance(value.func, ast.Attribute) and not isinstance(value.func.value, ast.Name | ast.Attribute):
                    yield from self._within(value.func.value)
                asked = isinstance(value.func, ast.Attribute | ast.Name) and _is_asking(value.func)
                for one in (*value.args[1 if asked else 0 :], *(given.value for given in value.keywords)):
                    yield from self._within(one)
            case _:
                for below in ast.iter_child_nodes(value):
                    if isinstance(below, ast.expr):
                        yield from self._within(below)


def _is_asking(func: ast.expr) -> bool:
    """Whether a call looks something up by the name that it is given first: os.getenv, dict.get and their like."""
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return name.lower().startswith(("get", "pop", "fetch", "read", "setdefault"))


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
