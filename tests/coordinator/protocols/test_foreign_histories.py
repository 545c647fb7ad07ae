"""Random lives of a table: locked and foreign writers with wrong clocks, TTL, losses, repairs, restores, and looks.

The oracle is who really wrote each version, and when by the true clock. Looks know only what a pass would read.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.log_view import LogView
from coordinator.protocols.needed_facts import wanted_commits, wanted_comparisons
from coordinator.protocols.overwritten import proven_copies
from coordinator.protocols.provenance import Surroundings, provenance_of
from lake.delta.facts import CommitInfo, LogListing, LogObject, LogStoreEntry, Provenance, TableFacts
from tests.builders.facts import DAY, NOW, URI, commit_name, log_store_facts, temp_name

HOUR = 3_600


@dataclass
class Version:
    """One commit: who made it, when by the true clock, and what S3 and its writer say of that. Times are seconds."""

    foreign: bool
    made_at: float
    says: int | None
    modified_at: float
    etag: str
    has_file: bool = True
    expires_at: float | None = None


@dataclass
class Life:
    """A table of the log store. `at` is the true time; `looked_at` are the looks so far with their newest version."""

    ttl: int
    at: float = 0
    versions: list[Version] = field(default_factory=list)
    looked_at: list[tuple[float, int]] = field(default_factory=list)
    known: dict[int, Provenance] = field(default_factory=dict)
    entries_seen: set[int] = field(default_factory=set)
    put_anew: bool = False
    undecided: set[int] = field(default_factory=set)

    def wait(self, hours: float) -> None:
        self.at += hours * HOUR

    def commit(self, behind: float) -> None:
        """A locked writer, whose clock is behind by so many seconds."""
        clock = self.at - behind
        self._add(foreign=False, says=clock, expires_at=clock + self.ttl)

    def bypass(self, behind: float | None) -> None:
        """A writer without the log store; with None it writes no time."""
        self._add(foreign=True, says=None if behind is None else self.at - behind, expires_at=None)

    def lose(self, which: int) -> None:
        """Lose the newest files; who would not lose them from the end would make a gap, which is another matter."""
        for one in self.versions[1:][-which:]:
            one.has_file = False

    def put_back(self, encrypted: bool) -> None:
        """Republish or restore every lost file with its own bytes."""
        for number, one in enumerate(self.versions):
            if not one.has_file:
                one.has_file, one.modified_at, self.put_anew = True, self.at, True
                one.etag = f"again-{number}-{self.at}" if encrypted else one.etag

    def restore_all(self, encrypted: bool) -> None:
        for one in self.versions:
            one.has_file = False
        self.put_back(encrypted)

    def look(self) -> set[int]:
        """Read, diagnose, keep what was seen; the versions that are called foreign."""
        facts = self.read()
        self.entries_seen |= {entry.version for entries in facts.entries.values() for entry in entries}
        before = self.looked_at[-1] if self.looked_at else (None, None)
        moment = NOW + timedelta(seconds=before[0]) if before[0] is not None else None
        view = LogView(facts)
        known = provenance_of(view, Surroundings("", before[1], moment))
        copies = proven_copies(view)
        self.known = known | {v: replace(known[v], copy_etag=etag) for v, etag in copies.items()}
        self.looked_at.append((self.at, max(facts.listing.commits, default=-1)))
        findings = diagnose(replace(facts, provenance=self.known)).findings
        assert "overwritten" not in {one.code for one in findings}
        unclear = [one for one in findings if one.code == "undecided"]
        self.undecided = {v for one in unclear for v in (one.version, *one.evidence.get("all_versions", ())) if v}
        return {one.version for one in findings if one.code == "foreign-writer" and one.version is not None}

    def read(self) -> TableFacts:
        log = LogListing(0, {v: self._object(v) for v, one in enumerate(self.versions) if one.has_file}, temp_files=())
        facts = log_store_facts(log, *self._entries(), seen=self.known.values())
        facts = replace(facts, observed_at=NOW + timedelta(seconds=self.at))
        infos = {v: self._info(v) for v in (*sorted(log.commits)[-2:], *wanted_commits(facts))}
        facts = replace(facts, commit_infos=infos)
        return replace(facts, equal_bytes={v: True for v, _, _ in wanted_comparisons(facts)})

    def _add(self, *, foreign: bool, says: float | None, expires_at: float | None) -> None:
        if all(one.has_file for one in self.versions):
            stamp = round((NOW.timestamp() + says) * 1_000) if says is not None else None
            etag = f"etag-{len(self.versions)}"
            self.versions.append(Version(foreign, self.at, stamp, self.at, etag, expires_at=expires_at))
            self.at += 1

    def _object(self, version: int) -> LogObject:
        one = self.versions[version]
        return LogObject(commit_name(version), 1_000, NOW + timedelta(seconds=one.modified_at), one.etag)

    def _entries(self) -> list[LogStoreEntry]:
        """Those that TTL has not removed; it does as soon as it may."""
        return [
            LogStoreEntry(URI, commit_name(v), v, temp_name(v), True, round(NOW.timestamp() + one.expires_at))
            for v, one in enumerate(self.versions)
            if one.expires_at is not None and one.expires_at > self.at
        ]

    def _info(self, version: int) -> CommitInfo:
        one = self.versions[version]
        return CommitInfo(version, timestamp=one.says, etag=one.etag, digest=f"digest-{version}")


LITTLE = st.sampled_from([0, 0, 60, -60, HOUR, -HOUR, 8 * HOUR])
"""Seconds by which a locked writer's clock may be behind: less than half the life of an entry."""
ANY = st.one_of(st.none(), st.sampled_from([0, 60, HOUR, -HOUR, 3 * DAY, -3 * DAY, 400 * DAY]))

