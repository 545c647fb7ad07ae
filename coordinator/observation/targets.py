"""What a pass looks at: a table's root, and what the database knows of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol

from django.db.models import OuterRef, QuerySet, Subquery

from coordinator.models import Commit, DeltaTable
from coordinator.protocols.absence import Missed
from coordinator.protocols.provenance import KnownElsewhere
from coordinator.protocols.verdict import Absence, State
from lake.delta.coordinator_properties import coordinator_table_id
from lake.delta.facts import (
    HeldElsewhere,
    LockDomain,
    LogListing,
    Mechanism,
    Provenance,
    ReadingProblem,
    TableProtocol,
)
from lake.delta.names import NameKind, parse_name
from lake.delta.uri import TableUri

MOST_UNUSED = 20
"""Registrations of one table without a commit that are looked up where their DynamoDB table is not scanned."""


CUT = "Only the first"
"""How the problem of a commit begins that is too large to be read to its end: nothing is wrong with it."""


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table as the database holds it since the last pass.

    `newest_etag` is that of the newest published version's file; "" where it is not known. `missed` is what its last
    look did not see. `registrations` are those that were found of its place, by DynamoDB table and `tableId`.
    `checkpoint_version` is the newest whole checkpoint, `unreadable` the commits that could not be read, ascending.
    """

    id: int
    mechanism: Mechanism
    state: State
    fingerprint: str
    published_version: int | None
    accepted_version: int | None
    newest_etag: str
    protocol: TableProtocol | None
    lock_domains: tuple[LockDomain, ...]
    store_name: str
    coordinator_table_id: str
    listed_at: datetime | None
    observed_at: datetime | None
    oldest_unpublished_at: datetime | None
    has_error: bool
    is_gone: bool
    missed: tuple[Missed, ...] = ()
    registrations: tuple[tuple[str, str], ...] = ()
    checkpoint_version: int | None = None
    unreadable: tuple[int, ...] = ()

    @property
    def newest_version(self) -> int:
        """The newest version that was accepted by anyone, 0 before the first."""
        return max(self.accepted_version or 0, self.published_version or 0)

    def stands_in(self, listing: LogListing) -> bool:
        """Whether a log goes on from the newest published version that is known: nothing of it was put anew.

        It does not where that version is gone or another file, or where even the oldest commit listed was written
        since the last look although that version was there by then. Files are put anew by a rewind, a restore or a
        repair as well as by a table made again at this place: only `is_another_table` tells them apart.
        """
        if self.published_version is None:
            return True
        if not listing.commits and self.published_version in listing.checkpoints:
            return True
        found = listing.commits.get(self.published_version)
        if found is None or (self.newest_etag and found.etag[: len(self.newest_etag)] != self.newest_etag):
            return False
        oldest = listing.commits[min(listing.commits)]
        return self.observed_at is None or oldest.modified_at <= self.observed_at

    def paths_in(self, store: str) -> list[str]:
        """Each `tablePath` under which the store holds, or held, entries of the table."""
        return [domain.path for domain in self.lock_domains if domain.store == store]


@dataclass(frozen=True, slots=True)
class RowElsewhere:
    """The row that another connection keeps of a table; `delta_id` is the `metaData.id` that it read, "" for none.

    `locks` are its lock domains in stores that this connection does not reach, and `mark` changes with what it knows.
    """

    id: int
    connection: str
    delta_id: str
    locks: tuple[LockDomain, ...]
    mark: str


Engines = Mapping[str, tuple[int, int]]
"""What wrote commits of the last seven days, as its commit files say, each with its first and last version."""


class Memory(Protocol):
    """What the database knows of a table by the id of its row; asked by whoever reads, in whichever thread."""

    def versions(self, row_id: int, first: int) -> Mapping[int, Provenance]:
        """What is known of the versions from one on."""

    def engines(self, row_id: int) -> Engines: ...


@dataclass(frozen=True, slots=True)
class TableTarget:
    """One table to look at in a pass; `known` is None for a table seen for the first time.

    `elsewhere` is what other connections hold of it in stores that this one does not reach, and `rows_elsewhere` are
    the rows that they keep of it. Without a `memory` nothing is known of its versions.
    """

    uri: TableUri
    known: KnownTable | None = None
    elsewhere: tuple[HeldElsewhere, ...] = ()
    rows_elsewhere: tuple[RowElsewhere, ...] = ()
    memory: Memory | None = None

    def recall(self, from_version: int) -> Mapping[int, Provenance]:
        """What is known of the table's versions from one on."""
        return self.memory.versions(self.known.id, from_version) if self.memory and self.known else {}

    def recall_engines(self) -> Engines:
        return self.memory.engines(self.known.id) if self.memory and self.known else {}

    def marked(self, fingerprint: str) -> str:
        """A fingerprint of what this connection sees, as one that changes with what the others know as well."""
        marks = "\n".join(row.mark for row in self.rows_elsewhere)
        return sha256(f"{fingerprint}\n{marks}".encode()).hexdigest()[:32] if marks else fingerprint

    def known_elsewhere(self, from_version: int) -> tuple[KnownElsewhere, ...]:
        """What other connections know of the table's versions from one on."""
        if self.memory is None:
            return ()
        return tuple(
            KnownElsewhere(row.connection, row.delta_id, self.memory.versions(row.id, from_version), row.locks)
            for row in self.rows_elsewhere
        )

    @property
    def place(self) -> tuple[str, str]:
        return self.uri.bucket, self.uri.key

    @property
    def mechanism(self) -> Mechanism:
        return self.known.mechanism if self.known else Mechanism.UNKNOWN

    def following(self, listing: LogListing) -> "TableTarget":
        """The same table for reading its log on, or from its beginning where that does not go on from what is known."""
        if self.known is None or self.known.stands_in(listing):
            return self
        return replace(self, known=replace(self.known, published_version=None, protocol=None))

    def forgotten(self) -> "TableTarget":
        """The same place without what another table left there: only for a log that is proven to be another one's."""
        if self.known is None:
            return self
        known = replace(self.known, published_version=None, protocol=None, lock_domains=(), store_name="", missed=())
        return replace(self, known=replace(known, mechanism=Mechanism.UNKNOWN), memory=None)


