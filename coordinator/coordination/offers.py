"""What a table's page offers about its coordination, from stored rows: an act, or the reason why there is none."""

from dataclasses import dataclass

from django.urls import reverse

from coordinator.coordination.checks import Operation
from coordinator.coordination.features import COORDINATED, LEFT_BEHIND, is_catalog_managed, unknown
from coordinator.models import DeltaTable
from coordinator.protocols.verdict import State
from lake.delta.facts import Mechanism
from lake.spark.deployment import LOG_STORE_CLASS

NOTE = (
    "Coordinated Commits is a rejected proposal of Delta's: its RFC was rejected on 7 April 2025 in favour of "
    "catalog-managed tables, and parts of it are being taken out upstream. Delta 3.3.0 to 4.4.0 can enable, use and "
    "drop it; Levee does so with Delta 4.4.0, Spark 4.2.0 and hadoop-aws 3.5.0, and reads what 3.3.0 to 4.4.0 write."
)
_PUBLISH_FIRST = "A commit is accepted and not published: publish it first."


@dataclass(frozen=True, slots=True)
class CoordinationOffer:
    """`reason` says why there is no button; "" where there is one. `in_the_way` is the address of what has to be put
    right first, "" where there is no such page."""

    operation: Operation
    title: str
    text: str
    reason: str = ""
    in_the_way: str = ""


def log_store_speaks_to_aws_alone(endpoint: str) -> str:
    """Why a table of a log store is not converted where DynamoDB is reached at an endpoint of one's own."""
    return (
        f"{LOG_STORE_CLASS} calls AWS only, and this connection reaches DynamoDB at {endpoint}: the commit would "
        "miss the log store that guards the table."
    )


def coordination_offers(table: DeltaTable) -> list[CoordinationOffer]:
    """The acts that fit where the table is; empty for one that is gone or was never read."""
    if table.gone_at is not None or table.observed_at is None:
        return []
    features = table.features
    coordinated = table.mechanism == Mechanism.COORDINATED_COMMITS
    if coordinated:
        return [_drop("Drop coordinated commits", "Leaves the coordinator in two commits, checked first.")]
    if COORDINATED in features:
        text = "A drop stopped between its two commits: the protocol still names the feature."
        if table.unpublished_count:
            text += " What is accepted and not published is backfilled first."
        return [_drop("Finish the drop", text), _enable(table, "Enable again")]
    offers = [_enable(table, "Enable coordinated commits")]
    left = [feature for feature in LEFT_BEHIND if feature in features]
    if left and not is_catalog_managed(features):
        text = f"{' and '.join(left)} stay in the protocol after a drop. Delta may refuse to remove them."
        offers.append(CoordinationOffer(Operation.LEFTOVERS, "Remove what a drop left behind", text))
    return offers


def _drop(title: str, text: str) -> CoordinationOffer:
    return CoordinationOffer(Operation.DROP, title, text)


def _enable(table: DeltaTable, title: str) -> CoordinationOffer:
    text = "One commit, through whatever the table commits through now. Checked first, and proven afterwards."
    if table.state == State.BLOCKED:
        steps = f"{reverse('table', args=[table.pk])}#steps"
        return CoordinationOffer(Operation.ENABLE, title, text, "The table is blocked: that comes first.", steps)
    if reason := _why_not_enable(table):
        return CoordinationOffer(Operation.ENABLE, title, text, reason)
    if table.unpublished_count:
        waiting = f"{reverse('table-entries', args=[table.pk])}?state=unpublished"
        return CoordinationOffer(Operation.ENABLE, title, text, _PUBLISH_FIRST, waiting)
    return CoordinationOffer(Operation.ENABLE, title, text)


def _why_not_enable(table: DeltaTable) -> str:
    if is_catalog_managed(table.features):
        return "A catalogue commits for this table: the two exclude each other."
    if strange := unknown(table.features):
        return (
            f"Delta 4.4.0 does not know the feature {strange[0]}: only the engine that added it may change the table."
        )
    if table.mechanism == Mechanism.UNKNOWN:
        return "How this table commits is not known: observe it first."
    if table.mechanism == Mechanism.LOG_STORE and not table.lock_domains:
        return "Which DynamoDB table holds the entries of its log store is not known: declare it first."
    if table.mechanism == Mechanism.LOG_STORE and (endpoint := table.connection.own_endpoint):
        return log_store_speaks_to_aws_alone(endpoint)
    return ""
