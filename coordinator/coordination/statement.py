"""The SQL that Spark is given, for a person to read or to run in a session of their own."""

import json
from collections.abc import Mapping
from typing import Any

from coordinator.coordination.checks import Operation
from coordinator.coordination.features import COORDINATED
from coordinator.coordination.reading import CoordinationRequest
from coordinator.protocols.coordinator_conf import ENDPOINT_KEY, STORE_KEY
from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF
from lake.spark.sql import delta_path, property_list, quote_name, quote_text


def statement_of(change: CoordinationRequest, checked: Mapping[str, Any]) -> str:
    """One statement, quoted as Spark is given it; "" for a path or a name that SQL cannot hold."""
    try:
        return _statement(change, checked)
    except ValueError:
        return ""


def _statement(change: CoordinationRequest, checked: Mapping[str, Any]) -> str:
    table = delta_path(str(checked["location"]))
    properties = {
        COORDINATOR: "dynamodb",
        COORDINATOR_CONF: json.dumps(
            {STORE_KEY: checked["store"], ENDPOINT_KEY: checked["endpoint"]}, separators=(",", ":")
        ),
    }
    match change.operation:
        case Operation.ENABLE:
            return f"ALTER TABLE {table} SET TBLPROPERTIES {property_list(properties)}"
        case Operation.CREATE:
            names = ", ".join(quote_name(name) for name in change.partition_by)
            partitioned = f" PARTITIONED BY ({names})" if names else ""
            return (
                f"CREATE TABLE {table} ({change.columns}) USING delta{partitioned} "
                f"TBLPROPERTIES {property_list(properties)}"
            )
        case Operation.DROP:
            features = (COORDINATED, *change.remove_features)
        case Operation.LEFTOVERS:
            features = change.remove_features
    return ";\n".join(f"ALTER TABLE {table} DROP FEATURE {quote_text(feature)}" for feature in features)
