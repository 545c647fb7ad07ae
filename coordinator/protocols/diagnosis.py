"""The verdict on one table: every part of the diagnosis over one set of facts."""

from collections.abc import Iterator

from coordinator.protocols.coordinated_commits import judge_coordinated_commits
from coordinator.protocols.foreign_writers import judge_foreign_writers
from coordinator.protocols.judgement import join, note, without_doubles, worst_first, worst_state
from coordinator.protocols.last_copies import with_last_copies
from coordinator.protocols.log_store import judge_log_store
from coordinator.protocols.log_view import LogView
from coordinator.protocols.overwritten import judge_overwritten
from coordinator.protocols.published_log import judge_published_log
from coordinator.protocols.registrations import unpublished_versions
from coordinator.protocols.remembered import judge_vanished, remembered_findings
from coordinator.protocols.single_driver import judge_without_store
from coordinator.protocols.verdict import Finding, State, Verdict, attention
from coordinator.protocols.wording import accepted_only, thousands
from lake.delta.facts import Mechanism, TableFacts

FEATURE = "coordinatedCommits-preview"
"""The feature in the protocol that coordinated commits need."""


def diagnose(facts: TableFacts) -> Verdict:
    """Judge a table. Pure; raises nothing, whatever the facts hold.

    The facts have to be read in this order, each read consistent: the listing, then items, then the objects of
    `needed_facts.wanted_heads`. Then no commit made meanwhile looks lost or foreign. Entries have to reach back as far
    as `ttl_seconds`. A problem whose place begins with the word `listing`, `entries`, `registrations`, `protocol`
    or `DynamoDB` says that this fact was not read at all.
    """
    view = LogView(facts)
    judged = join((judge_log_store(view), judge_coordinated_commits(view)))
    found = [
        *judge_published_log(view),
        *judged.findings,
        *judge_foreign_writers(view),
        *judge_overwritten(view),
        *judge_vanished(view),
        *judge_without_store(view),
        *_half_dropped_or_cloned(view),
        *_both_mechanisms(view),
    ]
    found += remembered_findings(view, found)
    findings = with_last_copies(view, without_doubles(worst_first(found)))
    state = worst_state(findings)
    accepted = max((v for v in (judged.accepted, view.newest, view.checkpoint) if v is not None), default=None)
    moments = [moment for moment in judged.unpublished.values() if moment]
    up_to = "No commit has been" if view.newest is None else f"Every commit up to {thousands(view.newest)} is"
    return Verdict(
        state=state,
        summary=findings[0].summary if state is not State.HEALTHY else f"{up_to} published.",
        published_version=view.readable,
        accepted_version=accepted,
        entries=tuple(sorted(judged.entries, key=lambda one: (-one.version, one.store, one.lock_domain))),
        findings=findings,
        unpublished=tuple(sorted(judged.unpublished)),
        oldest_unpublished_at=min(moments, default=None),
    )


def _both_mechanisms(view: LogView) -> Iterator[Finding]:
    facts = view.facts
    if facts.mechanism is Mechanism.COORDINATED_COMMITS and any(facts.entries.values()):
        yield note(
            "both-mechanisms",
            "Log store entries exist beside the registration: they are from commits made without the coordinator.",
            "Coordinated commits leave no entries, so gaps between entries are normal here.",
            lock_domains=[{"store": one.store, "path": one.path} for one in sorted(facts.entries)],
        )


def _half_dropped_or_cloned(view: LogView) -> Iterator[Finding]:
    """One finding where the protocol names the feature and no property names a coordinator.

    `DROP FEATURE` of Delta 3.3 to 4.4 first removes the three properties through the coordinator, which closes the
    registration, and then the feature from the protocol. CLONE and LIKE copy features and no properties, so that a
    table of the same look may never have been dropped: only a closed registration of its path tells the two apart.
    """
    facts = view.facts
    if facts.mechanism is Mechanism.COORDINATED_COMMITS or facts.protocol is None:
        return
    if FEATURE in facts.protocol.writer_features:
        closed = [one.table_id for one in facts.registrations if one.accepting_commits is False]
        yield _half_dropped(closed, unpublished_versions(view)) if closed else _cloned()


def _half_dropped(closed: list[str], waiting: list[int]) -> Finding:
    """What a drop left is published before it is finished: the next commit stands on it."""
    finish = "Drop once more to finish, or enable again to undo."
    if waiting:
        finish = (
            f"Backfill first, for {accepted_only(waiting)}. Then drop once more to finish, or enable again to undo."
        )
    return attention(
        "half-dropped",
        "A drop of coordinated commits stopped half-way: no coordinator is named, and the protocol still has "
        f"{FEATURE}.",
        meaning="The table takes commits past the coordinator, as its log store or S3 has it; writers that do not know "
        f"the feature are refused. {finish}",
        evidence={"closed_registrations": closed, "unpublished": waiting[-20:]},
    )


def _cloned() -> Finding:
    return note(
        "feature-without-coordinator",
        f"The protocol has {FEATURE}, and no coordinator is named: a clone copies the feature and not the coordinator.",
        "Writers that do not know the feature are refused for nothing. A drop removes it.",
    )
