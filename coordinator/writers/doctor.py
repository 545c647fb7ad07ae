"""Examines a pasted text: every rule is asked of its settings, and what each found is said with the lines to write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from coordinator.protocols.verdict import Severity
from coordinator.writers.pairs import read_pairs
from coordinator.writers.rules import classes, dead_names, jars, places, safety
from coordinator.writers.session import (
    NOTHING_OBSERVED,
    DoctorRule,
    ObservedPlace,
    PastedSetting,
    SettingChange,
    Trouble,
    WriterSession,
)
from coordinator.writers.stack import stack_of

RULES = (*dead_names.RULES, *classes.RULES, *places.RULES, *safety.RULES, *jars.RULES)
_ORDER = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)
_MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class WriterFinding:
    """What one rule found; `lines` are what to write: `key=value`, or "remove key"; empty where it is nothing of these
    settings.
    """

    rule: Annotated[str, "region"]
    severity: Severity
    key: Annotated[str, "spark.io.delta.storage.S3DynamoDBLogStore.ddb.region"]
    wrong: str
    effect: str
    instead: str
    source: str
    lines: Annotated[
        tuple[str, ...],
        [
            "remove spark.delta.DynamoDBLogStore.region",
            "spark.io.delta.storage.S3DynamoDBLogStore.ddb.region=eu-west-1",
        ],
    ]


@dataclass(frozen=True, slots=True)
class Examination:
    """Findings worst first, and what could not be judged. Nothing of the text but what findings quote.

    The document of `doctor FILE --json`; `compared_with` is null without `--table` and `--store`.
    """

    syntax: Annotated[str, "spark-submit | spark-defaults.conf | PySpark | JSON | SparkApplication"]
    compared_with: Annotated[str | None, "s3a://lake/orders"]
    findings: tuple[WriterFinding, ...]
    not_judged: tuple[str, ...]


def examine(text: str, observed: ObservedPlace = NOTHING_OBSERVED) -> Examination:
    """Examine a text without running or keeping any of it. Raises PasteRefused where it cannot be read."""
    session = read_pairs(text, observed)
    troubles, settled = _all_troubles(session)
    findings = [_finding(rule, trouble, settled) for rule, trouble in troubles]
    findings.sort(key=lambda one: _ORDER.index(one.severity))
    not_judged = (*session.unread, *_not_judged(session))
    return Examination(session.syntax, observed.name or None, tuple(findings), not_judged)


def _all_troubles(session: WriterSession) -> tuple[list[tuple[DoctorRule, Trouble]], dict[str, str]]:
    """Every trouble that is met until no rule wants to change any setting, as one may hide another; and the settings
    as they are then.
    """
    found: dict[tuple[str, str], tuple[DoctorRule, Trouble]] = {}
    for _ in range(_MOST_ROUNDS):
        troubles = [(rule, trouble) for rule in RULES for trouble in rule.check(session)]
        for rule, trouble in troubles:
            found.setdefault((rule.name, trouble.key), (rule, trouble))
        entries = session.entries
        for _, trouble in troubles:
            entries = _changed(entries, trouble.changes)
        if entries == session.entries:
            break
        session = replace(session, entries=entries)
    return list(found.values()), {entry.key: entry.value for entry in session.entries}


def _changed(entries: tuple[PastedSetting, ...], changes: Sequence[SettingChange]) -> tuple[PastedSetting, ...]:
    """A change whose old key is gone, or whose new one has come meanwhile, was made by another rule."""
    for change in changes:
        if not change.old:
            if change.key not in {entry.key for entry in entries}:
                entries = (*entries, PastedSetting(change.key, change.value))
        elif not change.key:
            entries = tuple(entry for entry in entries if entry.key != change.old)
        else:
            new = PastedSetting(change.key, change.value)
            entries = tuple(new if entry.key == change.old else entry for entry in entries)
    return entries


def _finding(rule: DoctorRule, trouble: Trouble, settled: dict[str, str]) -> WriterFinding:
    lines = tuple(dict.fromkeys(line for change in trouble.changes for line in _lines_of(change, settled)))
    stays = not lines or _stays(trouble.instead, settled)
    instead = trouble.instead if stays else "; ".join(lines).replace("=", " = ")
    return WriterFinding(
        rule.name, rule.severity, trouble.key, trouble.wrong, trouble.effect, instead, rule.source, lines
    )


def _stays(instead: str, settled: dict[str, str]) -> bool:
    """Whether what one rule would write is still written once every other rule has had its way; words always are."""
    key, equals, value = instead.partition(" = ")
    return not equals or settled.get(key) == value


def _lines_of(change: SettingChange, settled: dict[str, str]) -> Iterator[str]:
    """What the change comes to once every other one is made too."""
    if change.old and change.old not in settled:
        yield f"remove {change.old}"
    if change.key in settled:
        yield f"{change.key}={settled[change.key]}"
    elif change.old in settled:
        yield f"{change.old}={settled[change.old]}"


def _not_judged(session: WriterSession) -> Iterator[str]:
    unknown = [entry.key for entry in session.entries if not entry.is_known]
    if unknown:
        yield f"Known only when the text runs, and not judged: {', '.join(unknown[:10])}."
    if why := stack_of(session).why_unknown:
        yield why
    if not (session.wants_log_store or session.wants_coordinator):
        yield "Nothing here says that commits go through DynamoDB: one driver at a time may write such tables."
