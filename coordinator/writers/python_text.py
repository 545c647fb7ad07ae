"""A PySpark snippet: its settings are found in the syntax tree, and none of it is run."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from coordinator.coordination.pasting import python_literal
from coordinator.writers.pasted import PACKAGES, Edit, PastedSetting, PasteRefused, SettingDifference, difference

WITH_PIP = "configure_spark_with_delta_pip"
Kind = Literal["chained", "statement", "pair", "item", "list"]
_METHOD = re.compile(r"(?P<blanks>(?:[ \t]*\\)?\r?\n[ \t]*)?\.\s*(?P<name>\w+)\s*\(\s*\Z")
_SETTERS = ("config", "set", "setIfMissing")
_OF_SPARK = ("spark.", "io.delta.", "delta.", "databricks.")
_COMMA = re.compile(rb"[ \t]*,[ \t]*")


@dataclass(frozen=True, slots=True)
class PythonSetting:
    """Where one setting stands, in bytes of UTF-8: what holds it, and where its key and value are."""

    kind: Kind
    start: int
    end: int
    key: tuple[int, int]
    value: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Room:
    """Where a new setting is written, in bytes, and what stands around its key and value there."""

    at: int
    before: str
    after: str
    between: str = ", "


@dataclass(frozen=True, slots=True)
class PythonText:
    """`calls` belong to `entries` one by one; `room` is where a new setting goes."""

    text: str
    entries: tuple[PastedSetting, ...]
    calls: tuple[PythonSetting, ...]
    room: "Room"
    brings_delta: bool
    syntax: str = "PySpark"
    platform: str = ""
    unread: tuple[str, ...] = ()

    def rewritten(self, entries: Sequence[PastedSetting]) -> str:
        found = difference(self.entries, entries)
        data = self.text.encode()
        edits = [*self._changes(found), *self._additions(found)]
        done, at = [], 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            done += [data[at : edit.start], edit.text.encode()]
            at = edit.end
        return b"".join([*done, data[at:]]).decode()

    def _changes(self, found: SettingDifference) -> Iterator[Edit]:
        for at, entry in found.changed.items():
            call, before = self.calls[at], self.entries[at]
            if entry is None:
                yield Edit(call.start, call.end, "pass" if call.kind == "statement" else "")
            elif call.kind == "list":
                yield Edit(*call.value, repr(entry.value.split(",")))
            else:
                if entry.key != before.key:
                    yield Edit(*call.key, python_literal(entry.key))
                if entry.value != before.value or not before.is_known:
                    yield Edit(*call.value, python_literal(entry.value))

    def _additions(self, found: SettingDifference) -> Iterator[Edit]:
        room = self.room
        for entry in found.added:
            new = f"{room.before}{python_literal(entry.key)}{room.between}{python_literal(entry.value)}{room.after}"
            yield Edit(room.at, room.at, new)


def read_python(text: str) -> PythonText:
    """Read calls of `.config(key, value)`, `.set(key, value)` and their like; PasteRefused for what is no Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise PasteRefused(f"This is no Python: line {error.lineno} cannot be read.") from None
    except (ValueError, RecursionError, MemoryError):
        raise PasteRefused("This is no Python that can be read: it is nested too deeply, or holds a null.") from None
    return _SnippetReader(text, tree).read()


