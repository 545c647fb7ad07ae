"""Where a repair that can lose something keeps copies, and in which form.

They lie under `<table root>/_levee_rescue/<UTC time>-<repair>-<version>/`. VACUUM leaves alone what lies in folders
whose names begin with an underscore (`isHiddenDirectory`, Delta 4.4).

The copy of an item is JSON: the item in wire form, and where it was read: DynamoDB table, region and account.
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


def kept_document(table: str, item: Mapping[str, Mapping[str, Any]], copied_from: CopiedFrom = NOWHERE_KNOWN) -> bytes:
    """The copy of an item, the same bytes for the same item of the same place. What is not known is left out."""
    known = {name: value for name, value in asdict(copied_from).items() if value}
    document = {"levee_rescue": FORMAT, "dynamodb_table": table, **known, "item": in_order(item)}
    return (json.dumps(document, sort_keys=True, indent=2) + "\n").encode()


def note_document(metadata_id: str) -> bytes:
    """What lies beside copies of files, which are their bytes and nothing else: the table that they are of."""
    return (json.dumps({"levee_rescue": FORMAT, "metadata_id": metadata_id}) + "\n").encode()
