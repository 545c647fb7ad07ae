"""Reading one table: two requests where nothing has changed, otherwise all that diagnosis needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from coordinator.observation.failures import Failure, failure_of
from coordinator.observation.logfiles import LogReader
from coordinator.observation.surveys import Survey, coordinator_of
from coordinator.observation.targets import KnownTable, TableTarget
from coordinator.observation.witnesses import (
    DomainEntries,
    RegistrationKey,
    StoreWitness,
    all_of_stores,
    asked_domains,
    fingerprint,
    in_tail,
    list_tail,
    list_whole_log,
    may_hold_items,
    newest_of_stores,
    read_named_registration,
    read_singly,
    store_is_unknown,
    tail_start,
    what_was_asked,
)
from coordinator.protocols.absence import Missed
from coordinator.protocols.coordinator_conf import coordinator_elsewhere
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.log_view import LogView
from coordinator.protocols.mechanism import decide_mechanism
from coordinator.protocols.needed_facts import (
    wanted_checksums,
    wanted_commits,
    wanted_comparisons,
    wanted_copies,
    wanted_heads,
    wanted_infos,
)
from coordinator.protocols.overwritten import proven_copies, with_proofs
from coordinator.protocols.provenance import (
    Surroundings,
    is_another_table,
    of_an_earlier_table,
    provenance_of,
    with_elsewhere,
)
from coordinator.protocols.verdict import State, Verdict
from coordinator.repairs.planning import with_possible_repairs
from lake.aws.access import Lake
from lake.aws.s3 import ObjectSummary
from lake.delta.coordinator_properties import coordinator_store_name, coordinator_table_id
from lake.delta.facts import (
    LockDomain,
    LogListing,
    LogStoreEntry,
    Mechanism,
    Provenance,
    ReadingProblem,
    TableFacts,
    TableProtocol,
)
from lake.delta.listing import read_listing

WHOLE_LOG_EVERY = timedelta(hours=6)
"""How long an older part of the log may go unlisted: files below the tail change only by clean-up or by hand."""
TROUBLED_EVERY = timedelta(minutes=5)
"""How often a table in trouble is read in full although its tail is unchanged: its temp files may have gone."""
YOUNG = timedelta(seconds=60)
"""An unpublished commit is ordinary for this long; crossing it changes the verdict without any change in the lake."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One table as read. Exactly one of the three holds: `unchanged`, `error`, or facts with their verdict.

    `store_name` is the commit store through which the table's commits go, "" for none. `log_files` counts every object
    under `_delta_log/`. `partly_read` are versions whose file was too large to be read to its end. `recalled` is what
    was known of the listed versions before, `learned` what is known of more or more of them now; `of_another_table`
    says that what is stored is not of this one, `is_unidentified` that nothing tells.
    `missed` is what this look did not see and a critical finding rests on, `missed_before` the same of the last look at
    this table. `has_moved` tells that a listed file had gone before it was read. `not_read` are registrations of an
    earlier look that this one could not read.
    """

    target: TableTarget
    observed_at: datetime
    unchanged: bool = False
    error: Failure | None = None
    facts: TableFacts | None = None
    verdict: Verdict | None = None
    lock_domains: tuple[LockDomain, ...] = ()
    store_name: str = ""
    fingerprint: str = ""
    whole_log: bool = False
    log_files: int = 0
    partly_read: frozenset[int] = frozenset()
    recalled: Mapping[int, Provenance] = field(default_factory=dict)
    learned: tuple[Provenance, ...] = ()
    of_another_table: bool = False
    is_unidentified: bool = False
    missed: tuple[Missed, ...] = ()
    missed_before: tuple[Missed, ...] = ()
    has_moved: bool = False
    not_read: frozenset[RegistrationKey] = frozenset()

    @property
    def is_gone(self) -> bool:
        """Neither the log nor a commit store holds anything of this table."""
        return (
            self.facts is not None
            and self.whole_log
            and not _holds_anything(self.facts.listing)
            and not any(self.facts.entries.values())
            and not self.facts.registrations
            and not self.not_read
        )


def read_once(lake: Lake, survey: Survey, target: TableTarget, *, in_full: bool) -> Reading:
    """Look at one table; whatever goes wrong with it is part of the reading, not an exception.

    One look can miss what is written meanwhile: `second_look.read_table` is what others call.
    """
    now = datetime.now(UTC)
    try:
        return _read(lake, survey, target, now, in_full=in_full)
    except Exception as error:  # noqa: BLE001 - one table's trouble, whatever it is, must not end the pass
        return Reading(target, now, error=failure_of(error, f"Reading {target.uri.s3a}"))


def _read(lake: Lake, survey: Survey, target: TableTarget, now: datetime, *, in_full: bool) -> Reading:
    known = target.known
    if known is None or known.published_version is None or in_full or _is_due(known, now):
        return _read_whole(lake, survey, target, now)
    if known.is_gone:
        return _look_for_its_return(lake, survey, target, known, now)
    return _look(lake, survey, target, known, known.published_version, now)


def _look_for_its_return(lake: Lake, survey: Survey, target: TableTarget, known: KnownTable, now: datetime) -> Reading:
    if not list_whole_log(lake, target) and newest_of_stores(lake, survey, target, known).is_empty:
        return Reading(target, now, unchanged=True)
    return _read_whole(lake, survey, target, now)


def _look(lake: Lake, survey: Survey, target: TableTarget, known: KnownTable, newest: int, now: datetime) -> Reading:
    from_version = tail_start(newest)
    witness = newest_of_stores(lake, survey, target, known)
    if store_is_unknown(known) and any(domain.entries for domain in witness.domains.values()):
        return _read_whole(lake, survey, target, now)
    tail = list_tail(lake, target, from_version)
    asked = asked_domains(known.mechanism, known.lock_domains)
    seen = fingerprint(witness, known.newest_version, asked, survey, tail, target.elsewhere)
    if target.marked(seen) == known.fingerprint:
        return Reading(target, now, unchanged=True)
    listing = read_listing(tail, target.uri.log_key, from_version=from_version, folders_listed=False)
    # What is wrong may lie below the tail, where a partial listing would make it look mended.
    in_trouble = known.state is not State.HEALTHY
    if in_trouble or not known.stands_in(listing) or not _reaches(known, from_version):
        return _read_whole(lake, survey, target, now)
    reading = _judge(lake, survey, target, listing, tail, now, whole_log=False)
    return reading if _tail_tells(reading, known) else _read_whole(lake, survey, target, now)


def _tail_tells(reading: Reading, known: KnownTable) -> bool:
    """Whether a look at the tail decides the verdict.

    The tail holds no temp files, so it does not show what else may guard the table now, or whether a commit waits. Nor
    does it hold the sidecars of a checkpoint, or what is there in place of one that is broken.
    """
    facts = reading.facts
    if facts is None or facts.mechanism is not known.mechanism or store_is_unknown(known):
        return False
    return not facts.broken


def _read_whole(lake: Lake, survey: Survey, target: TableTarget, now: datetime) -> Reading:
    objects = list_whole_log(lake, target)
    listing = read_listing(objects, target.uri.log_key, from_version=0, folders_listed=True)
    return _judge(lake, survey, target, listing, objects, now, whole_log=True)


def _reaches(known: KnownTable, from_version: int) -> bool:
    """Whether a listing from that version on follows what was replayed of the protocol without a gap."""
    return known.protocol is not None and known.protocol.version >= from_version - 1


def _judge(
    lake: Lake,
    survey: Survey,
    target: TableTarget,
    listing: LogListing,
    objects: tuple[ObjectSummary, ...],
    now: datetime,
    *,
    whole_log: bool,
) -> Reading:
    reader = LogReader(lake, target.following(listing), listing)
    published = reader.published_protocol()
    recalled = target.recall(listing.from_version)
    another = is_another_table(recalled, listing.commits, _table_id(target.known), published)
    # What another table left at this place says nothing of this one.
    remembered = target.forgotten() if another else target
    elsewhere = _coordinator_elsewhere(lake, published)
    witness = all_of_stores(lake, survey, remembered, listing.from_version, listing.newest_version)
    if not elsewhere and (named := _named_registration(published)):
        witness = read_named_registration(lake, witness, survey, *named)
    witness = read_singly(lake, witness, survey, target, recalled, listing.newest_version)
    registrations = () if elsewhere else witness.registrations
    protocol = reader.accepted_protocol(registrations)
    lock_domains = _lock_domains(remembered, witness)
    mechanism = decide_mechanism(protocol, bool(lock_domains), listing.temp_files or (), remembered.mechanism)
    facts = TableFacts(
        uri=target.uri.s3a,
        mechanism=mechanism,
        observed_at=now,
        listing=listing,
        entries={domain: _in_window(held.entries, listing) for domain, held in witness.domains.items()},
        registrations=registrations,
        entries_from=max((domain.from_version for domain in witness.domains.values()), default=0),
        protocol=protocol,
        commit_infos=reader.commit_infos(),
        problems=(*reader.problems, *elsewhere, *_store_problems(mechanism, bool(lock_domains), survey, witness)),
        had_entries=bool(lock_domains),
        unread_stores=witness.unread,
        asked_stores=what_was_asked(survey, witness),
        elsewhere=target.elsewhere,
        region=lake.dynamodb.region,
    )
    facts, known = _with_history(_with_start(facts, reader, remembered), recalled, another, target, lake, reader)
    verdict = with_possible_repairs(facts, diagnose(facts), lock_domains, coordinator_of(survey, protocol))
    asked = asked_domains(mechanism, lock_domains)
    return Reading(
        target,
        now,
        facts=facts,
        verdict=verdict,
        lock_domains=lock_domains,
        store_name=_store_name(remembered, facts, witness),
        fingerprint=_fingerprint_of_next_look(witness, verdict, asked, survey, objects, target),
        whole_log=whole_log,
        log_files=len(objects),
        partly_read=frozenset(reader.partly_read),
        recalled=recalled,
        learned=tuple(one for version, one in known.items() if one != recalled.get(version)),
        of_another_table=another is True,
        is_unidentified=another is None,
        missed_before=remembered.known.missed if remembered.known else (),
        has_moved=reader.has_moved,
        not_read=frozenset(target.known.registrations if elsewhere and target.known else witness.not_read),
    )


def _with_start(facts: TableFacts, reader: LogReader, target: TableTarget) -> TableFacts:
    """The facts with what readers start from, and who wrote the table of late where no store keeps writers apart."""
    whole_log = facts.listing.temp_files is not None
    return replace(
        facts,
        broken=reader.broken_checkpoints(whole_log=whole_log),
        hinted=reader.hinted() if whole_log else None,
        engines=target.recall_engines() if facts.mechanism is Mechanism.SINGLE_DRIVER else {},
    )


def _with_history(
    facts: TableFacts,
    recalled: Mapping[int, Provenance],
    another: bool | None,
    target: TableTarget,
    lake: Lake,
    reader: LogReader,
) -> tuple[TableFacts, Mapping[int, Provenance]]:
    """The facts with what is missing and all that is known of its versions, and what this connection knows of them."""
    facts, others = _recalling(facts, recalled, another), target.known_elsewhere(facts.listing.from_version)
    facts = replace(_with_missing_facts(with_elsewhere(facts, others), reader), provenance=facts.provenance)
    known = _provenance(facts, target, lake, another)
    return with_elsewhere(replace(facts, provenance=known), others), known


def _table_id(known: KnownTable | None) -> str:
    return known.protocol.table_id if known is not None and known.protocol is not None else ""


def _recalling(facts: TableFacts, recalled: Mapping[int, Provenance], another: bool | None) -> TableFacts:
    """The facts with what was known before, unless that may be another table's; of one that is, what it left behind."""
    if another is None:
        problem = ReadingProblem(
            "metaData.id", "Without it Levee cannot tell this table from another one made in its place."
        )
        return replace(facts, problems=(*facts.problems, problem))
    if not another:
        return replace(facts, provenance=recalled)
    left = (entry for entries in facts.entries.values() for entry in entries)
    return replace(facts, provenance=of_an_earlier_table(recalled, left))


