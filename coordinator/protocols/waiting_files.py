"""What a lifecycle rule takes of commits that wait to be published, and of what is left of commits that are lost."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from coordinator.protocols.bucket_tables import LostFile, TableInBucket, WaitingFile
from coordinator.protocols.deadlines import AtRisk, Deadline, moment_in_words, state_before
from coordinator.protocols.judgement import note
from coordinator.protocols.lifecycle import LifecycleAction, LifecycleRule
from coordinator.protocols.verdict import Finding, State, attention, graded, not_checked
from coordinator.protocols.wording import counted, joined, thousands

SHORTEST_TEMP_DAYS = 3
"""Days that a temp or staged file should live at least: a stopped writer's commit waits in it to be published."""


STAYS = " Versioning is on: what is deleted stays as an old version until a rule deletes that one."
"""Said where a deletion can be undone for a while."""


def waiting_deadlines(rule: LifecycleRule, tables: Sequence[TableInBucket], now: datetime) -> list[Deadline]:
    """One for each waiting file that the rule takes; `at` is None where the file's age is not known.

    A commit that may still be in its writer's hands is graded healthy: a healthy table always has one.
    """
    return [
        _deadline(rule, table, waiting, now)
        for table in tables
        for waiting in table.waiting
        if any(_takes(rule, act, table, waiting) for act in rule.acts)
    ]


def _takes(rule: LifecycleRule, act: LifecycleAction, table: TableInBucket, waiting: WaitingFile) -> bool:
    if not any(rule.matches(place) for place in table.places_of([waiting.file])):
        return False
    return waiting.size is None or rule.fits(act, waiting.size, waiting.size)


def _deadline(rule: LifecycleRule, table: TableInBucket, waiting: WaitingFile, now: datetime) -> Deadline:
    acts = [act for act in rule.acts if _takes(rule, act, table, waiting)]
    bites = [(waiting.written_at and act.bites_at(waiting.written_at), act) for act in acts]
    dated = [(at, act) for at, act in bites if at]
    at, act = min(dated, key=lambda pair: pair[0]) if dated else (None, acts[0])
    state = _graded(waiting, at, now)
    return Deadline(
        at,
        state,
        AtRisk.LAST_COPY if waiting.is_last_copy else AtRisk.UNPUBLISHED,
        rule.name,
        act.does,
        table.prefix,
        version=waiting.version,
        file=waiting.file,
        condition=rule.open_question(knows_size=waiting.size is not None),
    )


def _graded(waiting: WaitingFile, at: datetime | None, now: datetime) -> State:
    if at is None:
        return State.NOT_CHECKED
    if waiting.is_young(now):
        return State.HEALTHY
    state = state_before(at, now)
    return State.ATTENTION if state is State.UNSAFE and not waiting.is_certain else state


def lost_deadlines(rule: LifecycleRule, tables: Sequence[TableInBucket], now: datetime) -> list[Deadline]:
    """When an old version of a lost file goes at the latest, where versioning kept one; what is over is left out."""
    if rule.old_versions_days is None:
        return []
    act = LifecycleAction(rule.old_versions_days, None)
    return [
        Deadline(
            at,
            state_before(at, now),
            AtRisk.LOST,
            rule.name,
            act.does,
            table.prefix,
            version=lost.version,
            file=_reached(rule, table, lost),
            condition=rule.open_question(knows_size=True),
        )
        for table in tables
        for lost in table.lost
        if _reached(rule, table, lost) and (at := act.bites_at(lost.gone_by)) is not None and at > now
    ]


def _reached(rule: LifecycleRule, table: TableInBucket, lost: LostFile) -> str:
    """The first of the lost files whose key the rule matches, "" for none."""
    return next((file for file in lost.files if rule.matches(table.log + file)), "")


def waiting_findings(
    rule: LifecycleRule, deadlines: Sequence[Deadline], *, reaches_log: bool, keeps_versions: bool
) -> Iterator[Finding]:
    """A rule on files that hold unpublished commits, by the deadline that comes first.

    `reaches_log` says that the rule takes published logs too, which is the worse trouble; `keeps_versions` that what
    is deleted in this bucket stays as an old version.
    """
    dated = [one for one in deadlines if one.at is not None]
    undated = [one for one in deadlines if one.at is None]
    if undated:
        yield _of_unknown_age(rule, undated)
    if graver := [one for one in dated if one.state is not State.HEALTHY]:
        worst = min((one.state for one in graver), key=lambda state: state.rank)
        yield _takes_unpublished(rule, graver, worst, keeps_versions=keeps_versions)
    elif dated and not reaches_log:
        yield _would_take(rule, _first(dated))


