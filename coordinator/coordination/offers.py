"""What a table's page offers about its coordination, from stored rows: an act, or the reason why there is none."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from django.urls import reverse

from coordinator.coordination.checks import Operation
from coordinator.coordination.features import COORDINATED, LEFT_BEHIND, is_catalog_managed, unknown
from coordinator.coordination.table_checks import BACKFILLS, blocks
from coordinator.documents import open_findings
from coordinator.models import DeltaTable, TableFinding
from coordinator.protocols.verdict import LOUD
from lake.delta.facts import Mechanism
from lake.spark.deployment import LOG_STORE_CLASS

NOTE = (
    "Coordinated Commits is a rejected proposal of Delta's: its RFC was rejected on 7 April 2025 in favour of "
    "catalog-managed tables, and parts of it are being taken out upstream. Delta 3.3.0 to 4.4.0 can enable, use and "
    "drop it; Levee does so with Delta 4.4.0, Spark 4.2.0 and hadoop-aws 3.5.0, and reads what 3.3.0 to 4.4.0 write."
)
_ENABLING = "One commit, through whatever the table commits through now. Checked first, and proven afterwards."
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
        f"{LOG_STORE_CLASS} speaks to AWS alone, and this connection reaches DynamoDB at {endpoint}: the commit would "
        "miss the log store that guards the table."
    )


def coordination_offers(table: DeltaTable, findings: Iterable[TableFinding] | None = None) -> list[CoordinationOffer]:
    """The acts that fit where the table is; empty for one that is gone or was never read.

    `findings` are its open ones; they are read where a caller has none at hand.
    """
    if table.gone_at is not None or table.observed_at is None:
        return []
    found = open_findings(table) if findings is None else findings
    offer = partial(_offer, table, [one for one in found if blocks(one.code, one.state)])
    if table.mechanism == Mechanism.COORDINATED_COMMITS:
        text = "Leaves the coordinator in two commits, checked first."
        return [offer(Operation.DROP, "Drop coordinated commits", text)]
    if COORDINATED in table.features:
        text = "A drop stopped between its two commits: the protocol still names the feature."
        if table.unpublished_count:
            text += " What is accepted and not published is backfilled first."
        return [offer(Operation.DROP, "Finish the drop", text), offer(Operation.ENABLE, "Enable again", _ENABLING)]
    offers = [offer(Operation.ENABLE, "Enable coordinated commits", _ENABLING)]
    left = [feature for feature in LEFT_BEHIND if feature in table.features]
    if left and not is_catalog_managed(table.features):
        text = f"{' and '.join(left)} stay in the protocol after a drop. Delta may refuse to remove them."
        offers.append(offer(Operation.LEFTOVERS, "Remove what a drop left behind", text))
    return offers


def _offer(
    table: DeltaTable, blocking: Sequence[TableFinding], operation: Operation, title: str, text: str
) -> CoordinationOffer:
    """Off where the checks before the act would refuse it by what is stored. A drop backfills by itself."""
    made_first = [one for one in blocking if operation is Operation.DROP and {*BACKFILLS} & {*one.repairs}]
    others = [one for one in blocking if one not in made_first]
    reason, way = _why_not(table), ""
    if loud := next((one for one in others if one.state in LOUD), None):
        reason, way = f"The table is {loud.state}: that comes first.", f"{reverse('table', args=[table.pk])}#steps"
    elif not reason and (others or (table.unpublished_count and not made_first)):
        reason, way = _PUBLISH_FIRST, f"{reverse('table-entries', args=[table.pk])}?state=unpublished"
    return CoordinationOffer(operation, title, text, reason, way)


def _why_not(table: DeltaTable) -> str:
    """What no repair of the table puts right; "" for nothing."""
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
    if table.lock_domains and (endpoint := table.connection.own_endpoint):
        return log_store_speaks_to_aws_alone(endpoint)
    return ""