def _provenance(facts: TableFacts, target: TableTarget, lake: Lake, another: bool | None) -> Mapping[int, Provenance]:
    """What is known after this reading; nothing where it is not known which table this is."""
    if another is None:
        return {}
    before = target.known if target.known is not None and not another else None
    view = LogView(facts)
    around = Surroundings(
        region=lake.dynamodb.region,
        newest_before=before.published_version if before else None,
        before=before.observed_at if before else None,
    )
    known = {version: with_proofs(view, one) for version, one in provenance_of(view, around).items()}
    return known | {version: replace(known[version], copy_etag=etag) for version, etag in proven_copies(view).items()}


def _named_registration(protocol: TableProtocol | None) -> RegistrationKey | None:
    """The registration that the properties of a coordinated table name."""
    if not _is_coordinated(protocol) or protocol is None:
        return None
    table_id = coordinator_table_id(protocol.properties)
    return (coordinator_store_name(protocol.properties), table_id) if table_id else None


def _coordinator_elsewhere(lake: Lake, protocol: TableProtocol | None) -> tuple[ReadingProblem, ...]:
    """An item of the same name in another DynamoDB than the coordinator's would say what is not so."""
    if not _is_coordinated(protocol) or protocol is None:
        return ()
    why = coordinator_elsewhere(protocol.properties, lake.dynamodb.origin, lake.dynamodb.region)
    return (ReadingProblem("registrations", why),) if why else ()


