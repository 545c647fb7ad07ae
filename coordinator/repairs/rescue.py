"""Where a repair that can lose something keeps copies, and in which form.

They lie under `<table root>/_levee_rescue/<UTC time>-<repair>-<version>/`. VACUUM leaves alone what lies in folders
whose names begin with an underscore (`isHiddenDirectory`, Delta 4.4).

The copy of an item is JSON: the item in wire form, and where it was read: DynamoDB table, region and account. Copies of
earlier releases hold the bare item, or no region; where it belongs is then told by what else is known of the table, or
by nothing.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from lake.delta.uri import TableUri
from lake.delta.wire import in_order

FOLDER = "_levee_rescue/"
NOTE = "table.json"

FORMAT = 1
MOST_ITEM_BYTES = 4 * 2**20
"""DynamoDB takes items of 400 KB; indented JSON of the smallest values is ten times as long."""
DEEPEST = 32
"""Levels of maps and lists that DynamoDB takes."""

_TABLE = re.compile(r"[A-Za-z0-9_.-]{0,255}")
_REGION = re.compile(r"[a-z0-9-]{0,32}")
_ACCOUNT = re.compile(r"[0-9]{0,12}")
_TEXTS = frozenset({"S", "N", "B"})
_SETS = frozenset({"SS", "NS", "BS"})
_IN_FOLDER = re.compile(rf"^((?:.*/)?{FOLDER})([^/]+)/")


def rescue_folder(uri: TableUri, repair: str, version: int | None, at: datetime) -> str:
    """The key prefix, slash included, under which one repair saves; `at` is when its plan was made, in any zone."""
    root = f"{uri.key}/" if uri.key else ""
    parts = [at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"), str(repair)]
    if version is not None:
        parts.append(str(version))
    return f"{root}{FOLDER}{'-'.join(parts)}/"


def folder_of(key: str) -> str:
    """The name of the rescue folder that a key lies in; "" for one that lies in none."""
    found = _IN_FOLDER.match(key)
    return found[2] if found else ""


def in_folder(key: str, folder: str) -> str:
    """The key in a rescue folder of another name; itself where it lies in none."""
    return _IN_FOLDER.sub(lambda found: f"{found[1]}{folder}/", key)


def rescued_object(folder: str, name: str) -> str:
    """The key of the copy of an object; `name` is relative to `_delta_log/`."""
    return f"{folder}_delta_log/{name}"


def table_note(key: str) -> str:
    """The key of the note that says of which table the copies in a key's rescue folder are; "" outside of one."""
    found = _IN_FOLDER.match(key)
    return f"{found[0]}{NOTE}" if found else ""


def rescued_registration(folder: str, table_id: str) -> str:
    """The key of the copy of a coordinator's registration."""
    return f"{folder}registration-{quote(table_id, safe='')}.item.json"


@dataclass(frozen=True, slots=True)
class CopiedFrom:
    """Where a copy is from: the AWS region and the account of its DynamoDB, and the table by its `metaData.id`.

    "" stands for what is not known.
    """

    region: str = ""
    account: str = ""
    metadata_id: str = ""


NOWHERE_KNOWN = CopiedFrom()


@dataclass(frozen=True, slots=True)
class KeptItem:
    """`table` is the DynamoDB table that the item was read from, "" where the copy does not say."""

    table: str
    item: Mapping[str, Mapping[str, Any]]
    copied_from: CopiedFrom = NOWHERE_KNOWN


def kept_document(table: str, item: Mapping[str, Mapping[str, Any]], copied_from: CopiedFrom = NOWHERE_KNOWN) -> bytes:
    """The copy of an item, the same bytes for the same item of the same place. What is not known is left out."""
    known = {name: value for name, value in asdict(copied_from).items() if value}
    document = {"levee_rescue": FORMAT, "dynamodb_table": table, **known, "item": in_order(item)}
    return (json.dumps(document, sort_keys=True, indent=2) + "\n").encode()


def note_document(metadata_id: str) -> bytes:
    """What lies beside copies of files, which are their bytes and nothing else: the table that they are of."""
    return (json.dumps({"levee_rescue": FORMAT, "metadata_id": metadata_id}) + "\n").encode()


def read_note(data: bytes) -> CopiedFrom:
    """Read such a note. Raises ValueError with the sentence that says what is wrong."""
    found = _object(data)
    if found.get("levee_rescue") != FORMAT:
        raise ValueError(f"It is of a format that this release does not know; it knows {FORMAT}.")
    return CopiedFrom(metadata_id=_copied_from(found).metadata_id)


def read_kept(data: bytes) -> KeptItem:
    """Read a copy of this or an earlier release. Raises ValueError with the sentence that says what is wrong."""
    table, item, copied_from = _parts(_object(data))
    if not item or not all(_is_value(value, DEEPEST) for value in item.values()):
        raise ValueError("It holds no item as DynamoDB writes it, with a type for each attribute.")
    return KeptItem(table, in_order(item), copied_from)


def _object(data: bytes) -> dict[str, Any]:
    if len(data) > MOST_ITEM_BYTES:
        raise ValueError(f"It has {len(data):,} B, more than any item has.")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError("It is no JSON.") from error
    if not isinstance(found, dict):
        raise ValueError("It is no JSON object.")
    return found


def _parts(found: dict[str, Any]) -> tuple[str, dict[str, Any], CopiedFrom]:
    if "levee_rescue" not in found:
        return "", found, NOWHERE_KNOWN
    if found["levee_rescue"] != FORMAT:
        raise ValueError(f"It is of a format that this release does not know; it knows {FORMAT}.")
    table, item = found.get("dynamodb_table"), found.get("item")
    if not isinstance(table, str) or not _TABLE.fullmatch(table) or not isinstance(item, dict):
        raise ValueError("It names no DynamoDB table, or holds no item.")
    return table, item, _copied_from(found)


def _copied_from(found: dict[str, Any]) -> CopiedFrom:
    region, account = found.get("region", ""), found.get("account", "")
    if not isinstance(region, str) or not _REGION.fullmatch(region):
        raise ValueError("The region that it names is none of AWS.")
    if not isinstance(account, str) or not _ACCOUNT.fullmatch(account):
        raise ValueError("The account that it names is none of AWS.")
    metadata_id = found.get("metadata_id", "")
    if not isinstance(metadata_id, str):
        raise ValueError("The metaData.id that it names is no text.")
    return CopiedFrom(region, account, metadata_id)


def _is_value(value: object, levels: int) -> bool:
    """Whether it is one attribute value in wire form: exactly one type, and what that type holds."""
    if not isinstance(value, dict) or len(value) != 1 or levels < 0:
        return False
    [(kind, content)] = value.items()
    if kind in _TEXTS:
        return isinstance(content, str)
    if kind in _SETS:
        return isinstance(content, list) and all(isinstance(one, str) for one in content)
    if kind in ("BOOL", "NULL"):
        return isinstance(content, bool)
    if kind == "L":
        return isinstance(content, list) and all(_is_value(one, levels - 1) for one in content)
    return kind == "M" and isinstance(content, dict) and all(_is_value(one, levels - 1) for one in content.values())
