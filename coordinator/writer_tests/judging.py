"""What a self-test of a writer shows, from facts read after it. Pure; what the script printed counts for nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from coordinator.models import CommitStore
from coordinator.protocols.coordinator_conf import coordinator_elsewhere, read_conf
from coordinator.protocols.wording import counted, joined
from coordinator.scratch import StoredEntry
from lake.delta.coordinator_properties import COORDINATOR, coordinator_table_id
from lake.delta.facts import Registration
from lake.delta.uri import TableUri

LEAST_NEWEST = 3
"""The script makes versions 0 to 2 alone; from 3 on two writers compete for each."""
LATE = timedelta(hours=12)
"""Entries live a day after their commit (`ddb.ttl` may say less): one that is absent later may have expired."""
MOST_NAMED = 20


class WriterTestState(StrEnum):
    """What was shown. Only LOCK_TAKEN is good news."""

    NOT_SEEN = "not-seen"
    UNFINISHED = "unfinished"
    LOCK_TAKEN = "lock-taken"
    NO_LOCK = "no-lock"
    NOT_KNOWN = "not-known"


PROVEN = (WriterTestState.LOCK_TAKEN, WriterTestState.NO_LOCK)


@dataclass(frozen=True, slots=True)
class ScratchCommit:
    """One published version. `read_version` is what its writer had read, as its commitInfo says; None where it does
    not. `equals_accepted` compares it with the copy that its entry names, None where there is none to compare.
    """

    version: int
    modified_at: datetime
    read_version: int | None = None
    equals_accepted: bool | None = None


@dataclass(frozen=True, slots=True)
class WriterTestFacts:
    """What a test was made for, and all that was read of it at `read_at`, items after the log.

    `kind` and `store` are those of the store that is tested, `endpoint` and `region` those of the connection.
    `objects` counts those below the scratch folder, `staged` are the versions that have a staged file, `properties`
    those of the newest metaData. `unread` names stores other than the expected one that refused. `is_cut` says that
    more lies there than a test leaves, and that not all of it was read.
    """

    kind: str
    store: str
    uri: TableUri
    endpoint: str
    region: str
    read_at: datetime
    objects: int = 0
    commits: Mapping[int, ScratchCommit] = field(default_factory=dict)
    staged: frozenset[int] = frozenset()
    entries: tuple[StoredEntry, ...] = ()
    registrations: tuple[Registration, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def path(self) -> str:
        """The table to the letter: the `tablePath` that its writer locks."""
        return f"{self.uri.scheme}://{self.uri.bucket}/{self.uri.key}"

    @property
    def is_empty(self) -> bool:
        """Nothing of the test is there: neither an object nor an item."""
        return not (self.objects or self.entries or self.registrations)


@dataclass(frozen=True, slots=True)
class WriterTestOutcome:
    """The state, one sentence, and what it rests on as JSON."""

    state: WriterTestState
    sentence: str
    evidence: dict[str, object] = field(default_factory=dict)


def judge(facts: WriterTestFacts) -> WriterTestOutcome:
    """Raises nothing, whatever was read."""
    is_coordinator = facts.kind == CommitStore.Kind.COMMIT_COORDINATOR
    found = _first(facts, _of_coordinator(facts) if is_coordinator else _of_log_store(facts))
    return WriterTestOutcome(*found, evidence_of(facts))


Found = tuple[WriterTestState, str]


def _first(facts: WriterTestFacts, of_kind: Iterator[Found]) -> Found:
    """The first thing that is so; the last of its kind is the proof."""
    return next(_before_all(facts), None) or next(of_kind)


def _before_all(facts: WriterTestFacts) -> Iterator[Found]:
    place = facts.path
    if facts.is_empty:
        yield WriterTestState.NOT_SEEN, f"Not seen yet: nothing lies at {place}, and no item names it."
    if facts.is_cut:
        yield WriterTestState.NOT_KNOWN, f"More lies at {place} than a test leaves: make a new test."
    if not facts.commits:
        yield WriterTestState.UNFINISHED, f"The script has begun: {place} has no published commit yet."
    elif lacking := sorted(set(range(max(facts.commits))) - set(facts.commits)):
        yield WriterTestState.NO_LOCK, f"No lock taken: the log lacks {_versions(lacking)} before its newest one."


def _of_log_store(facts: WriterTestFacts) -> Iterator[Found]:
    own = {entry.version: entry for _, entry in _own(facts)}
    if lacking := [version for version in sorted(facts.commits) if version not in own]:
        yield _without_entry(facts, lacking)
    if different := [one.version for one in facts.commits.values() if one.equals_accepted is False]:
        yield (
            WriterTestState.NO_LOCK,
            f"No lock taken: the bytes of {_versions(sorted(different))} are not those that {facts.store} accepted.",
        )
    waiting = sorted(version for version, entry in own.items() if version is not None and entry.complete is not True)
    if waiting or set(own) - set(facts.commits):
        yield (
            WriterTestState.UNFINISHED,
            f"Not whole yet: {facts.store} has entries that are not complete. The script is at work, or was cut.",
        )
    yield from _too_short(facts)
    yield (
        WriterTestState.LOCK_TAKEN,
        f"The lock is taken: {facts.store} holds a complete entry under {facts.path} for each of "
        f"{counted(len(facts.commits), 'version')}, the rivals' among them.",
    )


def _without_entry(facts: WriterTestFacts, lacking: list[int]) -> Found:
    """Published without an entry where one belongs: elsewhere, long ago, or never."""
    others = sorted({f"{one.table_path} in {store}" for store, one in facts.entries if (store, one) not in _own(facts)})
    if others:
        schemes = {entry.table_path.partition("://")[0] for _, entry in facts.entries}
        of_scheme = " Another scheme is another lock." if schemes - {facts.uri.scheme} else ""
        where = f"entries are under {joined(others)}, and {facts.store} was expected with {facts.path}"
        return WriterTestState.NO_LOCK, f"No lock taken for {_versions(lacking)}: {where}.{of_scheme}"
    oldest = min(facts.commits[version].modified_at for version in lacking)
    if facts.read_at - oldest > LATE:
        hours = int((facts.read_at - oldest).total_seconds() // 3600)
        return WriterTestState.NOT_KNOWN, (
            f"Read too late: no entry is there for {_versions(lacking)} {hours} hours after, and TTL deletes entries. "
            "Make a new test and look soon after the script has run."
        )
    return WriterTestState.NO_LOCK, f"No lock taken: {facts.store} holds no entry for {_versions(lacking)}."


def _own(facts: WriterTestFacts) -> list[StoredEntry]:
    """Entries in the expected lock domain, to the letter."""
    return [(store, one) for store, one in facts.entries if (store, one.table_path) == (facts.store, facts.path)]


def _of_coordinator(facts: WriterTestFacts) -> Iterator[Found]:
    versions = sorted(facts.commits)
    if sentence := _why_elsewhere(facts):
        yield WriterTestState.NO_LOCK, f"No lock taken in {facts.store} for {_versions(versions)}: {sentence}"
    table_id = coordinator_table_id(facts.properties)
    own = [one for one in facts.registrations if one.store == facts.store and one.table_id == table_id]
    if not own:
        yield WriterTestState.NO_LOCK, f"No lock taken: {facts.store} holds no registration of {facts.path}."
    accepted = next((one.table_version for one in own), None)
    past = [version for version in versions if accepted is None or version > accepted]
    past += [version for version in versions if version and version not in facts.staged]
    if past or not all(one.has_accepted_commits for one in own):
        past = sorted(set(past)) or versions
        yield WriterTestState.NO_LOCK, f"No lock taken: {_versions(past)} went past {facts.store}."
    yield from _too_short(facts)
    if not _gave_way(facts):
        yield (
            WriterTestState.UNFINISHED,
            "Commits go through the store, but no rival had to give way, so that none was shown to be held off: make a "
            "new test.",
        )
    yield (
        WriterTestState.LOCK_TAKEN,
        f"The lock is taken: {facts.store} accepted every version up to {accepted} under registration {table_id}; "
        f"{counted(len(_gave_way(facts)), 'commit')} had to give way to a rival and took the next version.",
    )


def _why_elsewhere(facts: WriterTestFacts) -> str:
    """Why the table's own properties lead to no coordinator, or to another one; "" where they lead to this one."""
    conf = read_conf(facts.properties)
    if COORDINATOR not in facts.properties:
        return "the table names no commit coordinator."
    if conf.problem:
        return conf.problem
    if conf.store != facts.store:
        return f"the table names {conf.store} at {conf.endpoint}."
    return coordinator_elsewhere(facts.properties, facts.endpoint, facts.region)