class _SnippetReader:
    """Finds the calls of one snippet, and where a new one fits."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._text = text
        self._data = text.encode()
        self._tree = tree
        self._lines = [0]
        for line in self._data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._statements = {id(node.value): node for node in ast.walk(tree) if isinstance(node, ast.Expr)}

    def read(self) -> PythonText:
        found = sorted(self._found(), key=lambda one: one[1].end)
        entries = tuple(replace(one, at=at) for at, (one, _) in enumerate(found))
        calls = tuple(call for _, call in found)
        unread = tuple(dict.fromkeys(self._unread()))
        return PythonText(self._text, entries, calls, self._room(calls), self._uses(WITH_PIP), unread=unread)

    def _uses(self, name: str) -> bool:
        return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(self._tree))

    def _found(self) -> Iterator[tuple[PastedSetting, PythonSetting]]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                yield from self._settings_of(node)

    def _settings_of(self, node: ast.Call) -> Iterator[tuple[PastedSetting, PythonSetting]]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        pair = _key_and_value(node)
        if name in _SETTERS and isinstance(node.func, ast.Attribute) and pair and _is_of_spark(name, pair[0]):
            yield from self._pair(node, node.func, *pair)
        elif name == "setAll" and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
            yield from self._pairs(node.args[0])
        elif name == WITH_PIP:
            yield from self._extra_packages(node)
        if name == "config":
            for keyword in node.keywords:
                if keyword.arg == "map" and isinstance(keyword.value, ast.Dict):
                    yield from self._items(keyword.value)

    def _unread(self) -> Iterator[str]:
        """Calls whose settings are made when the snippet runs, and those that Hadoop is given by itself."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Constant) and node.value == "PYSPARK_SUBMIT_ARGS":
                yield f"Line {node.lineno} names PYSPARK_SUBMIT_ARGS, whose options are not judged."
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            name, pair = node.func.attr, _key_and_value(node)
            if name == "set" and pair and (_constant(pair[0]) or "").startswith("fs."):
                yield f"Line {node.lineno} sets what Hadoop has on a session that runs already, which is not judged."
            elif _takes_from_elsewhere(name, node, pair):
                yield f"Line {node.lineno} takes settings that are made when the snippet runs, which are not judged."

    def _pair(
        self, node: ast.Call, func: ast.Attribute, key: ast.expr, value: ast.expr
    ) -> Iterator[tuple[PastedSetting, PythonSetting]]:
        name = _constant(key)
        if name is None:
            return
        statement = func.attr == "set" and id(node) in self._statements and not isinstance(func.value, ast.Call)
        start = self._span(node)[0] if statement else self._chain_start(func.value, key)
        kind: Kind = "statement" if statement else "chained"
        is_late = statement and isinstance(func.value, ast.Attribute) and func.value.attr == "conf"
        call = PythonSetting(kind, start, self._span(node)[1], self._span(key), self._span(value))
        yield replace(_entry(name, value), is_late=is_late), call

    def _pairs(self, listed: ast.List | ast.Tuple) -> Iterator[tuple[PastedSetting, PythonSetting]]:
        for pair in listed.elts:
            if isinstance(pair, ast.Tuple | ast.List) and len(pair.elts) == 2:
                key, value = pair.elts
                if (name := _constant(key)) is not None:
                    span = self._with_comma(self._span(pair))
                    yield _entry(name, value), PythonSetting("pair", *span, self._span(key), self._span(value))

    def _items(self, mapping: ast.Dict) -> Iterator[tuple[PastedSetting, PythonSetting]]:
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            if key is not None and (name := _constant(key)) is not None:
                span = self._with_comma((self._span(key)[0], self._span(value)[1]))
                yield _entry(name, value), PythonSetting("item", *span, self._span(key), self._span(value))

    def _extra_packages(self, node: ast.Call) -> Iterator[tuple[PastedSetting, PythonSetting]]:
        """What is given to the wheel's helper, which sets spark.jars.packages itself."""
        given = next((one.value for one in node.keywords if one.arg == "extra_packages"), None)
        if isinstance(given, ast.List) and all(isinstance(_constant(one), str) for one in given.elts):
            span = self._span(given)
            names = ",".join(str(_constant(one)) for one in given.elts)
            yield PastedSetting(PACKAGES, names), PythonSetting("list", *span, span, span)

    def _room(self, calls: Sequence[PythonSetting]) -> Room:
        """Behind the last chained call, else below the last statement, in a list, or at the builder itself."""
        by_kind = {call.kind: call for call in calls}
        first = {call.kind: call for call in reversed(calls)}
        if call := by_kind.get("chained"):
            return Room(call.end, self._lead(call), ")")
        if call := by_kind.get("statement"):
            start = max(at for at in self._lines if at <= call.start)
            return Room(call.end, f"\n{self._data[start : call.key[0]].decode()}", ")")
        if call := first.get("pair"):
            return Room(call.start, "(", "), ")
        if call := first.get("item"):
            return Room(call.start, "", ", ", ": ")
        return self._builder()

    def _builder(self) -> Room:
        found = [node for node in ast.walk(self._tree) if isinstance(node, ast.Attribute) and node.attr == "builder"]
        if not found:
            raise PasteRefused("This Python sets nothing of Spark's: paste the lines with .config(…) or .set(…).")
        return Room(self._span(found[0])[1], ".config(", ")")

    def _lead(self, call: PythonSetting) -> str:
        """What stands before the call's key: a line of its own where the call has one, and the method's name."""
        found = _METHOD.search(self._data[call.start : call.key[0]].decode())
        return f"{found['blanks'] or ''}.{found['name']}(" if found else ".config("

    def _chain_start(self, value: ast.expr, key: ast.expr) -> int:
        """Where a chained call begins, with the blanks before it; a comment before it stays, and ends its line."""
        start = self._span(value)[1]
        before = self._data[start : self._span(key)[0]]
        dot = before.rfind(b".", 0, before.rfind(b"("))
        return start + dot if b"#" in before[:dot] else start

    def _with_comma(self, span: tuple[int, int]) -> tuple[int, int]:
        found = _COMMA.match(self._data, span[1])
        return span[0], found.end() if found else span[1]

    def _span(self, node: ast.expr) -> tuple[int, int]:
        return (
            self._lines[node.lineno - 1] + node.col_offset,
            self._lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or node.col_offset),
        )


def _key_and_value(node: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    if len(node.args) == 2:
        return node.args[0], node.args[1]
    named = {one.arg: one.value for one in node.keywords}
    return (named["key"], named["value"]) if not node.args and {"key", "value"} <= named.keys() else None


def _is_of_spark(name: str, key: ast.expr) -> bool:
    """Whether a call sets something of Spark's: others have a method `set`, and so has Hadoop's configuration."""
    return name == "config" or (_constant(key) or "").startswith(_OF_SPARK)


def _takes_from_elsewhere(name: str, node: ast.Call, pair: tuple[ast.expr, ast.expr] | None) -> bool:
    if name == "setAll":
        given = node.args[0] if node.args else None
        pairs = given.elts if isinstance(given, ast.List | ast.Tuple) else None
        return pairs is None or not all(isinstance(one, ast.Tuple | ast.List) and _has_name(one.elts) for one in pairs)
    if name not in ("config", "setIfMissing"):
        return False
    maps = [one.value for one in node.keywords if one.arg in ("map", None)]
    known = all(isinstance(one, ast.Dict) and all(key and _has_name([key]) for key in one.keys) for one in maps)
    return bool((pair and not _has_name(pair)) or not known or any(one.arg == "conf" for one in node.keywords))


def _has_name(nodes: Sequence[ast.expr]) -> bool:
    return bool(nodes) and _constant(nodes[0]) is not None


def _constant(node: ast.expr) -> str | None:
    """A literal as PySpark hands it over; None for what is made when the snippet runs."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, bytes | type(...) | None):
        return None
    return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)


def _entry(key: str, value: ast.expr) -> PastedSetting:
    text = _constant(value)
    return PastedSetting(key, text or "", None, text is not None)
