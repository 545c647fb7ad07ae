"""Examines a pasted text: every rule is asked, what they found is corrected, and the corrected text examined again."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coordinator.protocols.verdict import Severity
from coordinator.writers.pasted import PastedSetting, PastedText
from coordinator.writers.reading_texts import read_text
from coordinator.writers.rules import classes, dead_names, jars, places, safety
from coordinator.writers.secrets import without_secrets
from coordinator.writers.session import DoctorRule, ObservedPlace, SettingChange, Trouble, WriterSession
from coordinator.writers.stack import stack_of

RULES: tuple[DoctorRule, ...] = (
    *dead_names.RULES,
    *classes.RULES,
    *places.RULES,
    *safety.RULES,
    *jars.RULES,
)
_ORDER = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)
_MOST_ROUNDS = 8
_PATH = re.compile(r"\bs3[an]?://[^\s\"'`,;)\\<>|&]+")
_NO_TABLE = re.compile(r"\.(?:py|jar|zip|egg|whl|conf|json|sql|sh|txt|yaml|yml|properties|tar\.gz)$")
_TABLES_IN = ("spark.sql.warehouse.dir",)


@dataclass(frozen=True, slots=True)
class WriterFinding:
    """What one rule found. `is_corrected`: the corrected text was read again, and the rule no longer finds it there."""

    rule: str
    severity: Severity
    key: str
    wrong: str
    effect: str
    instead: str
    source: str
    is_corrected: bool


@dataclass(frozen=True, slots=True)
class Examination:
    """Findings worst first, the text as read (secrets masked) and as corrected, and what could not be judged."""

    syntax: str
    text: str
    findings: tuple[WriterFinding, ...]
    corrected: str
    masked: tuple[str, ...]
    not_judged: tuple[str, ...]


def examine(text: str, observed: ObservedPlace | None = None) -> Examination:
    """Examine a text without running or keeping any of it. Raises PasteRefused where it cannot be read."""
    place = observed or ObservedPlace()
    pasted, masked = without_secrets(text)
    as_read = pasted.rewritten(pasted.entries)
    entries, found = _corrected(pasted, as_read, place)
    corrected = _respelt(pasted.rewritten(entries), [path for _, trouble in found for path in trouble.paths])
    left = {(rule.name, trouble.key) for rule, trouble in _troubles_left(corrected, len(entries), place)}
    findings = [_finding(rule, trouble, is_corrected=(rule.name, trouble.key) not in left) for rule, trouble in found]
    findings.sort(key=lambda one: _ORDER.index(one.severity))
    session = _session(pasted, as_read, place)
    return Examination(
        pasted.syntax, as_read, tuple(findings), corrected, masked, (*pasted.unread, *_not_judged(session))
    )


def _corrected(
    pasted: PastedText, text: str, observed: ObservedPlace
) -> tuple[tuple[PastedSetting, ...], list[tuple[DoctorRule, Trouble]]]:
    """The entries once no rule wants to change any, and every trouble met on the way."""
    session = _session(pasted, text, observed)
    found: dict[tuple[str, str], tuple[DoctorRule, Trouble]] = {}
    for _ in range(_MOST_ROUNDS):
        troubles = list(_troubles(session))
        for rule, trouble in troubles:
            found.setdefault((rule.name, trouble.key), (rule, trouble))
        entries = session.entries
        for _, trouble in troubles:
            entries = _changed(entries, trouble.changes)
        if entries == session.entries:
            break
        session = replace(session, entries=entries)
    return session.entries, list(found.values())


def _troubles(session: WriterSession) -> Iterator[tuple[DoctorRule, Trouble]]:
    return ((rule, trouble) for rule in RULES for trouble in rule.check(session))


def _troubles_left(corrected: str, entries: int, place: ObservedPlace) -> Iterator[tuple[DoctorRule, Trouble]]:
    """Those of the corrected text; none where every setting was taken out, so that there is nothing to read."""
    return _troubles(_session(read_text(corrected), corrected, place)) if entries else iter(())


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
            entries = tuple(replace(new, at=entry.at) if entry.key == change.old else entry for entry in entries)
    return entries


def _session(pasted: PastedText, text: str, observed: ObservedPlace) -> WriterSession:
    uris = tuple(dict.fromkeys(_uris(pasted, text)))
    return WriterSession(
        pasted.entries, pasted.syntax, pasted.platform, uris, pasted.brings_delta, observed, not pasted.unread
    )


def _uris(pasted: PastedText, text: str) -> Iterator[str]:
    """Paths that may be tables': those in settings are of jars, logs and the like, but for the warehouse's."""
    aside = {uri for entry in pasted.entries if entry.key not in _TABLES_IN for uri in _PATH.findall(entry.value)}
    for uri in _PATH.findall(text):
        if uri not in aside and not _NO_TABLE.search(uri):
            yield uri.rstrip(".")


def _respelt(text: str, paths: Sequence[tuple[str, str]]) -> str:
    for old, new in paths:
        text = re.sub(rf"{re.escape(old)}(?![\w./-])", lambda _, new=new: new, text)  # type: ignore[misc]
    return text


def _finding(rule: DoctorRule, trouble: Trouble, *, is_corrected: bool) -> WriterFinding:
    return WriterFinding(
        rule.name,
        rule.severity,
        trouble.key,
        trouble.wrong,
        trouble.effect,
        trouble.instead,
        rule.source,
        is_corrected,
    )


def _not_judged(session: WriterSession) -> Iterator[str]:
    unknown = [entry.key for entry in session.entries if not entry.is_known]
    if unknown:
        yield f"Known only when the text runs, and not judged: {', '.join(unknown[:10])}."
    if why := stack_of(session).why_unknown:
        yield why
    if not (session.wants_log_store or session.wants_coordinator):
        yield "Nothing here says that commits go through DynamoDB: one driver at a time may write such tables."
