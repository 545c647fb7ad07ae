"""Tables without a commit store, and tables whose commits Levee cannot judge.

A log store may be known by its temp files alone: no DynamoDB table that was asked holds an entry. Entries leave about a
day after their commit, so that a quiet table looks like this at first sight; so does one whose DynamoDB table is not
declared. A commit is written to its temp file first (`BaseExternalLogStore`, step 2.1), after the version below it was
published. While the temp file of the newest published version is there, one written later is there too, unless somebody
picked it out: clean-up by age takes the older first. So where that one is there and none may be of a later version, no
accepted commit waits.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

from coordinator.protocols.judgement import GRACE_SECONDS, note
from coordinator.protocols.lock_domains import guarded_elsewhere
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import temp_file_version
from coordinator.protocols.registrations import unpublished_versions
from coordinator.protocols.verdict import Finding, Severity, State, attention, not_checked
from coordinator.protocols.wording import accepted_only, counted, duration, joined, thousands, verb
from lake.delta.facts import LogObject, Mechanism

RECENT = timedelta(days=7)
LONGEST_ENGINE = 128
"""Characters of an engine's name that are kept between looks."""

UNKNOWN_STORE = "unknown-log-store"
NO_ENTRY = "no DynamoDB table that Levee asks holds an entry of this table"
DECLARE = "Declare the DynamoDB table of its log store; the next commit then shows it."


def judge_without_store(view: LogView) -> list[Finding]:
    """One finding that says what guards the table, for mechanisms that have no entries to look at."""
    match view.facts.mechanism:
        case Mechanism.SINGLE_DRIVER | Mechanism.UNKNOWN if view.facts.elsewhere:
            return [guarded_elsewhere(view)]
        case Mechanism.SINGLE_DRIVER:
            return list(_without_store(view))
        case Mechanism.CATALOG_MANAGED:
            return [_catalog_managed()]
        case Mechanism.LOG_STORE if not view.knows_log_store:
            return [guarded_elsewhere(view)] if view.facts.elsewhere else _unknown_store(view)
        case Mechanism.UNKNOWN:
            return [_unknown()]
    return []


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
    return attention(
        "unguarded-commit",
        f"{sentence[:1].upper()}{sentence[1:]}, and the table names no coordinator any more: a writer that does not "
        f"ask the old one can take {that}.",
        max(waiting),
        f"Publish {it} before anything else writes. Of two commits of one version the rows of the accepted one would "
        "be gone without an error.",
        {"versions": list(waiting)[-100:], "count": many},
    )


def _single_driver() -> Finding:
    return note(
        "single-driver",
        "Nothing shows a commit store behind this table: it is safe while one driver writes it.",
        "No entry, no registration and no temp file of a log store was found. Two drivers that write at once "
        "without one can both win a version; the loser's rows are gone without an error.",
    )


def recent_engines(view: LogView) -> dict[str, tuple[int, int]]:
    """What commit files of the last seven days say wrote them, as this look and earlier ones read it, each with its
    first and last version.
    """
    since = view.facts.observed_at - RECENT
    found = dict(view.facts.engines)
    for version, info in view.facts.commit_infos.items():
        file = view.published.get(version)
        if info.engine and file is not None and file.modified_at >= since:
            first, last = found.get(engine := info.engine[:LONGEST_ENGINE], (version, version))
            found[engine] = min(first, version), max(last, version)
    return found


def take_turns(engines: Mapping[str, tuple[int, int]]) -> bool:
    """Whether several writers were at work at the same time: different programs, or one release that came back.

    A release that follows another for good is an upgrade of one writer.
    """
    programs = {engine.partition("/")[0].partition(":")[0] for engine in engines}
    in_order = sorted(engines.values())
    return len(programs) > 1 or any(after[0] < before[1] for before, after in pairwise(in_order))


def _several_writers(view: LogView) -> Finding | None:
    last = {engine: newest for engine, (_, newest) in recent_engines(view).items()}
    if not take_turns(recent_engines(view)):
        return None
    names = sorted(last)
    return attention(
        "several-writers",
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
        "A catalog accepts this table's commits. Levee does not ask it, so only published versions are known.",
        meaning="Accepted commits that are not yet published cannot be seen from S3 and DynamoDB alone.",
        severity=Severity.INFO,
        state=State.NOT_CHECKED,
    )


