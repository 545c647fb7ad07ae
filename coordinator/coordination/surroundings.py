"""Checks of all that is around a table: its store, other writers, readers that will break, Spark, and other jobs."""

import re

from coordinator.coordination.checks import Operation, Said, check, failed, ok, warning
from coordinator.coordination.features import LEFT_BEHIND, VACUUM_CHECK
from coordinator.coordination.offers import log_store_speaks_to_aws_alone
from coordinator.coordination.situation import DescribedStore, Situation
from coordinator.protocols.coordinator_conf import endpoint_mismatch, read_conf
from coordinator.protocols.stores import AT_WORK, COMMIT_COORDINATOR
from lake.delta.coordinator_items import expected_keys
from lake.delta.facts import Mechanism
from lake.spark.deployment import LOG_STORE_CLASS, LOG_STORE_COORDINATE

MOST_NAMED = 4
MOST_COLUMNS_TEXT = 20_000
_STORE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_COLUMN_NAME = re.compile(r"[^\x00-\x1f\x7f]+")

BREAKING = (
    "The table gets vacuumProtocolCheck, which refuses every reader that does not know it (deltalake and all else "
    "built on delta-rs), and in-commit timestamps, which every writer has to know. Readers that know both and no "
    "coordinator (Trino, Athena) see published commits alone."
)


def _leaves_no_store(situation: Situation) -> bool:
    """Whether it is a drop whose table has left its coordinator before."""
    return situation.operation is Operation.DROP and not situation.is_coordinated


@check("Commit store")
def store_check(situation: Situation) -> Said | None:
    """It has to exist beforehand: Delta would make one that is missing, with 5 read and 5 write units."""
    store = situation.store
    if _leaves_no_store(situation):
        return None
    if store is None:
        return failed("No commit store is chosen: choose a coordinator's DynamoDB table.")
    if not _STORE_NAME.fullmatch(store.name):
        named = f"{store.name[:80]!a} is no DynamoDB table's name"
        return failed(f"{named}: 3 to 255 letters, digits, '_', '-' and '.'.")
    if store.kind and store.kind != COMMIT_COORDINATOR:
        return failed(f"{store.name} is declared as a log store, and a commit coordinator's table has a different key.")
    if store.error:
        return failed(f"DynamoDB does not describe {store.name}: {store.error}")
    if problem := _unfit(store):
        return failed(problem)
    if not store.kind:
        return warning(f"{store.name} is not declared: Levee will not watch it until `levee apply` names it.")
    return ok(f"{store.name} is ACTIVE, and its key is tableId.")


def _unfit(store: DescribedStore) -> str:
    facts = store.description or {}
    keys = tuple(tuple(key) for key in facts.get("key_schema") or ())
    if keys != expected_keys():
        found = ", ".join(str(key[0]) for key in keys) or "unknown"
        return f"The key of {store.name} is {found}; a commit coordinator needs tableId alone, as text."
    if facts.get("status") not in AT_WORK:
        return f"{store.name} is {facts.get('status')}: wait until DynamoDB has it ACTIVE."
    return ""


@check("Endpoint and region")
def endpoint_check(situation: Situation) -> Said | None:
    if _leaves_no_store(situation):
        return None
    endpoint = endpoint_of(situation)
    own = situation.endpoint if situation.own_endpoint else ""
    if mismatch := endpoint_mismatch(endpoint, situation.region, own):
        return failed(f"{mismatch} Commits would go to another DynamoDB than the one that Levee reads.")
    if situation.bucket_region not in ("", situation.region):
        return warning(
            f"The bucket is in {situation.bucket_region}, the commit store in {situation.region}: each commit waits "
            "for both, and the S3A of every writer needs the bucket's region."
        )
    if situation.own_endpoint and situation.operation in (Operation.ENABLE, Operation.CREATE):
        return warning(f"{endpoint} is not AWS itself, and it is written into the table's log for every writer.")
    return ok(f"{endpoint}, in {situation.region} as the connection.")


def endpoint_of(situation: Situation) -> str:
    """What the table's properties name, or will."""
    if situation.operation is Operation.DROP and (named := read_conf(situation.properties).endpoint):
        return named
    return situation.endpoint


@check("Coordinator settings")
def settings_check(situation: Situation) -> Said | None:
    """The JSON in the properties of a coordinated table: two known keys, and nothing that no release knows."""
    if not situation.is_coordinated:
        return None
    problem = read_conf(situation.properties).problem
    return failed(problem) if problem else ok("The properties name a table and an endpoint, and no more.")


