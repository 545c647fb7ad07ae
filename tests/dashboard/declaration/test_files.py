"""TOML out, as tomllib reads it in."""

import tomllib

import pytest

from dashboard.declaration.files import as_toml

QUOTES = ['"', "\\", "a\\u0041", "'''", '"""']
HOSTILE = ["", *QUOTES, "]\n[connections.evil]", "\t\r\x1b[2J\x7f\x85", "\u202e", "😀\U000e0041"]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_read_back_as_it_was_wherever_it_stands(text):
    table = {"text": text, "list": [text, text], "inline": {text: text}, text: 1}
    document = {"connections": {text: table}, "plans": [table, table]}

    assert tomllib.loads(as_toml(document)) == document


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_a_terminal_obeys_is_written(text):
    assert all(one.isprintable() for one in as_toml({"watch": [{"uri": text}]}) if one != "\n")


@pytest.mark.parametrize("value", [True, False, 0, 2**31 - 1, 0.1, 40.0, 99_999_998.99, 1e-07, [], {}])
def test_a_value_keeps_its_sort(value):
    read = tomllib.loads(as_toml({"plans": [{"key": value}]}))["plans"][0]["key"]

    assert (read, type(read)) == (value, type(value))


def test_a_name_is_quoted_only_where_it_has_to_be():
    assert as_toml({"connections": {"prod-1_a": {"a": 1}}}) == "[connections.prod-1_a]\na = 1\n"
    assert as_toml({"connections": {"a.b": {"a": 1}}}) == '[connections."a.b"]\na = 1\n'
