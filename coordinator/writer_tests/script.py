"""The script of a writer's self-test as text: what runs in the session, and one call with this test's values. Pure."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from coordinator.coordination.pasting import python_literal
from coordinator.coordination.session_conf import WriterConfig, coordinator_json
from coordinator.models import CommitStore
from lake.delta.coordinator_properties import COORDINATOR, COORDINATOR_CONF

IN_SESSION = Path(__file__).with_name("in_session.py")


def script_of(token: str, uri: str, properties: Mapping[str, str]) -> str:
    """Python for a PySpark session that is there as `spark`; `properties` are those of the scratch table."""
    pairs = [f"        {python_literal(key)}: {python_literal(value)}," for key, value in properties.items()]
    values = "\n".join(["    {", *pairs, "    },"]) if pairs else "    {},"
    words = f"    {python_literal(token)},\n    {python_literal(uri)},"
    return f"{_in_session()}\n\nrun_writer_test(\n    spark,\n{words}\n{values}\n)\n"


def properties_for(kind: str, config: WriterConfig) -> dict[str, str]:
    """What the scratch table is made with: the store of a coordinator, nothing for a log store."""
    if kind != CommitStore.Kind.COMMIT_COORDINATOR:
        return {}
    return {COORDINATOR: "dynamodb", COORDINATOR_CONF: coordinator_json(config)}


@cache
def _in_session() -> str:
    return IN_SESSION.read_text(encoding="utf-8")
