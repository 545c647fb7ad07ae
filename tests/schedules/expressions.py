"""DynamoDB's condition, key condition and update expressions over items in wire form, as moto reads them.

Whatever cannot be read is refused, so that no expression is taken for true unread.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

Value = Mapping[str, Any]
"""One attribute in wire form: {"S": "true"}."""
Item = dict[str, dict[str, Any]]
KEY_CONDITION = re.compile(r"(\S+) = (:\w+)(?: AND (\S+) >= (:\w+))?")


class InvalidExpression(Exception):
    """DynamoDB's ValidationException, or a piece of its grammar that is not played here."""


def placeholders(*texts: str) -> set[str]:
    """The names and values that expressions use; DynamoDB refuses any other that is given."""
    return {found for text in texts for found in re.findall(r"[#:]\w+", text)}


def holds(text: str, item: Item, names: Mapping[str, str], values: Mapping[str, Value]) -> bool:
    """Whether a condition holds of an item ({} where there is none)."""
    from moto.dynamodb.comparisons import get_filter_expression

    with _refused():
        return bool(get_filter_expression(text, dict(names), dict(values)).expr(_of_moto(item)))


def updated(text: str, item: Item, names: Mapping[str, str], values: Mapping[str, Value]) -> Item:
    """The item after an update."""
    from moto.dynamodb.parsing.executors import UpdateExpressionExecutor
    from moto.dynamodb.parsing.expressions import UpdateExpressionParser
    from moto.dynamodb.parsing.validators import UpdateExpressionValidator

    changed, no_table = _of_moto(item), SimpleNamespace(table_key_attrs=[], attr=[], attribute_keys=[])
    with _refused():
        update = UpdateExpressionParser.make(text)
        valid = UpdateExpressionValidator(update, dict(names), dict(values), changed, no_table).validate()
        UpdateExpressionExecutor(valid, changed, dict(names)).execute()
    found: Item = changed.to_json()["Attributes"]
    return found


def key_range(text: str, names: Mapping[str, str], values: Mapping[str, Value]) -> Sequence[str]:
    """[hash name, hash text] of a key condition, followed by [range name, least text] where it has one."""
    found = KEY_CONDITION.fullmatch(text)
    if found is None:
        raise InvalidExpression(f"{text!r} is not played here")
    given = [part for part in found.groups() if part]
    return [values[part]["S"] if part in values else names.get(part, part) for part in given]


def _of_moto(item: Item) -> Any:
    from moto.dynamodb.models.dynamo_type import DynamoType, Item

    return Item(DynamoType({"S": ""}), None, item)


@contextmanager
def _refused() -> Iterator[None]:
    from moto.dynamodb.exceptions import MockValidationException

    try:
        yield
    except (MockValidationException, KeyError, ValueError) as error:
        raise InvalidExpression(str(error)) from error
