"""The SQL that Spark is given, for a person to read or to run in a session of their own."""

from collections.abc import Mapping
from typing import Any

from coordinator.coordination.reading import CoordinationRequest
from coordinator.coordination.spark_calls import spark_calls
from lake.spark.errors import SparkRefused


def statement_of(change: CoordinationRequest, checked: Mapping[str, Any]) -> str:
    """Each statement of an act, quoted as Spark is given it; "" for a path or a name that SQL cannot hold."""
    named = (str(checked[name]) for name in ("location", "store", "endpoint"))
    try:
        return ";\n".join(call.request for call in spark_calls(change, *named))
    except (SparkRefused, ValueError):
        return ""
