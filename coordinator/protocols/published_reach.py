"""What a lifecycle rule takes of the published part of tables: logs, by their real sizes, and data files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from string import digits

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.deadlines import AtRisk, Deadline, moment_in_words
from coordinator.protocols.judgement import note
from coordinator.protocols.lifecycle import LifecycleAction, LifecycleRule
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import counted, joined, thousands
from lake.delta.names import SIDECAR_FOLDER

MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Hit:
    """One act on one table. `at` is when it first takes such a file, None where nothing tells.

    `is_certain` is false where the sizes of the files, which the act goes by, are not known.
    """

    table: TableInBucket
    act: LifecycleAction
    is_certain: bool
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Reach:
    """What one rule takes of published files. `spared` are tables of whose log files none has the size it asks for."""

    logs: tuple[Hit, ...]
    data: tuple[Hit, ...]
    spared: tuple[TableInBucket, ...]


def reach_of(rule: LifecycleRule, tables: Sequence[TableInBucket]) -> Reach:
    """`tables` are those of which the rule can match a key."""
    logs, spared = [], []
    for table in (table for table in tables if matters_to_log(rule, table)):
        hits = [hit for act in rule.acts if (hit := _of_log(rule, act, table)) is not None]
        logs += hits
        spared += [] if hits else [table]
    # The oldest commit stands for the data: a data file is written before the commit that names it.
    data = [
        Hit(table, act, not rule.is_sized, act.bites_at(table.oldest_log_at) if table.oldest_log_at else None)
        for table in tables
        if matters_to_data(rule, table)
        for act in rule.acts
    ]
    return Reach(tuple(logs), tuple(data), tuple(spared))


def matters_to_log(rule: LifecycleRule, table: TableInBucket) -> bool:
    """Whether the rule can match commits, checkpoints or sidecars: their names begin with a version, or in a folder."""
    if not rule.is_within(table.log):
        return rule.reaches(table.log)
    within = rule.prefix.removeprefix(table.log)
    return not within or within[0] in digits or SIDECAR_FOLDER.startswith(within) or within.startswith(SIDECAR_FOLDER)


def matters_to_data(rule: LifecycleRule, table: TableInBucket) -> bool:
    """Whether the rule can match files of the table outside its log."""
    return rule.reaches(table.root) and not rule.is_within(table.log.rstrip("/"))


def _of_log(rule: LifecycleRule, act: LifecycleAction, table: TableInBucket) -> Hit | None:
    ranges = table.log_sizes
    if ranges is not None and (rule.is_sized or act.least_size):
        taken = [one for one in ranges if rule.fits(act, one.least, one.most)]
        return Hit(table, act, True, act.bites_at(min(one.oldest_at for one in taken))) if taken else None
    moments = [one.oldest_at for one in ranges or ()]
    moments += [table.oldest_log_at] if table.oldest_log_at else []
    at = act.bites_at(min(moments)) if moments else None
    return Hit(table, act, not rule.is_sized, at)


def published_deadlines(rule: LifecycleRule, reach: Reach) -> list[Deadline]:
    """The first moment for logs and that for data, each with what the rule makes of the bucket."""
    state = _state(rule, reach)
    pairs = ((AtRisk.LOG, reach.logs), (AtRisk.DATA, reach.data))
    return [_deadline(rule, what, hits, state) for what, hits in pairs if hits]


def _deadline(rule: LifecycleRule, what: AtRisk, hits: Sequence[Hit], state: State) -> Deadline:
    first = min(hits, key=lambda hit: (hit.at is None, hit.at.timestamp() if hit.at else 0))
    return Deadline(
        first.at,
        state,
        what,
        rule.name,
        first.act.does,
        first.table.prefix,
        tables=len({hit.table.prefix for hit in hits}),
        condition=_open_question(rule, hits),
    )


def _open_question(rule: LifecycleRule, hits: Sequence[Hit]) -> str:
    """The conditions of which nothing tells whether the files meet them."""
    sizes = () if any(hit.is_certain for hit in hits) else rule.conditions[len(rule.tags) :]
    return joined([*(f"tagged {tag}" for tag in rule.tags), *sizes])


def _state(rule: LifecycleRule, reach: Reach) -> State:
    certain = any(hit.is_certain for hit in (*reach.logs, *reach.data))
    return State.UNSAFE if certain and not rule.tags else State.ATTENTION


def published_findings(rule: LifecycleRule, reach: Reach, now: datetime) -> list[Finding]:
    """A rule on commits, checkpoints or data files: what it takes is still part of the table."""
    if reach.logs or reach.data:
        return [_reaches(rule, reach, now)]
    return [_spares(rule, reach.spared)] if reach.spared else []


def _reaches(rule: LifecycleRule, reach: Reach, now: datetime) -> Finding:
    logs, data = _tables(reach.logs), _tables(reach.data)
    parts = [f"the log of {counted(len(logs), 'table')}"] if logs else []
    parts += [f"data of {counted(len(data), 'table')}"] if data else []
    state = _state(rule, reach)
    bites_at = min((hit.at for hit in (*reach.logs, *reach.data) if hit.at), default=None)
    return Finding(
        "lifecycle-reaches-log" if logs else "lifecycle-reaches-data",
        f"Rule {rule.name} {joined([act.in_words for act in rule.acts])} under {rule.prefix or 'the whole bucket'}: "
        f"it can reach {joined(parts)}.{_only(rule, reach)}{bite_in_words(bites_at, now)}",
        meaning="S3 does not know which files a table still needs. A version whose files are gone can be neither read "
        "nor restored.",
        evidence={
            "rule": rule.name,
            "prefix": rule.prefix,
            "logs": logs[:MOST_NAMED],
            "data": data[:MOST_NAMED],
            "conditions": list(rule.conditions),
            "first_bites_at": bites_at.isoformat() if bites_at else None,
        },
        severity=Severity.CRITICAL if state is State.UNSAFE else Severity.WARNING,
        state=state,
    )


def _only(rule: LifecycleRule, reach: Reach) -> str:
    """The conditions, and which of them nothing decides."""
    if not rule.conditions:
        return ""
    told = f" Only objects {joined(rule.conditions)}."
    if rule.tags:
        told += " Which of these files carry the tag is not known."
    if not all(hit.is_certain for hit in reach.logs):
        told += " How large the files of the logs are is not known."
    if not all(hit.is_certain for hit in reach.data):
        told += " How large the data files are is not known."
    return told


def _tables(hits: Sequence[Hit]) -> list[str]:
    return list(dict.fromkeys(hit.table.prefix for hit in hits))


def _spares(rule: LifecycleRule, tables: Sequence[TableInBucket]) -> Finding:
    sizes = [one for table in tables for one in table.log_sizes or ()]
    span = (
        f" They have {thousands(min(one.least for one in sizes))} to {thousands(max(one.most for one in sizes))} B."
        if sizes
        else ""
    )
    asked = joined(rule.conditions) if rule.conditions else "of 128 KB or more"
    logs = f"{'log' if len(tables) == 1 else 'logs'} of {counted(len(tables), 'table')}"
    return note(
        "lifecycle-spares-log",
        f"Rule {rule.name} {joined([act.in_words for act in rule.acts])} under {rule.prefix or 'the whole bucket'}, "
        f"only those {asked}: no file of the {logs} is of that size now.{span}",
        "A later commit or checkpoint may be.",
        rule=rule.name,
        prefix=rule.prefix,
        tables=[table.prefix for table in tables[:MOST_NAMED]],
    )


def bite_in_words(bites_at: datetime | None, now: datetime) -> str:
    """A sentence about the date on which a hazard becomes real, "" where it is not known."""
    if bites_at is None:
        return ""
    word = "It first acts at" if bites_at > now else "It has acted since"
    return f" {word} {moment_in_words(bites_at)}."