def _first(deadlines: Sequence[Deadline]) -> Deadline:
    return min(deadlines, key=lambda one: one.at.timestamp() if one.at else 0)


def _takes_unpublished(
    rule: LifecycleRule, deadlines: Sequence[Deadline], state: State, *, keeps_versions: bool
) -> Finding:
    first = _first(deadlines)
    others = len({one.table for one in deadlines}) - 1
    more = f" and of {counted(others, 'other table')}" if others else ""
    if_so = f", if it is {first.condition}, which is not known" if first.condition else ""
    return graded(state)(
        "lifecycle-takes-unpublished",
        f"{rule.title} will {_VERBS[first.does]} {_COPY_OF[first.what]} of {first.table or 'the table'}{more} "
        f"at {moment_in_words(first.at) if first.at else ''}{if_so}.",
        meaning=f"{_MEANS[first.what]}{STAYS if keeps_versions and first.does == 'deletes' else ''}",
        evidence=_evidence(rule, first),
    )


_VERBS = {"deletes": "delete", "archives": "archive"}
_COPY_OF = {
    AtRisk.UNPUBLISHED: "the only copy of an unpublished commit",
    AtRisk.LAST_COPY: "what may be the last copy of a commit",
}
_MEANS = {
    AtRisk.UNPUBLISHED: "Once it is gone, the commit is lost and every listing of the table can fail. Publish the "
    "commit, or change the rule.",
    AtRisk.LAST_COPY: "A finding of the table says what is wrong with that commit; once the file is gone, nothing can "
    "bring it back. Copy it to where no rule takes it, or change the rule.",
}


def _would_take(rule: LifecycleRule, first: Deadline) -> Finding:
    """Most commits are published within seconds, so that one waits is no trouble of the bucket until 14 days before."""
    what, when = f"{rule.title} would {_VERBS[first.does]}", moment_in_words(first.at) if first.at else ""
    table = first.table or "the table"
    if first.what is AtRisk.LAST_COPY:
        code, meaning = "lifecycle-would-take-last-copy", "Copy it to where no rule takes it before."
        summary = f"{what} {_COPY_OF[first.what]} of {table} at {when}."
    else:
        code, meaning = "lifecycle-would-take-unpublished", "Publish it before."
        summary = f"{what} the only copy of a commit of {table} at {when}, if the commit is still unpublished then."
    return note(code, summary, meaning, **_evidence(rule, first))


def _of_unknown_age(rule: LifecycleRule, deadlines: Sequence[Deadline]) -> Finding:
    first = deadlines[0]
    return not_checked(
        "lifecycle-date-unknown",
        f"{rule.title} takes the only copy of commit {thousands(first.version or 0)} of {first.table or 'the table'}, "
        "and when is not known: nothing tells when its file was written.",
        meaning="Publish the commit, or look at the table anew.",
        evidence=_evidence(rule, first),
    )


def lost_findings(rule: LifecycleRule, deadlines: Sequence[Deadline]) -> list[Finding]:
    """A rule on old versions, where one of them may be the last that is left of an accepted commit."""
    if not deadlines:
        return []
    first = _first(deadlines)
    summary = (
        f"The file of commit {thousands(first.version or 0)} of {first.table or 'the table'} is gone. Where versioning "
        f"kept it, rule {rule.name} deletes that old version by {moment_in_words(first.at) if first.at else ''}."
    )
    meaning = "Look for the old version and bring it back before."
    made = graded(first.state)
    return [made("lifecycle-takes-old-version", summary, meaning=meaning, evidence=_evidence(rule, first))]


def short_findings(rule: LifecycleRule, tables: Sequence[TableInBucket]) -> list[Finding]:
    """A rule that leaves a stopped writer's commit less time than somebody needs to notice it."""
    held = any(rule.reaches(folder) for table in tables for folder in table.held)
    is_short = any(act.date or (act.days is not None and act.days < SHORTEST_TEMP_DAYS) for act in rule.acts)
    if not held or not is_short:
        return []
    summary = (
        f"Rule {rule.name} {joined([act.in_words for act in rule.acts])} under {rule.prefix}: a commit that waits "
        f"there unpublished is lost with its file."
    )
    meaning = (
        "Temp and staged files are needed until their commit is published. "
        f"Give them {SHORTEST_TEMP_DAYS} days or more."
    )
    return [attention("lifecycle-too-short", summary, None, meaning, {"rule": rule.name, "prefix": rule.prefix})]


def _evidence(rule: LifecycleRule, deadline: Deadline) -> dict[str, object]:
    return {
        "rule": rule.name,
        "prefix": rule.prefix,
        "table": deadline.table,
        "version": deadline.version,
        "file": deadline.file,
        "bites_at": deadline.at.isoformat() if deadline.at else None,
    }
