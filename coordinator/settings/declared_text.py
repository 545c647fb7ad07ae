"""Terraform's language and CloudFormation's YAML, from plain values. Pure.

Names, prefixes and tag values are what others chose, so each is quoted for the language that it stands in; what a
language would turn into another text is refused.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_TEMPLATE = re.compile(r"[$%](?=\{)")
RESOLVED = "{{resolve:"
"""How a dynamic reference begins, which CloudFormation replaces wherever it stands in a template."""


class NotDeclarable(ValueError):
    """What cannot be declared, and why: one sentence for people."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of Terraform's language: `head` is its type with its labels, `body` its lines in order.

    A line is a block, an attribute as (name, value), or a comment of one line.
    """

    head: str
    body: tuple["Line", ...]


Line = Block | tuple[str, Any] | str


def terraform(*blocks: Block, comments: tuple[str, ...] = ()) -> str:
    """The blocks one below another, the comments above. Raises NotDeclarable where a text would become another."""
    return "\n\n".join(["\n".join(f"# {one}" for one in comments)] * bool(comments) + [_block(one) for one in blocks])


def import_block(address: str, identifier: str) -> Block:
    """Takes what exists into the state of Terraform 1.5 or newer; where it is there already, nothing happens."""
    return Block("import", (("to", _Address(address)), ("id", identifier)))


def provider_note(region: str, *, imports: bool) -> str:
    """What a text is for; import blocks came with Terraform 1.5."""
    return f"For {'Terraform 1.5 or newer with ' if imports else ''}an AWS provider in {region}."


def given(**attributes: Any) -> tuple[Line, ...]:
    """Those attributes that have a value."""
    return tuple((name, value) for name, value in attributes.items() if value is not None)


def label(name: str) -> str:
    """A name as Terraform takes it for a resource: letters, digits and underscores, no digit first."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def hcl(text: str) -> str:
    """A string of Terraform's language with no template in it. Raises NotDeclarable: Terraform composes letters."""
    if unicodedata.normalize("NFC", text) != text:
        raise NotDeclarable(
            f"Terraform turns every text into Unicode's composed form, NFC, and would make another of {text!r}."
        )
    return _TEMPLATE.sub(lambda found: _coded(found[0]), _quoted(text))


def yaml(value: Any) -> str:
    """Maps and lists by indentation, every scalar so that it stays what it is. Raises NotDeclarable."""
    return "\n".join(_yaml_lines(value))


class _Address(str):
    """The address of a resource, which stands without quotes."""


def _block(block: Block, depth: int = 0) -> str:
    outer, inner = "  " * depth, "  " * (depth + 1)
    lines = [f"{outer}{block.head} {{"]
    for line in block.body:
        if isinstance(line, Block):
            lines.append(_block(line, depth + 1))
        elif isinstance(line, str):
            lines.append(f"{inner}# {line}")
        else:
            lines.append(f"{inner}{line[0]} = {_value(line[1], inner)}")
    return "\n".join([*lines, f"{outer}}}"])


def _value(value: Any, indent: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        lines = [f"{indent}  {hcl(key)} = {hcl(one)}" for key, one in value.items()]
        return "\n".join(["{", *lines, f"{indent}}}"])
    return str(value) if isinstance(value, _Address) else hcl(value)


def _yaml_lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _below(f"{key}:", inner)
    else:
        for inner in value:
            first, *rest = _yaml_lines(inner)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)


def _below(head: str, inner: Any) -> Iterator[str]:
    if isinstance(inner, Mapping | list) and inner:
        yield head
        yield from (f"  {line}" for line in _yaml_lines(inner))
    else:
        yield f"{head} {_scalar(inner)}"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if RESOLVED in value:
        raise NotDeclarable(f"CloudFormation would put something else in the place of {RESOLVED}…}}}} in {value!r}.")
    return _quoted(value)


def _quoted(text: str) -> str:
    """In double quotes with the escapes that Terraform and YAML share, which are fewer than JSON's."""
    return '"' + "".join(_NAMED.get(one) or (one if one.isprintable() else _coded(one)) for one in text) + '"'


def _coded(text: str) -> str:
    return "".join(f"\\u{ord(one):04x}" if ord(one) < 0x10000 else f"\\U{ord(one):08x}" for one in text)
