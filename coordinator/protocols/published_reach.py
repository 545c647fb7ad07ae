"""What a lifecycle rule takes of the published part of tables: logs, by their real sizes, and data files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import digits

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.deadlines import AtRisk, Deadline, moment_in_words
from coordinator.protocols.judgement import note
from coordinator.protocols.lifecycle import LifecycleAction, LifecycleRule
from coordinator.protocols.verdict import Finding, State, graded
from coordinator.protocols.wording import counted, joined, thousands
from lake.delta.names import SIDECAR_FOLDER

MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Hit:
    """Log or data files of one table that a rule or configuration takes, and what it does to them.

    `is_certain` is false where what it goes by, their sizes or class, is not known. `at` is when it first takes one,
    None where nothing tells.
    """

    table: TableInBucket
    what: AtRisk
    does: str
    is_certain: bool
    at: datetime | None = None


def reach_of(rule: LifecycleRule, tables: Sequence[TableInBucket]) -> list[Hit]:
    """What one rule takes of published files; `tables` are those of which it can match a key."""
    of_logs = (_of_log(rule, act, table) for table in tables if matters_to_log(rule, table) for act in rule.acts)
    # The oldest commit stands for the data: a data file is written before the commit that names it.
    of_data = (
        Hit(table, AtRisk.DATA, act.does, not rule.is_sized, table.oldest_log_at and act.bites_at(table.oldest_log_at))
        for table in tables
        if matters_to_data(rule, table)
        for act in rule.acts
    )
    return [*(hit for hit in of_logs if hit is not None), *of_data]


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
    """None where the sizes are known, and no file has the one that the rule asks for."""
    ranges = table.log_sizes
    if ranges is not None and (rule.is_sized or act.least_size):
        taken = [one.oldest_at for one in ranges if rule.fits(act, one.least, one.most)]
        return Hit(table, AtRisk.LOG, act.does, True, act.bites_at(min(taken))) if taken else None
    moments = [*(one.oldest_at for one in ranges or ()), *([table.oldest_log_at] if table.oldest_log_at else [])]
    return Hit(table, AtRisk.LOG, act.does, not rule.is_sized, act.bites_at(min(moments)) if moments else None)


def published_deadlines(rule: LifecycleRule, hits: Sequence[Hit]) -> list[Deadline]:
    """The first moment for logs and that for data, each with what the rule makes of the bucket."""
    return [
        first_deadline(rule, of_it, _state(rule, hits), rule.open_question(knows_size=_any_certain(of_it)))
        for what in (AtRisk.LOG, AtRisk.DATA)
        if (of_it := hits_on(what, hits))
    ]


def first_deadline(rule: LifecycleRule, hits: Sequence[Hit], state: State, condition: str) -> Deadline:
    """The soonest of the hits, which are all on logs, or all on data."""
    first = min(hits, key=lambda hit: (hit.at is None, hit.at.timestamp() if hit.at else 0))
    tables = len(prefixes(hits))
    return Deadline(
        first.at, state, first.what, rule.name, first.does, first.table.prefix, tables=tables, condition=condition
    )


def hits_on(what: AtRisk, hits: Iterable[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.what is what]


def prefixes(hits: Iterable[Hit]) -> list[str]:
    """The tables that are hit, by their prefixes."""
    return list(dict.fromkeys(hit.table.prefix for hit in hits))


def _any_certain(hits: Iterable[Hit]) -> bool:
    return any(hit.is_certain for hit in hits)


def _state(rule: LifecycleRule, hits: Sequence[Hit]) -> State:
    return State.UNSAFE if _any_certain(hits) and not rule.tags else State.ATTENTION


def published_findings(
    rule: LifecycleRule, tables: Sequence[TableInBucket], hits: Sequence[Hit], now: datetime
) -> list[Finding]:
    """A rule on commits, checkpoints or data files: what it takes is still part of the table.

    Where it takes none although it can match their keys, no file has the size that it asks for.
    """
    if hits:
        return [_reaches(rule, hits, now)]
    spared = [table for table in tables if matters_to_log(rule, table)]
    return [_spares(rule, spared)] if spared else []


def _reaches(rule: LifecycleRule, hits: Sequence[Hit], now: datetime) -> Finding:
    logs, data = (prefixes(hits_on(what, hits)) for what in (AtRisk.LOG, AtRisk.DATA))
    parts = [f"the log of {counted(len(logs), 'table')}"] if logs else []
    parts += [f"data of {counted(len(data), 'table')}"] if data else []
    bites_at = min((hit.at for hit in hits if hit.at), default=None)
    return graded(_state(rule, hits))(
        "lifecycle-reaches-log" if logs else "lifecycle-reaches-data",
        f"{_does(rule)}: it can reach {joined(parts)}.{_only(rule, hits)}{bite_in_words(bites_at, now)}",
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
    )


def _does(rule: LifecycleRule) -> str:
    acts = joined([act.in_words for act in rule.acts])
    return f"Rule {rule.name} {acts} under {rule.prefix or 'the whole bucket'}"


def _only(rule: LifecycleRule, hits: Sequence[Hit]) -> str:
    """The conditions, and which of them nothing decides."""
    if not rule.conditions:
        return ""
    told = f" Only objects {joined(rule.conditions)}."
    if rule.tags:
        told += " Which of these files carry the tag is not known."
    for what, files in ((AtRisk.LOG, "the files of the logs"), (AtRisk.DATA, "the data files")):
        if not all(hit.is_certain for hit in hits_on(what, hits)):
            told += f" How large {files} are is not known."
    return told


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
        f"{_does(rule)}, only those {asked}: no file of the {logs} is of that size now.{span}",
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
