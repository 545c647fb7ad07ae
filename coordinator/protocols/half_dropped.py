"""A drop of coordinated commits that stopped between its two commits.

Source: `DROP FEATURE` of Delta 3.3 to 4.4 first removes the three properties through the coordinator, which closes the
registration, and then the feature from the protocol. CLONE and LIKE copy features and no properties, so that a table of
the same look may never have been dropped: only a closed registration of the same path tells the two apart.
"""

from coordinator.protocols.judgement import Judgement
from coordinator.protocols.log_view import LogView
from coordinator.protocols.registrations import unpublished_versions
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import accepted_only
from lake.delta.facts import Mechanism

FEATURE = "coordinatedCommits-preview"


def judge_half_dropped(view: LogView) -> Judgement:
    """One finding where the protocol names the feature and no property names a coordinator."""
    facts = view.facts
    if facts.mechanism is Mechanism.COORDINATED_COMMITS or facts.protocol is None:
        return Judgement()
    if FEATURE not in facts.protocol.writer_features:
        return Judgement()
    closed = [one.table_id for one in facts.registrations if one.accepting_commits is False]
    return Judgement(findings=(_half_dropped(closed, unpublished_versions(view)) if closed else _copied(),))


def _half_dropped(closed: list[str], waiting: list[int]) -> Finding:
    """What a drop left is published before it is finished: the next commit stands on it."""
    finish = "Drop once more to finish, or enable again to undo."
    if waiting:
        finish = (
            f"Backfill first, for {accepted_only(waiting)}. Then drop once more to finish, or enable again to undo."
        )
    return Finding(
        "half-dropped",
        Severity.WARNING,
        State.ATTENTION,
        "A drop of coordinated commits stopped half-way: no coordinator is named, and the protocol still has "
        f"{FEATURE}.",
        meaning="The table takes commits past the coordinator, as its log store or S3 has it; writers that do not know "
        f"the feature are refused. {finish}",
        evidence={"closed_registrations": closed, "unpublished": waiting[-20:]},
    )


def _copied() -> Finding:
    return Finding(
        "feature-without-coordinator",
        Severity.INFO,
        State.HEALTHY,
        f"The protocol has {FEATURE}, and no coordinator is named: a clone copies the feature and not the coordinator.",
        meaning="Writers that do not know the feature are refused for nothing. A drop removes it.",
    )