@check("Other writers")
def writers_check(situation: Situation) -> Said:
    """Sessions cannot be asked; what the newest commits say of their writers is all that can be seen."""
    named = "; ".join(
        f"{one.engine or 'an engine that names itself not'}, {one.commits:,} commit{'s' if one.commits != 1 else ''}"
        + (f", last {one.last_at:%Y-%m-%d %H:%M} UTC" if one.last_at else "")
        for one in situation.writers[:MOST_NAMED]
    )
    seen = f"Seen in the newest commits: {named}." if named else "The newest commits name no engine."
    what = {
        Operation.ENABLE: "A session that holds the table open goes on committing past the coordinator until it "
        "reads the table again: pause them all.",
        Operation.DROP: "Afterwards each of them has to commit as the table then does; their settings cannot be seen.",
        Operation.LEFTOVERS: "Each of them may meet one conflict and tries again.",
    }
    return warning(f"{seen} {what.get(situation.operation, '')}".strip())


@check("Readers that will break")
def readers_check(situation: Situation) -> Said:
    if situation.operation is Operation.DROP:
        stays = " and ".join(feature for feature in LEFT_BEHIND if feature in situation.features)
        return ok(f"None by this. {stays} stay: who refuses the table today still does." if stays else "None.")
    if VACUUM_CHECK in situation.features:
        return ok("None anew: the protocol names vacuumProtocolCheck already.")
    return warning(BREAKING)


@check("Spark")
def spark_check(situation: Situation) -> Said:
    if situation.spark.problem:
        return failed(situation.spark.problem)
    if situation.spark.is_local:
        return ok("A Spark of Levee's own, with Delta 4.4.0, on this machine.")
    return ok("The cluster of SPARK_MASTER, with Delta 4.4.0 from this machine.")


@check("Log store class")
def log_store_check(situation: Situation) -> Said | None:
    """A table of a log store is never converted through a plain writer, which takes no lock."""
    if not situation.has_log_store:
        return _without_log_store(situation)
    if situation.own_endpoint:
        return failed(log_store_speaks_to_aws_alone(situation.endpoint))
    if not situation.log_store:
        return failed("Which DynamoDB table holds this table's entries is not known: observe the table first.")
    if not situation.spark.has_log_store_class:
        return failed(
            f"This table commits through {situation.log_store}, and Spark's class path lacks {LOG_STORE_CLASS}: "
            f"download the jar of {LOG_STORE_COORDINATE} and name its file in LEVEE_SPARK_EXTRA_JARS."
        )
    return ok(f"{LOG_STORE_CLASS} is on the class path and commits through {situation.log_store}.")


def _without_log_store(situation: Situation) -> Said | None:
    if situation.facts is not None and situation.facts.mechanism is Mechanism.LOG_STORE:
        return failed(
            "Temp files show that a log store is in use here, and no entry tells in which DynamoDB table: declare it, "
            "and observe the table after its next commit."
        )
    if situation.operation is Operation.DROP:
        return warning(
            "The second commit goes straight to S3, as no log store is known for this table: from then on two "
            "writers at once can overwrite each other's commit."
        )
    if situation.operation is Operation.ENABLE:
        return ok("Not needed: nothing shows that this table commits through a log store.")
    return None


@check("Other jobs")
def busy_check(situation: Situation) -> Said:
    if situation.busy:
        return failed(f"{situation.busy} works on this table: wait for it, or cancel it.")
    return ok("No other job of Levee works on this table.")


@check("Future of the feature")
def future_check(_: Situation) -> Said:
    """What the console says of the feature itself wherever it is switched on."""
    return warning(
        "Upstream rejected Coordinated Commits in April 2025 in favour of catalog-managed tables. Delta 3.3.0 to 4.4.0 "
        "have it; a later release may not. A drop leaves it at any time."
    )


@check("The place is free")
def place_check(situation: Situation) -> Said:
    if situation.error:
        return failed(f"The place cannot be looked at: {situation.error}")
    if situation.occupied:
        return failed(situation.occupied)
    return ok("No object lies below this path, and no commit store has an item of it.")


@check("Columns")
def columns_check(situation: Situation) -> Said:
    """What cannot be a list of columns at all; Spark's own parser reads the types before anything is created."""
    columns = situation.change.columns
    if not columns.strip():
        return failed("No column is named: write name TYPE, name TYPE.")
    if len(columns) > MOST_COLUMNS_TEXT or not _COLUMN_NAME.fullmatch(columns):
        return failed("The columns hold control characters or are longer than 20,000 characters.")
    if not all(_COLUMN_NAME.fullmatch(column) for column in situation.change.partition_by):
        return failed("A partition column has no name, or one with control characters.")
    return ok("Spark's parser reads them first; what it does not understand creates nothing.")
