"""Situations in one line: a healthy table in ordinary surroundings, and whatever a test changes of it."""

import json
from typing import Any

from changes.plan import ChangePlan
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.situation import DescribedStore, RecentWriter, Situation, SparkFacts
from coordinator.protocols.diagnosis import diagnose
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.planning import plan_repairs
from lake.delta.coordinator_properties import COORDINATOR_CONF
from lake.delta.facts import Mechanism, TableFacts
from tests.builders.delta import coordinator_properties
from tests.builders.facts import TABLE_ID, URI, entry, listing, log_store_facts, protocol, registration, table_facts

REGION = "eu-west-1"
ENDPOINT = f"https://dynamodb.{REGION}.amazonaws.com"
KEYS = [["tableId", "HASH", "S"]]
FEATURES = ("coordinatedCommits-preview", "inCommitTimestamp", "vacuumProtocolCheck")


def conf(**keys: Any) -> dict[str, str]:
    """The three properties of a coordinated table; `keys` change the coordinator's JSON."""
    where = {"dynamoDBTableName": "commits", "dynamoDBEndpoint": ENDPOINT} | keys
    return coordinator_properties("commits", ENDPOINT, TABLE_ID) | {COORDINATOR_CONF: json.dumps(where)}


def coordinated(properties: dict[str, str] | None = None, **item: Any) -> TableFacts:
    """A healthy coordinated table at version 3."""
    return table_facts(
        listing(),
        mechanism=Mechanism.COORDINATED_COMMITS,
        registrations=[registration(3, **item)],
        table_protocol=protocol(properties=properties or conf(), features=FEATURES),
    )


def log_store(**changes: Any) -> TableFacts:
    return log_store_facts(listing(), *(entry(version, **changes) for version in range(4)))


def store(**changes: Any) -> DescribedStore:
    facts = {"name": "commits", "kind": "commit_coordinator", "description": description()} | changes
    return DescribedStore(**facts)


def description(**changes: Any) -> dict[str, Any]:
    return {"status": "ACTIVE", "key_schema": KEYS} | changes


def situation(operation: Operation, facts: TableFacts | None = None, **changes: Any) -> Situation:
    facts = facts if facts is not None else table_facts()
    domains = tuple(sorted(domain for domain, found in facts.entries.items() if found))
    repair = RepairFacts(facts, diagnose(facts), domains)
    ordinary = {
        "uri": URI,
        "region": REGION,
        "endpoint": ENDPOINT,
        "store": store(),
        "repair": repair,
        "plans": tuple(one for one in plan_repairs(repair) if isinstance(one, ChangePlan)),
        "writers": (RecentWriter("Apache-Spark/4.2.0 Delta-Lake/4.4.0", 3),),
        "lock_domains": domains,
        "log_store": "delta_log" if any(facts.entries.values()) else "",
        "spark": SparkFacts(),
    }
    asked = {name: changes.pop(name) for name in ("columns", "partition_by", "remove_features") if name in changes}
    return Situation(CoordinationRequest(operation, URI, **asked), **{**ordinary, **changes})