@dataclass(slots=True)
class TargetBook:
    """Tables of one connection by place, so that a path named in three ways is read once.

    `scratch` are places of Levee's own scratch tables, which are nobody's.
    """

    known: Mapping[tuple[str, str], KnownTable]
    elsewhere: Mapping[tuple[str, str], tuple[HeldElsewhere, ...]]
    rows_elsewhere: Mapping[tuple[str, str], tuple[RowElsewhere, ...]]
    memory: Memory
    scratch: frozenset[tuple[str, str]] = frozenset()
    targets: dict[tuple[str, str], TableTarget] = field(default_factory=dict)

    def target(self, uri: TableUri) -> TableTarget:
        """What a reading of the table starts from, known or not."""
        place = (uri.bucket, uri.key)
        held, rows = self.elsewhere.get(place, ()), self.rows_elsewhere.get(place, ())
        return TableTarget(uri, self.known.get(place), held, rows, self.memory)

    def add(self, uri: TableUri) -> None:
        place = (uri.bucket, uri.key)
        if place not in self.targets and place not in self.scratch:
            self.targets[place] = self.target(uri)

    def add_known(self) -> None:
        """Every table the database holds is looked at, so that one that vanished is noticed."""
        for bucket, key in self.known:
            self.add(TableUri("s3a", bucket, key))

    def keys_of(self, bucket: str) -> set[str]:
        """Keys of the bucket at which tables are known to stand."""
        return {key for (held, key), table in self.known.items() if held == bucket and not table.is_gone}


def known_tables(tables: QuerySet[DeltaTable]) -> dict[tuple[str, str], KnownTable]:
    """Return what the database knows by (bucket, key); one query."""
    newest = Commit.objects.filter(table=OuterRef("pk"), version=OuterRef("published_version")).values("etag")[:1]
    rows: Iterable[DeltaTable] = tables.select_related("store").annotate(newest_etag=Subquery(newest))
    return {(table.bucket, table.prefix): _known(table) for table in rows}


def _known(table: DeltaTable) -> KnownTable:
    return KnownTable(
        id=table.pk,
        mechanism=Mechanism(table.mechanism),
        state=State(table.state),
        fingerprint=table.fingerprint,
        published_version=table.published_version,
        accepted_version=table.accepted_version,
        newest_etag=getattr(table, "newest_etag", None) or "",
        protocol=_protocol(table),
        lock_domains=table.domains,
        store_name=table.store.name if table.store else "",
        coordinator_table_id=coordinator_table_id(table.properties),
        listed_at=table.listed_at,
        observed_at=table.observed_at,
        oldest_unpublished_at=table.oldest_unpublished_at,
        has_error=bool(table.error_code),
        is_gone=table.gone_at is not None,
        missed=tuple(Missed(code, Absence(what, first, last)) for code, what, first, last in table.missed),
        registrations=_registrations(table),
        checkpoint_version=table.checkpoint_version,
        unreadable=_unreadable(table),
    )


def _unreadable(table: DeltaTable) -> tuple[int, ...]:
    """Versions of the published commits in which something could not be read, whole as they are."""
    problems = [ReadingProblem(**problem) for problem in table.problems]
    names = (parse_name(one.place.partition(" ")[0]) for one in problems if not one.reason.startswith(CUT))
    return tuple(sorted({n.version for n in names if n.kind is NameKind.COMMIT and n.version is not None}))


def _registrations(table: DeltaTable) -> tuple[tuple[str, str], ...]:
    """Those that may have accepted commits, and of the others, which may be many, some."""
    unused = [one for one in table.registrations if one.get("has_accepted_commits") is False]
    used = [one for one in table.registrations if one not in unused]
    return tuple((one.get("store", ""), one.get("table_id", "")) for one in (*used, *unused[:MOST_UNUSED]))


def _protocol(table: DeltaTable) -> TableProtocol | None:
    if table.protocol_version_read is None or table.reader_version is None or table.writer_version is None:
        return None
    return TableProtocol(
        version=table.protocol_version_read,
        reader_version=table.reader_version,
        writer_version=table.writer_version,
        reader_features=tuple(table.reader_features),
        writer_features=tuple(table.writer_features),
        table_id=table.delta_id,
        name=table.delta_name,
        partition_columns=tuple(table.partition_columns),
        properties=table.properties,
        created_at=table.delta_created_at,
    )
