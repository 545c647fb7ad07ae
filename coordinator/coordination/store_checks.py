"""Checks of the DynamoDB table that coordinates, or will, and of how Spark reaches it."""

from collections.abc import Iterator

from coordinator.coordination.checks import Check, Operation, failed, ok, warning
from coordinator.coordination.places import store_name_problem
from coordinator.coordination.situation import DescribedStore, Situation
from coordinator.protocols.coordinator_conf import endpoint_mismatch, read_conf
from coordinator.protocols.stores import AT_WORK, COMMIT_COORDINATOR
from lake.delta.coordinator_items import expected_keys
from lake.delta.facts import Mechanism


def store_check(situation: Situation) -> Check:
    """It has to exist beforehand: Delta would make one that is missing, with 5 read and 5 write units."""
    name = "Commit store"
    store = situation.store
    if store is None:
        return failed(name, "No commit store is chosen: choose a coordinator's DynamoDB table.")
    if problem := store_name_problem(store.name):
        return failed(name, problem)
    if store.kind and store.kind != COMMIT_COORDINATOR:
        return failed(name, f"{store.name} is declared as a log store, and a coordinator's table has another key.")
    if store.error:
        return failed(name, f"DynamoDB does not describe {store.name}: {store.error}")
    if problem := _unfit(store):
        return failed(name, problem)
    if not store.kind:
        return warning(name, f"{store.name} is not declared: Levee will not watch it until `levee apply` names it.")
    return ok(name, f"{store.name} is ACTIVE, and its key is tableId.")


def _unfit(store: DescribedStore) -> str:
    facts = store.description or {}
    keys = tuple(tuple(key) for key in facts.get("key_schema") or ())
    if keys != expected_keys():
        found = ", ".join(str(key[0]) for key in keys) or "unknown"
        return f"The key of {store.name} is {found}; a commit coordinator needs tableId alone, as text."
    if facts.get("status") not in AT_WORK:
        return f"{store.name} is {facts.get('status')}: wait until DynamoDB has it ACTIVE."
    return ""


def endpoint_check(situation: Situation) -> Check:
    name = "Endpoint and region"
    endpoint = endpoint_of(situation)
    own = situation.endpoint if situation.own_endpoint else ""
    if mismatch := endpoint_mismatch(endpoint, situation.region, own):
        return failed(name, f"{mismatch} Commits would go to another DynamoDB than the one that Levee reads.")
    if situation.bucket_region not in ("", situation.region):
        return warning(
            name,
            f"The bucket is in {situation.bucket_region}, the commit store in {situation.region}: each commit waits "
            "for both, and the S3A of every writer needs the bucket's region.",
        )
    if situation.own_endpoint and situation.operation in (Operation.ENABLE, Operation.CREATE):
        return warning(name, f"{endpoint} is not AWS itself, and it is written into the table's log for every writer.")
    return ok(name, f"{endpoint}, in {situation.region} as the connection.")


def endpoint_of(situation: Situation) -> str:
    """What the table's properties name, or will."""
    if situation.operation is Operation.DROP and (named := read_conf(situation.properties).endpoint):
        return named
    return situation.endpoint


def settings_check(situation: Situation) -> Iterator[Check]:
    """The JSON in the properties of a coordinated table: two known keys, and nothing that no release knows."""
    facts = situation.facts
    if facts is None or facts.mechanism is not Mechanism.COORDINATED_COMMITS:
        return
    name = "Coordinator settings"
    problem = read_conf(situation.properties).problem
    yield failed(name, problem) if problem else ok(name, "The properties name a table and an endpoint, and no more.")
