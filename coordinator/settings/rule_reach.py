"""What each lifecycle rule of a bucket reaches of the tables in it, and whether a rule for every table would fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coordinator.protocols.bucket_tables import TableInBucket
from coordinator.protocols.deadlines import Deadline, read_moment
from coordinator.protocols.lifecycle import (
    MOST_RULES,
    LifecycleRule,
    is_enabled,
    is_on_temp_files,
    read_rule,
)
from coordinator.protocols.published_reach import (
    bite_in_words,
    matters_to_data,
    matters_to_log,
    published_deadlines,
    reach_of,
)
from coordinator.protocols.verdict import State
from coordinator.protocols.waiting_files import waiting_deadlines
from coordinator.protocols.wording import counted, joined, thousands

LOG, TEMP, STAGED, DATA = "log", "temp", "staged", "data"
_WORDS = {LOG: "published logs", TEMP: "temp files", STAGED: "staged commits", DATA: "data files"}


@dataclass(frozen=True, slots=True)
class RuleReach:
    """One rule as S3 has it. `touches` are kinds of files of known tables that it can act on: log, temp, staged, data.

    `first_bites_at` is when it first acts on something that a table needs; None where it does not, or nothing tells.
    `state` is what that makes of the bucket: healthy while it is far away, or never.
    """

    id: str
    enabled: bool
    prefix: str
    conditions: tuple[str, ...]
    acts: tuple[str, ...]
    touches: tuple[str, ...]
    tables: int
    first_bites_at: datetime | None
    state: State
    sentence: str
    is_temp_rule: bool


@dataclass(frozen=True, slots=True)
class RuleForecast:
    """Rules that one for each table would take in all.

    A rule's prefix begins at the root of the bucket and knows no wildcard, so what several tables' temp folders have in
    common always reaches their logs and data, too: one rule never serves several tables.
    """

    needed: int
    fits: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class LifecycleView:
    """All rules of a bucket beside its tables."""

    rules: tuple[RuleReach, ...]
    count: int
    limit: int
    left: int
    tables: int
    without_rule: int
    forecast: RuleForecast
    multipart_rule: bool


def view_of_rules(
    raw: Sequence[Mapping[str, Any]], tables: Sequence[TableInBucket], now: datetime, least_size_moved: str = ""
) -> LifecycleView:
    """`raw` are the rules in the shape of the AWS SDKs' JSON.

    `least_size_moved` is the bucket's word for the least size of transitions.
    """
    pairs = [(one, read_rule(one, least_size_moved)) for one in raw]
    in_force = [rule for one, rule in pairs if is_enabled(one)]
    served = _served(in_force, tables)
    return LifecycleView(
        rules=tuple(_reach(one, rule, tables, now) for one, rule in pairs),
        count=len(raw),
        limit=MOST_RULES,
        left=max(MOST_RULES - len(raw), 0),
        tables=len(tables),
        without_rule=len(tables) - served,
        forecast=forecast(len(raw), len(tables) - served),
        multipart_rule=any(rule.ends_all_uploads for rule in in_force),
    )


def kept_view(kept: Mapping[str, Any]) -> LifecycleView:
    """The view as JSON had it."""
    rules = tuple(
        RuleReach(**{**one, "first_bites_at": read_moment(one["first_bites_at"]), "state": State(one["state"])})
        for one in kept["rules"]
    )
    return LifecycleView(**{**kept, "rules": rules, "forecast": RuleForecast(**kept["forecast"])})


def forecast(count: int, without_rule: int) -> RuleForecast:
    """What a rule for each table that has none would come to."""
    needed = count + without_rule
    if needed <= MOST_RULES:
        told = f"With a rule for each table there would be {thousands(needed)} of {thousands(MOST_RULES)}."
        return RuleForecast(needed, True, told)
    over = counted(needed - MOST_RULES, "table")
    told = (
        f"A rule for each table would take {thousands(needed)} of {thousands(MOST_RULES)}, so {over} cannot have one. "
        "No prefix is common to the temp files of several tables without reaching their logs and data: sweep the temp "
        "files instead, which needs no rule."
    )
    return RuleForecast(needed, False, told)


def _served(rules: Sequence[LifecycleRule], tables: Sequence[TableInBucket]) -> int:
    """Tables whose temp files leave by a rule without other conditions."""
    sweeping = [rule for rule in rules if not rule.conditions and any(not act.archives for act in rule.acts)]
    prefixes = tuple(rule.prefix for rule in sweeping)
    return sum(table.held[0].startswith(prefixes) for table in tables)


def _reach(raw: Mapping[str, Any], rule: LifecycleRule, tables: Sequence[TableInBucket], now: datetime) -> RuleReach:
    reached = [table for table in tables if rule.reaches(table.root)]
    touches = {kind: [table for table in reached if _touches(rule, table, kind)] for kind in (LOG, TEMP, STAGED, DATA)}
    kinds = tuple(kind for kind, touched in touches.items() if touched)
    enabled = is_enabled(raw)
    deadlines = _deadlines(rule, reached, now) if enabled and rule.acts else []
    bites_at = min((one.at for one in deadlines if one.at), default=None)
    does = tuple(act.in_words for act in rule.acts)
    return RuleReach(
        id=str(raw.get("ID") or ""),
        enabled=enabled,
        prefix=rule.prefix,
        conditions=rule.conditions,
        acts=does,
        touches=kinds,
        tables=len({table.prefix for touched in touches.values() for table in touched}),
        first_bites_at=bites_at,
        state=min((one.state for one in deadlines), key=lambda state: state.rank, default=State.HEALTHY),
        sentence=_sentence(rule, enabled, touches, bites_at, now),
        is_temp_rule=bool(raw.get("ID")) and is_on_temp_files(rule.prefix),
    )


def _touches(rule: LifecycleRule, table: TableInBucket, kind: str) -> bool:
    temp, *staged = table.held
    if kind == TEMP:
        return rule.reaches(temp)
    if kind == STAGED:
        return any(rule.reaches(folder) for folder in staged)
    return matters_to_data(rule, table) if kind == DATA else matters_to_log(rule, table)


def _deadlines(rule: LifecycleRule, reached: Sequence[TableInBucket], now: datetime) -> list[Deadline]:
    """When it takes a log or data file, or the file of a commit that waits unpublished."""
    return [*published_deadlines(rule, reach_of(rule, reached)), *waiting_deadlines(rule, reached, now)]


def _sentence(
    rule: LifecycleRule,
    enabled: bool,
    touches: Mapping[str, Sequence[TableInBucket]],
    bites_at: datetime | None,
    now: datetime,
) -> str:
    kinds = [kind for kind, touched in touches.items() if touched]
    if not enabled:
        return "Disabled: it does nothing."
    if not kinds:
        return "It reaches no table that is known."
    if not rule.acts:
        return f"It reaches {joined([_WORDS[kind] for kind in kinds])} and deletes no current object."
    names = {table.prefix for touched in touches.values() for table in touched}
    whose = names.pop() if len(names) == 1 and all(names) else counted(max(map(len, touches.values())), "table")
    where = f"{joined([_WORDS[kind] for kind in kinds])} of {whose}"
    only = f", only objects {joined(rule.conditions)}" if rule.conditions else ""
    return f"It {joined([act.in_words for act in rule.acts])}: {where}{only}.{bite_in_words(bites_at, now)}"
