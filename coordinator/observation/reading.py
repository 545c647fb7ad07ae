"""Reading one table: two requests where nothing has changed, otherwise all that diagnosis needs."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from coordinator.observation.logfiles import LogReader
from coordinator.observation.surveys import Survey
from coordinator.observation.targets import KnownTable, Target
from coordinator.observation.witnesses import (
    StoreWitness,
    all_of_stores,
    fingerprint,
    in_tail,
    list_tail,
    list_whole_log,
    newest_of_stores,
    tail_start,
)
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.mechanism import decide_mechanism
from coordinator.protocols.needed_facts import wanted_comparisons, wanted_heads
from coordinator.protocols.verdict import State, Verdict
from lake.aws.access import Lake
from lake.aws.errors import AwsError
from lake.aws.s3 import ObjectSummary
from lake.delta.facts import LogListing, LogStoreEntry, Mechanism, Problem, TableFacts
from lake.delta.listing import read_listing

WHOLE_LOG_EVERY = timedelta(hours=6)
"""How long an older part of the log may go unlisted: files below the tail change only by clean-up or by hand."""
TROUBLED_EVERY = timedelta(minutes=5)
"""How often a table in trouble is read in full although its tail is unchanged: its temp files may have gone."""
YOUNG = timedelta(seconds=60)
"""An unpublished commit is ordinary for this long; crossing it changes the verdict without any change in the lake."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One table as read. Exactly one of the three holds: `unchanged`, `error`, or facts with their verdict."""

    target: Target
    observed_at: datetime
    unchanged: bool = False
    error: AwsError | None = None
    facts: TableFacts | None = None
    verdict: Verdict | None = None
    witness: StoreWitness | None = None
    fingerprint: str = ""
    whole_log: bool = False
    log_files: int = 0

    @property
    def is_gone(self) -> bool:
        """Neither the log nor a commit store holds anything of this table."""
        return (
            self.facts is not None
            and self.whole_log
            and not _holds_anything(self.facts.listing)
            and not any(self.facts.entries.values())
        )


def read_table(lake: Lake, survey: Survey, target: Target, now: datetime, *, in_full: bool = False) -> Reading:
    """Look at one table; a refusal by AWS is part of the reading, not an exception."""
    try:
        known = target.known
        if known is None or known.published_version is None or in_full or _is_due(known, now):
            return _read_whole(lake, survey, target, now)
        return _look(lake, survey, target, known, known.published_version, now)
    except AwsError as error:
        return Reading(target, now, error=error)


def _look(lake: Lake, survey: Survey, target: Target, known: KnownTable, newest: int, now: datetime) -> Reading:
    from_version = tail_start(newest)
    witness = newest_of_stores(lake, survey, target)
    tail = list_tail(lake, target, from_version)
    seen = fingerprint(witness, tail)
    if seen == known.fingerprint:
        return Reading(target, now, unchanged=True)
    listing = read_listing(tail, target.uri.log_key, from_version=from_version, folders_listed=False)
    if newest not in listing.commits:
        return _read_whole(lake, survey, target, now)
    return _judge(lake, survey, target, listing, tail, now, whole_log=False)


def _read_whole(lake: Lake, survey: Survey, target: Target, now: datetime) -> Reading:
    objects = list_whole_log(lake, target)
    listing = read_listing(objects, target.uri.log_key, from_version=0, folders_listed=True)
    return _judge(lake, survey, target, listing, objects, now, whole_log=True)


def _judge(
    lake: Lake,
    survey: Survey,
    target: Target,
    listing: LogListing,
    objects: tuple[ObjectSummary, ...],
    now: datetime,
    *,
    whole_log: bool,
) -> Reading:
    witness = all_of_stores(lake, survey, target, listing.from_version)
    reader = LogReader(lake, target, listing)
    protocol = reader.protocol(witness)
    mechanism = decide_mechanism(protocol, has_entries=any(d.entries for d in witness.domains.values()))
    facts = TableFacts(
        uri=target.uri.s3a,
        mechanism=mechanism,
        observed_at=now,
        listing=_known_window(listing, witness),
        entries={path: _in_window(domain.entries, listing) for path, domain in witness.domains.items()},
        registrations=witness.registrations,
        protocol=protocol,
        commit_infos=reader.commit_infos(),
        problems=(*reader.problems, *_unread_stores(mechanism, survey)),
    )
    facts = _with_missing_facts(facts, reader)
    return Reading(
        target,
        now,
        facts=facts,
        verdict=diagnose(facts),
        witness=witness,
        fingerprint=_fingerprint_of_next_look(witness, listing, objects, target),
        whole_log=whole_log,
        log_files=len(objects),
    )


def _with_missing_facts(facts: TableFacts, reader: LogReader) -> TableFacts:
    facts = replace(facts, heads=reader.heads(wanted_heads(facts)))
    return replace(facts, equal_bytes=reader.comparisons(wanted_comparisons(facts)))


def _unread_stores(mechanism: Mechanism, survey: Survey) -> tuple[Problem, ...]:
    """Stores that could not be read matter to a table of which no store is known: one of them may hold its entries."""
    if mechanism not in {Mechanism.SINGLE_DRIVER, Mechanism.UNKNOWN}:
        return ()
    return tuple(Problem(f"DynamoDB table {store.name}", str(store.error)) for store in survey.failed())


def _in_window(entries: tuple[LogStoreEntry, ...], listing: LogListing) -> tuple[LogStoreEntry, ...]:
    """Keep what the listing can be compared with, and incomplete entries of any age: nobody else will finish those."""
    return tuple(
        entry
        for entry in entries
        if entry.version is None or entry.version >= listing.from_version or entry.complete is not True
    )


def _known_window(listing: LogListing, witness: StoreWitness) -> LogListing:
    """Leave out published versions below the oldest entry kept: of those nobody can say whether an entry was seen."""
    first = max((domain.from_version for domain in witness.domains.values()), default=0)
    if first <= listing.from_version:
        return listing
    commits = {version: found for version, found in listing.commits.items() if version >= first}
    return replace(listing, from_version=first, commits=commits)


def _fingerprint_of_next_look(
    witness: StoreWitness, listing: LogListing, objects: tuple[ObjectSummary, ...], target: Target
) -> str:
    newest = listing.newest_version
    if newest is None:
        return ""
    start = tail_start(newest)
    return fingerprint(witness, (found for found in objects if in_tail(found, target.uri.log_key, start)))


def _is_due(known: KnownTable, now: datetime) -> bool:
    if known.listed_at is None or now - known.listed_at > WHOLE_LOG_EVERY or known.has_error or known.is_gone:
        return True
    if known.state is State.HEALTHY or known.observed_at is None:
        return False
    grown_old = (
        known.oldest_unpublished_at is not None
        and known.oldest_unpublished_at + YOUNG > known.observed_at
        and known.oldest_unpublished_at + YOUNG <= now
    )
    return grown_old or now - known.listed_at > TROUBLED_EVERY


def _holds_anything(listing: LogListing) -> bool:
    return bool(
        listing.commits
        or listing.checkpoints
        or listing.checksums
        or listing.compacted
        or listing.last_checkpoint
        or listing.temp_files
        or listing.staged
        or listing.other
    )
