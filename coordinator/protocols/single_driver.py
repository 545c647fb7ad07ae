"""Tables without a commit store, and tables whose commits Levee cannot judge."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby

from coordinator.protocols.judgement import Judgement
from coordinator.protocols.lock_domains import guarded_elsewhere
from coordinator.protocols.log_view import LogView
from coordinator.protocols.registrations import unpublished_versions
from coordinator.protocols.unknown_store import judge_unknown_store
from coordinator.protocols.verdict import Finding, Severity, State
from coordinator.protocols.wording import accepted_only, joined, verb
from lake.delta.facts import Mechanism

RECENT = timedelta(days=7)


def judge_without_store(view: LogView) -> Judgement:
    """One finding that says what guards the table, for mechanisms that have no entries to look at."""
    match view.facts.mechanism:
        case Mechanism.SINGLE_DRIVER | Mechanism.UNKNOWN if view.facts.elsewhere:
            return Judgement(findings=(guarded_elsewhere(view),))
        case Mechanism.SINGLE_DRIVER:
            return Judgement(findings=tuple(_without_store(view)))
        case Mechanism.CATALOG_MANAGED:
            return Judgement(findings=(_catalog_managed(),))
        case Mechanism.LOG_STORE if not view.knows_log_store:
            return Judgement(findings=(guarded_elsewhere(view),)) if view.facts.elsewhere else judge_unknown_store(view)
        case Mechanism.UNKNOWN:
            return Judgement(findings=(_unknown(),))
    return Judgement()


def _without_store(view: LogView) -> Iterator[Finding]:
    """Nothing is safe while a commit waits whose version a writer could take that does not ask who accepted it."""
    several, waiting = _several_writers(view), unpublished_versions(view)
    if waiting:
        yield _unguarded_commits(waiting)
    if several:
        yield several
    elif not waiting:
        yield _single_driver()


def _unguarded_commits(waiting: Sequence[int]) -> Finding:
    many = len(waiting)
    sentence = accepted_only(waiting)
    it, that = verb(many, "it", "them"), verb(many, "that version", "those versions")
    return Finding(
        "unguarded-commit",
        Severity.WARNING,
        State.ATTENTION,
        f"{sentence[:1].upper()}{sentence[1:]}, and the table names no coordinator any more: a writer that does not "
        f"ask the old one can take {that}.",
        max(waiting),
        f"Publish {it} before anything else writes. Of two commits of one version the rows of the accepted one would "
        "be gone without an error.",
        {"versions": list(waiting)[-100:], "count": many},
    )


def _single_driver() -> Finding:
    return Finding(
        "single-driver",
        Severity.INFO,
        State.HEALTHY,
        "Nothing shows a commit store behind this table: it is safe while one driver writes it.",
        meaning="No entry, no registration and no temp file of a log store was found. Two drivers that write at once "
        "without one can both win a version; the loser's rows are gone without an error.",
    )


def recent_engines(view: LogView) -> list[tuple[int, str]]:
    """Versions published within the last seven days with what their commit files say wrote them, ascending."""
    since = view.facts.observed_at - RECENT
    infos = view.facts.commit_infos
    return [
        (version, infos[version].engine)
        for version in sorted(infos)
        if infos[version].engine and (file := view.published.get(version)) and file.modified_at >= since
    ]


def take_turns(engines: Sequence[str]) -> bool:
    """Whether several writers were at work at the same time: different programs, or one release that came back.

    A release that follows another for good is an upgrade of one writer.
    """
    runs = [engine for engine, _ in groupby(engines)]
    programs = {engine.partition("/")[0].partition(":")[0] for engine in engines}
    return len(programs) > 1 or len(runs) > len(set(runs))


def _several_writers(view: LogView) -> Finding | None:
    seen = recent_engines(view)
    if not take_turns([engine for _, engine in seen]):
        return None
    names = sorted({engine for _, engine in seen})
    last = {engine: version for version, engine in seen}
    return Finding(
        "several-writers",
        Severity.WARNING,
        State.ATTENTION,
        f"{len(names)} writers committed here in the last {RECENT.days} days, and nothing shows a commit store that "
        f"keeps them apart: {joined(names[:3])}{', and others' if len(names) > 3 else ''}.",
        meaning="Two that write at once can both win a version; the loser's rows are gone without an error. Stop all "
        "but one, or give every writer the same log store (S3DynamoDBLogStore), or enable coordinated commits; stop "
        "every writer while that changes.",
        evidence={"writers": [{"engine": name, "last_version": last[name]} for name in names[:20]]},
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
