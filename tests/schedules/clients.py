"""Levee's own clients and its reading for a repair, on a memory lake and without a database."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from coordinator.observation.surveys import LogStoreSurvey, Survey, scan_coordinator
from coordinator.observation.targets import KnownTable, TableTarget
from coordinator.protocols.verdict import State
from coordinator.repairs.facts import RepairFacts
from coordinator.repairs.reading import read_for_repair
from lake.aws import access
from lake.aws.access import Access, Lake, open_lake
from lake.delta.facts import LockDomain, Mechanism, Provenance
from lake.delta.uri import TableUri
from tests.schedules.gate import Gate, opened
from tests.schedules.place import COORDINATOR, ENDPOINT, LOG_STORE, PATH, REGION
from tests.schedules.straight import go_straight

DOMAIN = LockDomain(LOG_STORE, PATH)


@contextmanager
def straight_work() -> Iterator[None]:
    """Levee works in one thread, unsigned and without pauses."""
    with pytest.MonkeyPatch.context() as patch:
        go_straight(patch)
        yield


def open_through(gate: Gate) -> Lake:
    """Clients whose requests go through the gate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "Transport", opened(gate))
        return open_lake(Access(REGION, endpoint_url=ENDPOINT, static_credentials=("sandbox", "sandbox")))


def read_table_anew(
    lake: Lake, *, had_entries: bool = False, seen: Mapping[int, Provenance] | None = None
) -> RepairFacts:
    """Read the table as before a repair; `had_entries` and `seen` are what earlier looks left in the database."""
    survey = Survey((LogStoreSurvey(LOG_STORE),), (scan_coordinator(lake.dynamodb, COORDINATOR),))
    known = _known() if had_entries else _known(Mechanism.UNKNOWN, (), "") if seen else None
    target = TableTarget(TableUri.parse(PATH), known, memory=Seen(seen or {}))
    return replace(read_for_repair(lake, survey, target, datetime.now(UTC)), registered_path=PATH)


class Seen:
    """What earlier looks have seen of the versions."""

    def __init__(self, known: Mapping[int, Provenance]) -> None:
        self._known = known

    def versions(self, row_id: int, first: int) -> Mapping[int, Provenance]:
        return self._known

    def engines(self, row_id: int) -> Mapping[str, tuple[int, int]]:
        return {}


def _known(
    mechanism: Mechanism = Mechanism.LOG_STORE, domains: tuple[LockDomain, ...] = (DOMAIN,), store: str = LOG_STORE
) -> KnownTable:
    """A table whose log is read as if for the first time."""
    return KnownTable(
        id=1,
        mechanism=mechanism,
        state=State.HEALTHY,
        fingerprint="",
        published_version=None,
        accepted_version=None,
        newest_etag="",
        protocol=None,
        lock_domains=domains,
        store_name=store,
        coordinator_table_id="",
        listed_at=None,
        observed_at=None,
        oldest_unpublished_at=None,
        has_error=False,
        is_gone=False,
    )
