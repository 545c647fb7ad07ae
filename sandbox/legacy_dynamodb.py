"""Translate DynamoDB's legacy parameters to expressions, as WSGI in front of moto.

moto keeps a BOOL that arrives in legacy `AttributeUpdates` as a string, which Delta's commit coordinator, written
against those parameters, cannot read back. Expressions carry types faithfully, so requests are rewritten on their way.
"""

import io
import json
from collections.abc import Callable, Iterable
from typing import Any

Body = dict[str, Any]
Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]


def legacy_dynamodb(application: Application) -> Application:
    """WSGI layer that rewrites the bodies of PutItem, UpdateItem and DeleteItem and passes everything else on."""

    def layer(environ: Environ, start_response: Any) -> Iterable[bytes]:
        operation = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        if operation in {"PutItem", "UpdateItem", "DeleteItem"}:
            body = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            data = json.dumps(translate(body)).encode()
            environ["wsgi.input"] = io.BytesIO(data)
            environ["CONTENT_LENGTH"] = str(len(data))
        return application(environ, start_response)

    return layer


def translate(body: Body) -> Body:
    """The request with `AttributeUpdates` and `Expected` turned into expressions, as far as Delta's classes use them.

    ValueError for any other: moto would take it, and keep another type.
    """
    updates, expected = body.pop("AttributeUpdates", None) or {}, body.pop("Expected", None) or {}
    if not updates and not expected:
        return body
    names: dict[str, str] = {}
    values: Body = {}

    def placeholder(attribute: str, value: Body | None = None) -> tuple[str, str]:
        """One for the attribute, and one for the value."""
        number = len(names)
        names[f"#legacy{number}"] = attribute
        if value is not None:
            values[f":legacy{number}"] = value
        return f"#legacy{number}", f":legacy{number}"

    if updates:
        sets = [_set(*placeholder(name, change.get("Value")), change) for name, change in updates.items()]
        body["UpdateExpression"] = f"SET {', '.join(sets)}"
        if any("list_append" in one for one in sets):
            values[":none"] = {"L": []}
    if expected:
        conditions = [_condition(*placeholder(name, one.get("Value")), one) for name, one in expected.items()]
        body["ConditionExpression"] = " AND ".join(conditions)
    return body | {"ExpressionAttributeNames": names} | ({"ExpressionAttributeValues": values} if values else {})


def _set(name: str, value: str, change: Body) -> str:
    if change.get("Action", "PUT") == "PUT" and "Value" in change:
        return f"{name} = {value}"
    if change["Action"] == "ADD" and "L" in change.get("Value", {}):
        return f"{name} = list_append(if_not_exists({name}, :none), {value})"
    raise ValueError(f"no update is known for {change}")


def _condition(name: str, value: str, expected: Body) -> str:
    if expected.get("Exists") is False:
        return f"attribute_not_exists({name})"
    if "Value" in expected and not expected.get("ComparisonOperator"):
        return f"{name} = {value}"
    raise ValueError(f"no condition is known for {expected}")