def _too_short(facts: WriterTestFacts) -> Iterator[Found]:
    if max(facts.commits) < LEAST_NEWEST:
        made = counted(len(facts.commits), "commit")
        yield WriterTestState.UNFINISHED, f"Not whole yet: {made} found, and the rivals' are still to come."


def _gave_way(facts: WriterTestFacts) -> list[int]:
    """Versions whose writer had read an older one than that before it: another was faster, and it tried again."""
    commits = facts.commits.values()
    return [one.version for one in commits if one.read_version is not None and one.read_version < one.version - 1]


def evidence_of(facts: WriterTestFacts) -> dict[str, object]:
    """What was read, for programs and for the page."""
    return {
        "read_at": facts.read_at.isoformat(),
        "versions": sorted(facts.commits),
        "staged": sorted(facts.staged),
        "gave_way": _gave_way(facts),
        "entries": [
            {"store": store, "path": one.table_path, "file": one.file_name, "complete": one.complete}
            for store, one in facts.entries
        ],
        "registrations": [
            {"store": one.store, "path": one.path, "table_id": one.table_id, "version": one.table_version}
            for one in facts.registrations
        ],
        "unread_stores": list(facts.unread),
        "objects": facts.objects,
    }


def _versions(versions: list[int]) -> str:
    shown = [str(version) for version in versions[:MOST_NAMED]]
    more = [f"{len(versions) - MOST_NAMED:,} more"] if len(versions) > MOST_NAMED else []
    return f"version{'' if len(versions) == 1 else 's'} {joined([*shown, *more])}"