usual: list[st.SearchStrategy[tuple[Any, ...]]] = [
    st.tuples(st.just("wait"), st.sampled_from([0.01, 1, 7, 26, 100])),
    st.tuples(st.just("commit"), LITTLE),
    st.tuples(st.just("commit"), LITTLE),
    st.tuples(st.just("lose"), st.integers(1, 4)),
    st.tuples(st.just("put_back"), st.booleans()),
    st.tuples(st.just("restore_all"), st.booleans()),
    st.just(("look",)),
    st.just(("look",)),
]
foreign = st.tuples(st.just("bypass"), ANY)


def live(life: Life, happened: list[tuple[Any, ...]]) -> None:
    life.commit(0)
    for name, *details in happened:
        found = getattr(life, name)(*details)
        if name == "look":
            really = {version for version, one in enumerate(life.versions) if one.foreign}
            assert found <= really, "a locked writer is called foreign"
            named = found | life.undecided if life.put_anew else found
            assert must_be_found(life) <= named, "a foreign writer is passed over"


def must_be_found(life: Life) -> set[int]:
    """Foreign versions that appeared since the look before the last, if that was less than half an entry's life ago
    and an older entry was there then.

    How long entries live cannot be told from files that were put anew: then it is enough that nothing is concluded.
    """
    if len(life.looked_at) < 2:
        return set()
    before, now = life.looked_at[-2][0], life.looked_at[-1][0]
    if now - before >= min(life.ttl, DAY) / 2:
        return set()
    alive = [v for v, one in enumerate(life.versions) if one.expires_at is not None and one.expires_at > before + 1]
    first = min((v for v in alive if v in life.entries_seen), default=len(life.versions))
    published = ((v, one) for v, one in enumerate(life.versions) if one.has_file and v > first)
    return {v for v, one in published if one.foreign and one.made_at >= before}


@given(st.sampled_from([DAY, DAY, 2 * DAY]), st.lists(st.one_of(*usual), min_size=3, max_size=25))
def test_without_a_foreign_writer_none_is_found(ttl: int, happened: list[tuple[Any, ...]]) -> None:
    live(Life(ttl), happened)


RESTORED = [("wait", 7), ("look",), ("wait", 7), ("restore_all", False), ("bypass", None), ("look",)]
RESTORED_LATE = [("wait", 7), ("wait", 7), *RESTORED]


@given(st.sampled_from([DAY, DAY, 2 * DAY]), st.lists(st.one_of(*usual, foreign, foreign), min_size=3, max_size=25))
@example(DAY, RESTORED)
@example(DAY, RESTORED_LATE)
def test_a_foreign_writer_is_found_whatever_its_clock_says(ttl: int, happened: list[tuple[Any, ...]]) -> None:
    live(Life(ttl), happened)


@given(st.lists(st.one_of(*usual), min_size=0, max_size=12), st.sampled_from([0, 60, -60]))
def test_at_first_sight_a_foreign_writer_with_a_right_clock_is_found(
    happened: list[tuple[Any, ...]], behind: int
) -> None:
    life = Life(DAY)
    live(life, happened)
    life.put_back(encrypted=False)
    life.commit(0)
    life.bypass(behind)
    life.commit(0)
    life.known, life.looked_at, life.entries_seen = {}, [], set()

    assert life.look() == {len(life.versions) - 2}


def test_a_file_that_was_put_anew_does_not_make_the_lives_of_entries_shorter() -> None:
    life = Life(DAY)
    life.commit(0)
    for name, *details in RESTORED:
        found = getattr(life, name)(*details)

    assert found == {1}
