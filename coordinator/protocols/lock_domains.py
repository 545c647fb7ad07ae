"""One table, several locks: entries of it in several log stores, or under several spellings of its path.

Writers exclude each other only within one DynamoDB table and one `tablePath`. Two stores, and two spellings in one,
both let two commits win one version, and nothing tells the loser.

A log store may hold nothing but copies of another one's entries, as a restored backup does. No two writers choose one
`tempPath`, since each ends in a random UUID: an item of one store that names the same file as one of another was
copied. A store of which every item was copied has given no version away since. It is a second lock all the same for
whoever is set to it, and is one in use as soon as it holds an item of its own, or goes on although the other one was
seen to accept commits before it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coordinator.protocols.judgement import MOST_FINDINGS, accepted_twice
from coordinator.protocols.log_store_entries import SeenEntry, own_domains
from coordinator.protocols.log_view import LogView
from coordinator.protocols.names import is_moved_temp
from coordinator.protocols.verdict import Finding, Severity, State, attention, unsafe
from coordinator.protocols.wording import counted, duration, joined, thousands
from lake.delta.facts import HeldElsewhere, LockDomain

DELTA_RS = "delta-rs"
UNKNOWN_WRITERS = "Unknown"
MOST_WRITERS = 3
"""Engines of one store that a sentence names."""

Items = Mapping[tuple[str, int], SeenEntry]
"""The entries of one store by path and version."""


def domains_in_use(view: LogView) -> tuple[LockDomain, ...]:
    """Every lock domain of the table, sorted."""
    return tuple(sorted(own_domains(view)))


def lock_domain_findings(view: LogView, seen: Sequence[SeenEntry]) -> list[Finding]:
    """What is wrong where several locks guard one table, and each version that two of them gave away."""
    domains = domains_in_use(view)
    if len(domains) + len(view.facts.elsewhere if domains else ()) < 2:
        return []
    by_store: defaultdict[str, list[LockDomain]] = defaultdict(list)
    for domain in domains:
        by_store[domain.store].append(domain)
    found = _several_stores(view, seen, by_store)
    found += [_two_spellings(view, seen, held) for held in by_store.values() if len(held) > 1]
    # One for each version that two locks gave to two commits, the newest; a copied item is no second one.
    contested = sorted(contested_versions(seen).items())
    return [*found, *(_twice(view, version, entries) for version, entries in contested[-MOST_FINDINGS:])]


def _several_stores(
    view: LogView, seen: Sequence[SeenEntry], by_store: Mapping[str, Sequence[LockDomain]]
) -> list[Finding]:
    """Stores that accept commits beside each other are critical; copies, and what was read long ago, may be none."""
    copies = copied_stores(view, seen) if len(by_store) > 1 else {}
    in_use = {store: held for store, held in by_store.items() if store not in copies}
    lately = [one for one in view.facts.elsewhere if _may_live(view, one)]
    found = [_two_stores(view, seen, in_use, lately)] if len(in_use) + len(lately) > 1 else []
    found += [_read_long_ago(view, one) for one in view.facts.elsewhere if one not in lately]
    return [*found, *([_copied(view, seen, by_store, copies)] if copies else [])]


def _may_live(view: LogView, one: HeldElsewhere) -> bool:
    """Whether entries that another connection read can still be there: an entry expires, and leaves by TTL."""
    now = view.facts.observed_at
    expires_later = one.expires_at is not None and one.expires_at > now.timestamp()
    return expires_later or (now - one.read_at).total_seconds() <= view.facts.ttl_seconds


def contested_versions(seen: Iterable[SeenEntry]) -> Mapping[int, Sequence[SeenEntry]]:
    """Versions that several lock domains have given to different commits, with their entries."""
    by_version: defaultdict[int, list[SeenEntry]] = defaultdict(list)
    for one in seen:
        by_version[one.version].append(one)
    return {v: held for v, held in by_version.items() if len({one.entry.temp_path for one in held}) > 1}


def writers_of(view: LogView, seen: Sequence[SeenEntry], domain: LockDomain) -> tuple[str, ...]:
    """Engines that commits of a domain name themselves, sorted; empty where none is known.

    A temp file says who wrote it. A published file does where no other domain has accepted its version.
    """
    elsewhere = {one.version for one in seen if one.domain != domain}
    found: set[str] = set()
    for one in seen:
        if one.domain == domain:
            found |= set(_engines(view, one, is_sole=one.version not in elsewhere))
    return tuple(sorted(found))


def _engines(view: LogView, seen: SeenEntry, *, is_sole: bool) -> Iterator[str]:
    own = view.facts.copy_infos.get(seen.entry.temp_path or "")
    published = view.facts.commit_infos.get(seen.version) if is_sole and seen.file.present else None
    named = [info.engine for info in (own, published) if info and info.engine]
    if named:
        yield from named
    elif is_moved_temp(seen.entry.temp_path or ""):
        yield DELTA_RS


def _two_stores(
    view: LogView,
    seen: Sequence[SeenEntry],
    by_store: Mapping[str, Sequence[LockDomain]],
    elsewhere: Sequence[HeldElsewhere],
) -> Finding:
    told = [_in_words(view, seen, store, domains) for store, domains in sorted(by_store.items())]
    told += [_elsewhere_in_words(one) for one in elsewhere]
    stores = len(by_store) + len({(one.connection, one.domain.store) for one in elsewhere})
    return unsafe(
        "two-log-stores",
        f"{counted(stores, 'log store')} accept commits of this table and do not exclude each other: {joined(told)}.",
        meaning="Two writers, one through each store, can both win a version; the loser's rows are gone without an "
        "error. Stop the writers and set all of them to one store; finished entries of the other leave by TTL. Until "
        "then nothing that belongs to the table is deleted.",
        evidence={
            "lock_domains": [
                *_evidence(view, seen, [one for held in by_store.values() for one in held]),
                *(_elsewhere_evidence(one) for one in elsewhere),
            ]
        },
    )


def _read_long_ago(view: LogView, one: HeldElsewhere) -> Finding:
    """Entries of another connection that have expired since it read them, whatever has come after them."""
    age = duration((view.facts.observed_at - one.read_at).total_seconds())
    return attention(
        "log-store-elsewhere",
        f"Connection {one.connection} read entries of this table up to {thousands(one.newest)} in {one.domain.store} "
        f"in {one.region}, last {age} ago, which is longer than they live. Whether writers still commit through it is "
        "not known.",
        meaning="Two stores do not exclude each other. Look at the table through that connection again; if it is not "
        "used any more, remove it. Until then nothing that belongs to the table is deleted.",
        evidence={"lock_domains": [_elsewhere_evidence(one)]},
    )


def _copied(
    view: LogView,
    seen: Sequence[SeenEntry],
    by_store: Mapping[str, Sequence[LockDomain]],
    copies: Mapping[str, str],
) -> Finding:
    told = joined([f"{store} holds nothing but copies of entries of {copies[store]}" for store in copies])
    return attention(
        "copied-log-store",
        f"{told}: no commit of this table was seen to go through it.",
        meaning="Two stores do not exclude each other. Check that no writer is set to the copy, and remove it, or its "
        "declaration, once it is not needed. Until then nothing that belongs to the table is deleted.",
        evidence={"lock_domains": _evidence(view, seen, [one for store in copies for one in by_store[store]])},
    )


def guarded_elsewhere(view: LogView) -> Finding:
    """A table without entries here whose commits another connection sees accepted."""
    told = joined([_elsewhere_in_words(one) for one in view.facts.elsewhere])
    return Finding(
        "guarded-elsewhere",
        f"Commits of this table are accepted where this connection does not look: {told}.",
        meaning="Only published versions are known here. Look at the table through that connection, or declare its "
        "log store here.",
        evidence={"lock_domains": [_elsewhere_evidence(one) for one in view.facts.elsewhere]},
        severity=Severity.INFO,
        state=State.NOT_CHECKED,
    )


def _two_spellings(view: LogView, seen: Sequence[SeenEntry], domains: Sequence[LockDomain]) -> Finding:
    paths = [domain.path for domain in domains]
    return unsafe(
        "two-lock-domains",
        f"Entries exist under {joined(paths)}. They mean one table and do not exclude each other.",
        meaning="Two writers, one under each spelling, can both win a version; the loser's rows are gone without an "
        "error. All writers have to use one spelling; delta-rs stores a path percent-encoded, and then shares no lock "
        "with Spark.",
        evidence={"lock_domains": _evidence(view, seen, domains)},
    )


def _in_words(view: LogView, seen: Sequence[SeenEntry], store: str, domains: Sequence[LockDomain]) -> str:
    writers = sorted({name for domain in domains for name in writers_of(view, seen, domain)})
    newest = max((one.version for one in seen if one.domain in domains), default=None)
    by = by_writers(writers)
    where = f" in {view.facts.region}" if view.facts.elsewhere else ""
    return f"{store}{where} up to {thousands(newest) if newest is not None else UNKNOWN_WRITERS} {by}"


def by_writers(writers: Sequence[str]) -> str:
    """Who commits, as a sentence says it."""
    more = ", and others" if len(writers) > MOST_WRITERS else ""
    return f"by {joined(writers[:MOST_WRITERS])}{more}" if writers else f"by writers {UNKNOWN_WRITERS}"


def _elsewhere_in_words(one: HeldElsewhere) -> str:
    return f"{one.domain.store} in {one.region} up to {thousands(one.newest)}, as connection {one.connection} read it"


def _elsewhere_evidence(one: HeldElsewhere) -> dict[str, object]:
    return {
        "store": one.domain.store,
        "path": one.domain.path,
        "newest_entry": one.newest,
        "region": one.region,
        "connection": one.connection,
        "read_at": one.read_at.isoformat(),
    }


def _evidence(view: LogView, seen: Sequence[SeenEntry], domains: Iterable[LockDomain]) -> list[dict[str, object]]:
    return [
        {
            "store": domain.store,
            "path": domain.path,
            "newest_entry": max((one.version for one in seen if one.domain == domain), default=None),
            "writers": list(writers_of(view, seen, domain)) or [UNKNOWN_WRITERS],
        }
        for domain in domains
    ]


def _twice(view: LogView, version: int, held: Sequence[SeenEntry]) -> Finding:
    several = len({one.domain.store for one in held}) > 1
    names = [one.domain.store if several else one.domain.path for one in held]
    equal = [
        name for name, one in zip(names, held, strict=True) if one.temp and view.equal(version, one.file, one.temp)
    ]
    if not view.file(version).present:
        rest = "Neither is published."
    elif len(equal) == 1:
        rest = f"…{version}.json is that of {equal[0]}: rows of the other are not in the table."
    else:
        rest = f"Which of them …{version}.json holds is not known: their temp files were not there to be compared."
    return accepted_twice(version, f" under {joined(names)}. {rest}", {"entries": [one.evidence for one in held]})


def copied_stores(view: LogView, seen: Sequence[SeenEntry]) -> dict[str, str]:
    """Each store that holds nothing but copies, with the one that they are of. One store at least is left out."""
    held: dict[str, dict[tuple[str, int], SeenEntry]] = {domain.store: {} for domain in sorted(own_domains(view))}
    for one in seen:
        held[one.domain.store][one.domain.path, one.version] = one
    found: dict[str, str] = {}
    for store, items in held.items():
        if not _is_whole(view, store, items):
            continue
        originals = (other for other in held if other != store and other not in found)
        original = next((one for one in originals if _is_copy(view, store, items, one, held[one])), None)
        if original is not None:
            found[store] = original
    return found


def _is_whole(view: LogView, store: str, items: Items) -> bool:
    """Whether every item of the store can be compared: a malformed one may be anything."""
    entries = [one for domain, of_it in own_domains(view).items() if domain.store == store for one in of_it]
    return len(entries) == len(items) > 0 and all(one.temp_path and not one.problems for one in entries)


def _is_copy(view: LogView, store: str, items: Items, other: str, others: Items) -> bool:
    if not _are_copied(view, items, other, others):
        return False
    first = _first_seen_in(view, items, others)
    newest, of_others = (max((version for _, version in of), default=-1) for of in (items, others))
    if of_others > newest:
        return first != store
    is_mutual = _are_copied(view, others, store, items)
    return not is_mutual or first == other or (first != store and store > other)


def _are_copied(view: LogView, items: Items, other: str, others: Items) -> bool:
    """Whether the other store holds each of these items, or held it before TTL took it."""
    return all(
        (at in others and one.entry.temp_path == others[at].entry.temp_path) or _has_left(view, one, other)
        for at, one in items.items()
    )


def _has_left(view: LogView, one: SeenEntry, other: str) -> bool:
    """Whether the item has expired, and the other store was seen to accept its file: a copy has no TTL at first."""
    known, expires = view.facts.provenance.get(one.version), one.entry.expire_time
    if known is None or known.disputed or known.store != other or not known.accepted(one.entry.temp_path or ""):
        return False
    return bool(one.entry.complete) and expires is not None and expires < view.facts.observed_at.timestamp()


def _first_seen_in(view: LogView, items: Items, others: Items) -> str:
    """The store that was seen first to accept the newest version that both hold; "" where nothing tells."""
    shared = sorted((version for _, version in items.keys() & others.keys()), reverse=True)
    known = (view.facts.provenance.get(version) for version in shared)
    return next((one.store for one in known if one is not None and one.store), "")