def _is_coordinated(protocol: TableProtocol | None) -> bool:
    return decide_mechanism(protocol, has_entries=False) is Mechanism.COORDINATED_COMMITS


def _lock_domains(target: TableTarget, witness: StoreWitness) -> tuple[LockDomain, ...]:
    """Those of which there are entries or ever were: a day after its commit an entry expires."""
    known = target.known.lock_domains if target.known else ()
    return tuple(sorted({*known, *(domain for domain, held in witness.domains.items() if held.entries)}))


def _store_name(target: TableTarget, facts: TableFacts, witness: StoreWitness) -> str:
    if facts.mechanism is Mechanism.COORDINATED_COMMITS and facts.protocol is not None:
        return coordinator_store_name(facts.protocol.properties)
    if facts.mechanism is Mechanism.LOG_STORE:
        newest = max(witness.domains, key=lambda domain: _newest_entry(witness.domains[domain]), default=None)
        return newest.store if newest else target.known.store_name if target.known else ""
    return ""


def _newest_entry(domain: DomainEntries) -> int:
    return max((entry.version for entry in domain.entries if entry.version is not None), default=-1)


def _with_missing_facts(facts: TableFacts, reader: LogReader) -> TableFacts:
    facts = replace(facts, heads=reader.heads(wanted_heads(facts)))
    facts = replace(facts, commit_infos={**facts.commit_infos, **reader.infos_of(wanted_commits(facts))})
    facts = replace(facts, checksum_transactions=reader.checksum_transactions(wanted_checksums(facts)))
    facts = replace(facts, copy_infos=reader.copy_infos(wanted_infos(facts)))
    compared = reader.comparisons(wanted_comparisons(facts))
    return replace(
        facts,
        equal_bytes={name: one.equal for name, one in compared.items()},
        first_differences={n: one.first_difference for n, one in compared.items() if one.first_difference is not None},
        copies=reader.copies(wanted_copies(facts)),
    )


