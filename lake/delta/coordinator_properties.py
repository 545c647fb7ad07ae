"""Table properties of coordinated commits (Delta 3.3 to 4.4): who coordinates, through which DynamoDB table.

The three properties hold text; two of them JSON that a person may have edited, so nothing in it is trusted.
"""

import json
from collections.abc import Mapping

COORDINATOR = "delta.coordinatedCommits.commitCoordinator-preview"
COORDINATOR_CONF = "delta.coordinatedCommits.commitCoordinatorConf-preview"
TABLE_CONF = "delta.coordinatedCommits.tableConf-preview"


def coordinator_table_id(properties: Mapping[str, str]) -> str:
    """The registration's `tableId`; "" where the properties name none."""
    return _text_in_json(properties.get(TABLE_CONF), "tableId")


def coordinator_store_name(properties: Mapping[str, str]) -> str:
    """The DynamoDB table of the coordinator; "" where the properties name none."""
    return _text_in_json(properties.get(COORDINATOR_CONF), "dynamoDBTableName")


def _text_in_json(text: object, key: str) -> str:
    try:
        content = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return ""
    value = content.get(key) if isinstance(content, dict) else None
    return value if isinstance(value, str) else ""
