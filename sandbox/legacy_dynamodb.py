"""Translate DynamoDB's legacy parameters to expressions, as WSGI in front of moto.

moto keeps a BOOL that arrives in legacy `AttributeUpdates` as a string, which Delta's commit coordinator, written
against those parameters, cannot read back. Expressions carry types faithfully, so requests are rewritten on their way.
"""

import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

Body = dict[str, Any]
Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]

_LEGACY = ("AttributeUpdates", "Expected", "ConditionalOperator")
_COMPARED = {"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}
_SETS = {"SS", "NS", "BS"}


class LegacyDynamoDB:
    """WSGI layer that rewrites the bodies of PutItem, UpdateItem and DeleteItem and passes everything else on."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        operation = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        if operation in {"PutItem", "UpdateItem", "DeleteItem"}:
            _rewrite(environ)
        return self.application(environ, start_response)


def _rewrite(environ: Environ) -> None:
    data = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    # A malformed body goes through as it is: moto refuses it as DynamoDB would.
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        data = json.dumps(translate(json.loads(data))).encode()
    environ["wsgi.input"] = io.BytesIO(data)
    environ["CONTENT_LENGTH"] = str(len(data))


def translate(body: Body) -> Body:
    """Return the request with `AttributeUpdates`, `Expected` and `ConditionalOperator` turned into expressions."""
    if not any(body.get(parameter) for parameter in _LEGACY):
        return {name: value for name, value in body.items() if name not in _LEGACY}
    expression = _Expression()
    translated = {name: value for name, value in body.items() if name not in _LEGACY}
    if updates := body.get("AttributeUpdates"):
        translated["UpdateExpression"] = expression.update(updates)
    if expected := body.get("Expected"):
        joined = f" {body.get('ConditionalOperator', 'AND')} "
        translated["ConditionExpression"] = joined.join(expression.conditions(expected))
    return translated | expression.parameters()


class _Expression:
    """Collects placeholders while clauses are written; one per request."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: Body = {}
        self.counter = itertools.count()

    def parameters(self) -> Body:
        named = {"ExpressionAttributeNames": self.names, "ExpressionAttributeValues": self.values}
        return {parameter: content for parameter, content in named.items() if content}

    def name(self, attribute: str) -> str:
        placeholder = f"#legacy{next(self.counter)}"
        self.names[placeholder] = attribute
        return placeholder

    def value(self, value: Body) -> str:
        placeholder = f":legacy{next(self.counter)}"
        self.values[placeholder] = value
        return placeholder

    def update(self, updates: Body) -> str:
        clauses: dict[str, list[str]] = {}
        for attribute, change in updates.items():
            keyword, clause = self._change(attribute, change.get("Action", "PUT"), change.get("Value"))
            clauses.setdefault(keyword, []).append(clause)
        return " ".join(f"{keyword} {', '.join(written)}" for keyword, written in clauses.items())

    def _change(self, attribute: str, action: str, value: Body | None) -> tuple[str, str]:
        name = self.name(attribute)
        if action == "DELETE":
            return ("REMOVE", name) if value is None else ("DELETE", f"{name} {self.value(value)}")
        if value is None:
            raise ValueError(f"{action} of {attribute} has no value")
        if action == "ADD" and "L" in value:
            return "SET", f"{name} = list_append(if_not_exists({name}, {self.value({'L': []})}), {self.value(value)})"
        if action == "ADD" and (set(value) & _SETS or "N" in value):
            return "ADD", f"{name} {self.value(value)}"
        if action == "PUT":
            return "SET", f"{name} = {self.value(value)}"
        raise ValueError(f"{action} of {attribute} is no legacy update")

    def conditions(self, expected: Body) -> Iterator[str]:
        for attribute, condition in expected.items():
            yield self._condition(self.name(attribute), condition)

    def _condition(self, name: str, condition: Body) -> str:
        operator = condition.get("ComparisonOperator")
        if operator is None:
            if condition.get("Exists") is False:
                return f"attribute_not_exists({name})"
            return f"{name} = {self.value(condition['Value'])}"
        values = condition.get("AttributeValueList") or ([condition["Value"]] if "Value" in condition else [])
        return self._comparison(name, operator, [self.value(value) for value in values])

    def _comparison(self, name: str, operator: str, values: list[str]) -> str:
        if operator in _COMPARED:
            return f"{name} {_COMPARED[operator]} {values[0]}"
        written = {
            "NULL": f"attribute_not_exists({name})",
            "NOT_NULL": f"attribute_exists({name})",
            "IN": f"{name} IN ({', '.join(values)})",
            "BETWEEN": f"{name} BETWEEN {' AND '.join(values)}",
            "BEGINS_WITH": f"begins_with({name}, {', '.join(values)})",
            "CONTAINS": f"contains({name}, {', '.join(values)})",
            "NOT_CONTAINS": f"NOT contains({name}, {', '.join(values)})",
        }
        return written[operator]
