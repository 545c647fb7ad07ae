"""Tables without a commit store, and tables whose commits Levee cannot judge."""

from coordinator.protocols.judgement import Judgement
from coordinator.protocols.log_view import LogView
from coordinator.protocols.verdict import Finding, Severity, State
from lake.delta.facts import Mechanism


def judge_without_store(view: LogView) -> Judgement:
    """One finding that says what guards the table, for mechanisms that have no entries to look at."""
    match view.facts.mechanism:
        case Mechanism.SINGLE_DRIVER:
            return Judgement(findings=(_single_driver(),))
        case Mechanism.CATALOG_MANAGED:
            return Judgement(findings=(_catalog_managed(),))
        case Mechanism.UNKNOWN:
            return Judgement(findings=(_unknown(),))
    return Judgement()


def _single_driver() -> Finding:
    return Finding(
        "single-driver",
        Severity.INFO,
        State.HEALTHY,
        "No commit store guards this table: it is safe while one driver writes it.",
        meaning="Two drivers that write at once can both win a version; the loser's rows are gone without an error.",
    )


def _catalog_managed() -> Finding:
    return Finding(
        "catalog-managed",
        Severity.INFO,
        State.NOT_CHECKED,
        "A catalog accepts this table's commits. Levee does not ask it, so only published versions are known.",
        meaning="Accepted commits that are not yet published cannot be seen from S3 and DynamoDB alone.",
    )


def _unknown() -> Finding:
    return Finding(
        "undecided",
        Severity.WARNING,
        State.NOT_CHECKED,
        "How commits of this table are guarded cannot be decided: no protocol and no entry could be read.",
        meaning="Nothing is concluded until the newest protocol and metadata have been read.",
        evidence={"missing": "protocol and metaData actions of the newest version"},
    )
