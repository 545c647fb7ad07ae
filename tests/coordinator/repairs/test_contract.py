"""The JSON examples of the documentation are those of the types, and what commands print is of these types."""

import json
from io import StringIO
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from django.core.management import call_command

from coordinator.contract import CommitsJson, CopiesJson, RepairJson, RestoreJson, SettingJson, TableJson
from tests.coordinator.repairs.console import Console
from tools import json_examples


def missing(value: Any, kind: Any, place: str = "") -> list[str]:
    """Where a value is not of a type, or has other members than it."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return missing(value, args[0], place)
    if is_typeddict(kind):
        wanted = get_type_hints(kind, include_extras=True)
        wrong = [f"{place}: {sorted(set(wanted) ^ set(value))}"] if set(wanted) != set(value) else []
        common = set(wanted) & set(value)
        return wrong + [one for name in common for one in missing(value[name], wanted[name], f"{place}.{name}")]
    if len(args) == 2 and type(None) in args:
        return [] if value is None else missing(value, next(one for one in args if one is not type(None)), place)
    if origin is list:
        return [one for element in value for one in missing(element, args[0], place)]
    return [] if kind is Any or isinstance(value, origin or kind) else [f"{place}: {value!r} is no {kind}"]


def printed(*words: str) -> Any:
    out = StringIO()
    call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_page_has_the_examples_of_the_types() -> None:
    page = json_examples.PAGE.read_text()

    assert len(json_examples.documents()) == 7
    assert json_examples.written(page, json_examples.documents()) == page


@pytest.mark.parametrize("kind", [CommitsJson, CopiesJson, RepairJson, RestoreJson, SettingJson, TableJson])
def test_an_example_is_json_of_its_type_in_lines_that_fit(kind: Any) -> None:
    text = json_examples.in_lines(json_examples.example(kind))

    assert not missing(json.loads(text), kind)
    assert max(map(len, text.splitlines())) <= json_examples.WIDTH


def test_what_commands_print_is_of_their_types(console: Console) -> None:
    table = console.lost()
    told = printed("repair", table.uri, "--apply", "--finding", "C11", "--confirm", table.name)
    copies = printed("rescue", "list")
    [entry] = [one["id"] for one in copies["copies"] if one["kind"] == "entry"]
    store = ("store", console.lake.log_store, "capacity", "--read", "6", "--write", "7")

    assert told["plans"]
    assert told["jobs"]
    assert not missing(told, RepairJson)
    assert not missing(printed("table", table.uri), TableJson)
    assert not missing(copies, CopiesJson)
    assert not missing(printed("rescue", "restore", entry, "--confirm", table.name, "--apply"), RestoreJson)
    assert not missing(printed(*store, "--apply"), SettingJson)


def test_a_value_of_another_shape_is_told() -> None:
    line = json_examples.example(CopiesJson)

    assert missing({**line, "left_out": "0"}, CopiesJson)
    assert missing({name: value for name, value in line.items() if name != "more"}, CopiesJson)
