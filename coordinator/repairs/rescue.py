"""Where a repair that can lose something keeps copies: `<table root>/_levee_rescue/<UTC time>-<repair>-<version>/`.

VACUUM leaves alone what lies in folders whose names begin with an underscore (`isHiddenDirectory`, Delta 4.4).
"""

from datetime import UTC, datetime
from urllib.parse import quote

from coordinator.repairs.plan import RepairName
from lake.delta.uri import TableUri

FOLDER = "_levee_rescue/"


def rescue_folder(uri: TableUri, repair: RepairName, version: int | None, at: datetime) -> str:
    """The key prefix, slash included, under which one repair saves; `at` is when its plan was made, in any zone."""
    root = f"{uri.key}/" if uri.key else ""
    parts = [at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"), repair.value]
    if version is not None:
        parts.append(str(version))
    return f"{root}{FOLDER}{'-'.join(parts)}/"


def rescued_object(folder: str, name: str) -> str:
    """The key of the copy of an object; `name` is relative to `_delta_log/`."""
    return f"{folder}_delta_log/{name}"


def rescued_entry(folder: str, file_name: str) -> str:
    """The key of the copy of a log store entry."""
    return f"{folder}entry-{quote(file_name, safe='')}.item.json"


def rescued_registration(folder: str, table_id: str) -> str:
    """The key of the copy of a coordinator's registration."""
    return f"{folder}registration-{quote(table_id, safe='')}.item.json"