def _store_problems(
    mechanism: Mechanism, has_entries: bool, survey: Survey, witness: StoreWitness
) -> tuple[ReadingProblem, ...]:
    """Stores that could not be read matter to a table of which no store is known: one of them may hold its entries.

    So do those in which an earlier look has found a registration of the table.
    """
    homeless = mechanism in {Mechanism.SINGLE_DRIVER, Mechanism.UNKNOWN} or (
        mechanism is Mechanism.LOG_STORE and not has_entries
    )
    failed = [
        ReadingProblem(f"DynamoDB table {store.name}", str(store.error))
        for store in survey.stores
        if homeless and store.error is not None and may_hold_items(store.error)
    ]
    asked = [problem for problem in witness.problems if homeless or not problem.place.startswith("DynamoDB")]
    return tuple(dict.fromkeys((*asked, *failed, *witness.not_read.values())))


def _in_window(entries: tuple[LogStoreEntry, ...], listing: LogListing) -> tuple[LogStoreEntry, ...]:
    """Keep what the listing can be compared with, and incomplete entries of any age: nobody else will finish those."""
    return tuple(
        entry
        for entry in entries
        if entry.version is None or entry.version >= listing.from_version or entry.complete is not True
    )


def _fingerprint_of_next_look(
    witness: StoreWitness,
    verdict: Verdict,
    asked: tuple[LockDomain, ...],
    survey: Survey,
    objects: tuple[ObjectSummary, ...],
    target: TableTarget,
) -> str:
    if verdict.published_version is None:
        return ""
    start = tail_start(verdict.published_version)
    newest = max(verdict.accepted_version or 0, verdict.published_version)
    tail = (found for found in objects if in_tail(found, target.uri.log_key, start))
    return target.marked(fingerprint(witness, newest, asked, survey, tail, target.elsewhere))


def _is_due(known: KnownTable, now: datetime) -> bool:
    if known.listed_at is None or now - known.listed_at > WHOLE_LOG_EVERY or known.has_error:
        return True
    if known.state is State.HEALTHY or known.observed_at is None or known.is_gone:
        return False
    young_since = now - YOUNG
    grown_old = (
        known.oldest_unpublished_at is not None
        and known.observed_at - YOUNG < known.oldest_unpublished_at <= young_since
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
