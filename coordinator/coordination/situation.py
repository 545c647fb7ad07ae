"""What is known when an act is checked: plain facts, so that checking needs neither the lake nor Spark."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from changes.plan import ChangePlan
from coordinator.coordination.checks import CoordinationRequest, Operation
from coordinator.coordination.features import COORDINATED, features_of
from coordinator.protocols.registrations import current_registration
from coordinator.repairs.facts import RepairFacts
from lake.delta.facts import LockDomain, Mechanism, TableFacts, TableProtocol
from lake.delta.uri import same_table


@dataclass(frozen=True, slots=True)
class DescribedStore:
    """A DynamoDB table as asked just now. `kind` is as declared, "" where it is not; `error` where it was refused."""

    name: str
    kind: str = ""
    description: Mapping[str, Any] | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class SparkFacts:
    """The Spark of this deployment. `problem` says why it cannot be used at all, "" where it can."""

    is_local: bool = True
    has_log_store_class: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RecentWriter:
    """An engine as it names itself in commits, how many of the recent ones are its, and when the last was."""

    engine: str
    commits: int
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """A table and its surroundings, read for one act.

    `region` and `endpoint` are the connection's: where its DynamoDB answers. `own_endpoint` says that it is not AWS
    itself. `bucket_region` is where the bucket answered, "" where it was not asked. `store` is the coordinator that is
    asked for, or that the table names. `repair` is None where the table could not be read (`error`) or is not there.
    `busy` names a job that works on the table. `occupied` says what lies already at the place of a table to be created.
    """

    change: CoordinationRequest
    uri: str
    region: str
    endpoint: str
    own_endpoint: bool = False
    bucket_region: str = ""
    store: DescribedStore | None = None
    repair: RepairFacts | None = None
    plans: tuple[ChangePlan, ...] = ()
    error: str = ""
    spark: SparkFacts = field(default_factory=SparkFacts)
    writers: tuple[RecentWriter, ...] = ()
    lock_domains: tuple[LockDomain, ...] = ()
    log_store: str = ""
    busy: str = ""
    occupied: str = ""

    @property
    def operation(self) -> Operation:
        return self.change.operation

    @property
    def facts(self) -> TableFacts | None:
        return self.repair.facts if self.repair else None

    @property
    def protocol(self) -> TableProtocol | None:
        return self.facts.protocol if self.facts else None

    @property
    def features(self) -> frozenset[str]:
        """Reader and writer features together; none where the protocol was not read."""
        return features_of(self.protocol) if self.protocol else frozenset()

    @property
    def is_coordinated(self) -> bool:
        return self.facts is not None and self.facts.mechanism is Mechanism.COORDINATED_COMMITS

    @property
    def is_half_dropped(self) -> bool:
        """Whether a drop stopped between its two commits: the properties are gone, the protocol names the feature."""
        return self.facts is not None and not self.is_coordinated and COORDINATED in self.features

    @property
    def properties(self) -> Mapping[str, str]:
        return self.protocol.properties if self.protocol else {}

    @property
    def has_log_store(self) -> bool:
        """Whether writers have committed here through a log store."""
        return bool(self.lock_domains)

    @property
    def log_store_in_use(self) -> str:
        """The DynamoDB table of the log store that plain commits go through; "" for none."""
        return self.log_store if self.has_log_store else ""

    @property
    def location(self) -> str:
        """The path as the table's writers spell it: coordinator and log store compare it letter for letter."""
        if self.facts is not None and self.is_coordinated:
            current = current_registration(self.facts)
            return _same(self.uri, [current.path] if current else [])
        return _same(self.uri, _entry_paths(self)) if self.has_log_store else self.uri

    @property
    def path_of_entries(self) -> str:
        """The `tablePath` of the newest entry; of a quiet table, whose entries have expired, one known before."""
        return next(iter(_entry_paths(self)), self.uri)


def _entry_paths(situation: Situation) -> list[str]:
    held = situation.facts.entries if situation.facts else {}
    newest = {domain: max((one.version or 0 for one in entries), default=-1) for domain, entries in held.items()}
    domains = [*sorted(newest, key=lambda domain: -newest[domain]), *situation.lock_domains]
    return [domain.path for domain in domains]


def _same(uri: str, spellings: Iterable[str]) -> str:
    """A spelling of the same table that Hadoop's S3A serves; s3n has no file system any more."""
    return next((one for one in spellings if same_table(one, uri) and one.startswith(("s3a://", "s3://"))), uri)
