"""Where a table is, as Spark is given it: in the spelling of its writers."""

from collections.abc import Iterable

from coordinator.coordination.situation import Situation
from coordinator.protocols.registrations import current_registration
from lake.delta.facts import Mechanism, TableFacts
from lake.delta.uri import same_table


def location_of(situation: Situation) -> str:
    """The path as the table's writers spell it: coordinator and log store compare it letter for letter."""
    facts = situation.facts
    if facts is None:
        return situation.uri
    if facts.mechanism is Mechanism.COORDINATED_COMMITS:
        return _same(situation.uri, _registered_path(facts))
    if situation.has_log_store:
        return _same(situation.uri, _entry_paths(situation))
    return situation.uri


def path_of_entries(situation: Situation) -> str:
    """The `tablePath` of the newest entry; of a quiet table, whose entries have expired, one known before."""
    return next(iter(_entry_paths(situation)), situation.uri)


def _entry_paths(situation: Situation) -> list[str]:
    held = situation.facts.entries if situation.facts else {}
    newest = {domain: max((one.version or 0 for one in entries), default=-1) for domain, entries in held.items()}
    domains = [*sorted(newest, key=lambda domain: -newest[domain]), *situation.lock_domains]
    return [domain.path for domain in domains]


def _registered_path(facts: TableFacts) -> list[str]:
    current = current_registration(facts)
    return [current.path] if current else []


def _same(uri: str, spellings: Iterable[str]) -> str:
    """A spelling of the same table that Hadoop's S3A serves; s3n has no file system any more."""
    return next((one for one in spellings if same_table(one, uri) and one.startswith(("s3a://", "s3://"))), uri)
