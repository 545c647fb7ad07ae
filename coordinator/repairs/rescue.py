"""Where a repair that can lose something keeps copies: `<table root>/_levee_rescue/<UTC time>-<repair>-<version>/`.

VACUUM leaves alone what lies in folders whose names begin with an underscore (`isHiddenDirectory`, Delta 4.4).
"""

import re
from datetime import UTC, datetime
from urllib.parse import quote

from lake.delta.uri import TableUri

FOLDER = "_levee_rescue/"
NOTE = "table.json"
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