def _unknown() -> Finding:
    return not_checked(
        "undecided",
        "How commits of this table are guarded cannot be decided: no protocol and no entry could be read.",
        meaning="Nothing is concluded until the newest protocol and metadata have been read.",
        evidence={"missing": "protocol and metaData actions of the newest version"},
    )


def _unknown_store(view: LogView) -> list[Finding]:
    """One finding that says what the temp files prove, and what they leave open."""
    if view.unread("entries") or view.unread("DynamoDB") or view.unread("listing"):
        return []
    files = view.facts.listing.temp_files or ()
    later = [file for file in files if _may_wait(view, file)]
    if later:
        return [_may_hold_commits(view, later)]
    newest = [file for file in files if temp_file_version(file.name) == view.newest]
    return [_settled(view, newest) if newest else _cleaned_up(view, files)]


def _may_wait(view: LogView, file: LogObject) -> bool:
    """Whether a temp file may hold a commit that is not published: delta-rs' names tell no version."""
    version = temp_file_version(file.name)
    return version is None or view.newest is None or version > view.newest


def _may_hold_commits(view: LogView, files: Sequence[LogObject]) -> Finding:
    """Each of the files is an accepted commit or a loser's, and only its entry tells which."""
    young = all((view.age(file.modified_at) or 0) < GRACE_SECONDS for file in files)
    return Finding(
        UNKNOWN_STORE,
        f"{counted(len(files), 'temp file')} may hold an accepted commit that is not published, and {NO_ENTRY}, so "
        f"that whether {verb(len(files), 'it does', 'they do')} cannot be decided.",
        meaning=f"The commit may wait in a DynamoDB table that Levee does not know. {DECLARE}",
        evidence={
            "missing": f"{verb(len(files), 'the entry', 'the entries')} in the DynamoDB table of the log store",
            "temp_files": [file.name for file in files[:20]],
        },
        severity=Severity.INFO if young else Severity.WARNING,
        state=State.NOT_CHECKED,
    )


def _settled(view: LogView, newest: Sequence[LogObject]) -> Finding:
    """The newest published version has its temp file, and no later one has any: nothing waits."""
    age = max((view.age(file.modified_at) or 0 for file in newest), default=0)
    names = [file.name for file in newest[:20]]
    if age >= view.facts.ttl_seconds:
        return note(
            UNKNOWN_STORE,
            f"A log store (S3DynamoDBLogStore) is in use here, as its temp files show, and {NO_ENTRY} now.",
            "Entries leave about a day after their commit. Which DynamoDB table it is, and whether every "
            "writer uses it, shows at the next commit. No temp file is of a later version, so no commit waits.",
            temp_files=names,
        )
    return Finding(
        UNKNOWN_STORE,
        f"A writer with a log store was at work {duration(age)} ago, and {NO_ENTRY}, though an entry lives "
        f"{duration(view.facts.ttl_seconds)}.",
        meaning=f"Its log store is one that Levee does not ask, or its entries live shorter. {DECLARE}",
        evidence={"missing": "the DynamoDB table of the log store", "temp_files": names},
        severity=Severity.INFO if age < GRACE_SECONDS else Severity.WARNING,
        state=State.NOT_CHECKED,
    )


def _cleaned_up(view: LogView, files: Sequence[LogObject]) -> Finding:
    """Nothing of the newest version is left: whether a commit waits cannot be told from what was cleaned up."""
    newest = max((version for file in files if (version := temp_file_version(file.name)) is not None), default=None)
    left = f"the newest left of version {thousands(newest)}" if newest is not None else "none of which is left"
    return Finding(
        UNKNOWN_STORE,
        f"A log store (S3DynamoDBLogStore) was in use here, as temp files showed, {left}; {NO_ENTRY}.",
        meaning="Only published versions are known. Whether the newest went through the log store, and whether an "
        f"accepted commit waits, shows in the store alone. {DECLARE}",
        evidence={"missing": "the DynamoDB table of the log store", "newest_temp_file": newest},
        severity=Severity.INFO,
        state=State.NOT_CHECKED,
    )
