"""Checks of everybody else: other writers, readers that will break, the Spark that does it, and other jobs."""

from collections.abc import Iterator

from coordinator.coordination.checks import Check, Operation, failed, ok, warning
from coordinator.coordination.features import LEFT_BEHIND, VACUUM_CHECK, features_of
from coordinator.coordination.offers import log_store_speaks_to_aws_alone
from coordinator.coordination.situation import Situation
from lake.delta.facts import Mechanism
from lake.spark.deployment import LOG_STORE_CLASS, LOG_STORE_COORDINATE

MOST_NAMED = 4

BREAKING = (
    "The table gets vacuumProtocolCheck, which refuses every reader that does not know it (deltalake and all else "
    "built on delta-rs), and in-commit timestamps, which every writer has to know. Readers that know both and no "
    "coordinator (Trino, Athena) see published commits alone."
)


def writers_check(situation: Situation) -> Check:
    """Sessions cannot be asked; what the newest commits say of their writers is all that can be seen."""
    name = "Other writers"
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
    return warning(name, f"{seen} {what.get(situation.operation, '')}".strip())


def readers_check(situation: Situation) -> Check:
    name = "Readers that will break"
    features = features_of(situation.protocol) if situation.protocol else frozenset()
    if situation.operation is Operation.DROP:
        stays = [feature for feature in LEFT_BEHIND if feature in features]
        return ok(
            name,
            f"None by this. {' and '.join(stays)} stay: who refuses the table today still does." if stays else "None.",
        )
    if VACUUM_CHECK in features:
        return ok(name, "None anew: the protocol names vacuumProtocolCheck already.")
    return warning(name, BREAKING)


def spark_check(situation: Situation) -> Check:
    name = "Spark"
    if situation.spark.problem:
        return failed(name, situation.spark.problem)
    if situation.spark.is_local:
        return ok(name, "A Spark of Levee's own, with Delta 4.4.0, on this machine.")
    return ok(name, "The cluster of SPARK_MASTER, with Delta 4.4.0 from this machine.")


def log_store_check(situation: Situation) -> Iterator[Check]:
    """A table of a log store is never converted through a plain writer, which takes no lock."""
    name = "Log store class"
    if not situation.has_log_store and _shows_log_store(situation):
        yield failed(
            name,
            "Temp files show that a log store is in use here, and no entry tells in which DynamoDB table: declare it, "
            "and observe the table after its next commit.",
        )
        return
    if not situation.has_log_store:
        if situation.operation is Operation.DROP:
            yield warning(
                name,
                "The second commit goes straight to S3, as no log store is known for this table: from then on two "
                "writers at once can overwrite each other's commit.",
            )
        elif situation.operation is Operation.ENABLE:
            yield ok(name, "Not needed: nothing shows that this table commits through a log store.")
        return
    if situation.own_endpoint:
        yield failed(name, log_store_speaks_to_aws_alone(situation.endpoint))
    elif not situation.log_store:
        yield failed(name, "Which DynamoDB table holds this table's entries is not known: observe the table first.")
    elif not situation.spark.has_log_store_class:
        yield failed(
            name,
            f"This table commits through {situation.log_store}, and Spark's class path lacks {LOG_STORE_CLASS}: "
            f"download the jar of {LOG_STORE_COORDINATE} and name its file in LEVEE_SPARK_EXTRA_JARS.",
        )
    else:
        yield ok(name, f"{LOG_STORE_CLASS} is on the class path and commits through {situation.log_store}.")


def _shows_log_store(situation: Situation) -> bool:
    """Whether the table is guarded by a log store of which nothing but temp files was seen."""
    return situation.facts is not None and situation.facts.mechanism is Mechanism.LOG_STORE


def busy_check(situation: Situation) -> Check:
    name = "Other jobs"
    if situation.busy:
        return failed(name, f"{situation.busy} works on this table: wait for it, or cancel it.")
    return ok(name, "No other job of Levee works on this table.")


def future_check() -> Check:
    """What the console says of the feature itself wherever it is switched on."""
    return warning(
        "Future of the feature",
        "Upstream rejected Coordinated Commits in April 2025 in favour of catalog-managed tables. Delta 3.3.0 to 4.4.0 "
        "have it; a later release may not. A drop leaves it at any time.",
    )
