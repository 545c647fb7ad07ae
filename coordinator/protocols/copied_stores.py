"""Log stores that hold nothing but copies of another one's entries, as a restored backup does.

No two writers choose one `tempPath`, since each ends in a random UUID: an item of one store that names the same file as
one of another was copied. A store of which every item was copied has given no version away since. It is a second lock
all the same for whoever is set to it, and is one in use as soon as it holds an item of its own, or goes on although the
other one was seen to accept commits before it.
"""

from collections.abc import Mapping, Sequence

from coordinator.protocols.log_store_entries import SeenEntry, own_domains
from coordinator.protocols.log_view import LogView

Items = Mapping[tuple[str, int], SeenEntry]
"""The entries of one store by path and version."""


def copied_stores(view: LogView, seen: Sequence[SeenEntry]) -> dict[str, str]:
    """Each store that holds nothing but copies, with the one that they are of. One store at least is left out."""
    held = {store: _items(seen, store) for store in sorted({domain.store for domain in own_domains(view)})}
    found: dict[str, str] = {}
    for store, items in held.items():
        if not _is_whole(view, store, items):
            continue
        originals = (other for other in held if other != store and other not in found)
        original = next((one for one in originals if _is_copy(view, store, items, one, held[one])), None)
        if original is not None:
            found[store] = original
    return found


def _items(seen: Sequence[SeenEntry], store: str) -> Items:
    return {(one.domain.path, one.version): one for one in seen if one.domain.store == store}


def _is_whole(view: LogView, store: str, items: Items) -> bool:
    """Whether every item of the store can be compared: a malformed one may be anything."""
    entries = [one for domain, of_it in own_domains(view).items() if domain.store == store for one in of_it]
    return len(entries) == len(items) > 0 and all(one.temp_path and not one.problems for one in entries)


def _is_copy(view: LogView, store: str, items: Items, other: str, others: Items) -> bool:
    if not _are_copied(view, items, other, others):
        return False
    first = _first_seen_in(view, items, others)
    if _newest(others) > _newest(items):
        return first != store
    is_mutual = _are_copied(view, others, store, items)
    return not is_mutual or first == other or (first != store and store > other)


def _are_copied(view: LogView, items: Items, other: str, others: Items) -> bool:
    """Whether the other store holds each of these items, or held it before TTL took it."""
    return all(_is_same(one, others.get(at)) or _has_left(view, one, other) for at, one in items.items())


def _is_same(one: SeenEntry, other: SeenEntry | None) -> bool:
    return other is not None and one.entry.temp_path == other.entry.temp_path


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


def _newest(items: Items) -> int:
    return max((version for _, version in items), default=-1)
