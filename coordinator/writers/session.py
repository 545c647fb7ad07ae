"""A writer's session as its settings make it, what Levee observed of its tables, and how a rule says what is wrong."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coordinator.protocols.verdict import Severity
from coordinator.writers.names import HADOOP, PROPOSED_CLASSES, spellings
from lake.delta.facts import Mechanism

_IMPL = re.compile(r"(?P<prefix>(?:spark\.)?delta\.logStore\.)(?P<scheme>[a-z0-9]+)\.impl")
CLASS_KEYS = ("spark.delta.logStore.class", "delta.logStore.class")


@dataclass(frozen=True, slots=True)
class ObservedPlace:
    """What Levee observed of a table, or of a store and its tables; "" and None where it is not known.

    `scheme` is that of the path its writers use, `region` the stores', `endpoint` the connection's where it is not AWS.
    """

    name: str = ""
    uri: str = ""
    mechanism: Mechanism | None = None
    region: str = ""
    bucket_region: str = ""
    log_store: str = ""
    coordinator: str = ""
    endpoint: str = ""

    @property
    def scheme(self) -> str:
        return self.uri.partition("://")[0] if self.uri else ""


NOTHING_OBSERVED = ObservedPlace()


@dataclass(frozen=True, slots=True)
class PastedSetting:
    """One setting as Spark gets it; a secret is masked.

    `is_known` is False where the value is made only when the text runs; `value` is then "". `is_late`: it is set on a
    session that runs already.
    """

    key: str
    value: str
    is_known: bool = True
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class WriterSession:
    """All settings of one session in the order of their text, and the paths of S3 that stand beside them there.

    `platform` is "" where nothing tells; `brings_delta` says that the text has Delta's own jar brought along without
    naming it. `unread` says which settings it gets besides, that were not read.
    """

    entries: tuple[PastedSetting, ...]
    syntax: str = ""
    platform: str = ""
    uris: tuple[str, ...] = ()
    brings_delta: bool = False
    observed: ObservedPlace = NOTHING_OBSERVED
    unread: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every setting was read: else none can be called missing."""
        return not self.unread

    def of(self, *keys: str) -> tuple[PastedSetting, ...]:
        """The settings of any of these keys, as the text has them."""
        return tuple(entry for entry in self.entries if entry.key in keys)

    def value(self, *keys: str) -> str | None:
        """What counts, the last one; None where it is not set, or known only when it runs."""
        found = self.of(*keys)
        return found[-1].value if found and found[-1].is_known else None

    def log_store(self, suffix: str) -> tuple[PastedSetting, ...]:
        """A setting of the log store, in each of its spellings."""
        return self.of(*spellings(suffix))

    def hadoop(self, key: str) -> tuple[PastedSetting, ...]:
        return self.of(f"{HADOOP}{key}")

    @property
    def impls(self) -> dict[str, PastedSetting]:
        """The log store's class by scheme, as Spark finds it."""
        found = ((_IMPL.fullmatch(entry.key), entry) for entry in self.entries)
        return {match["scheme"]: entry for match, entry in found if match}

    @property
    def classes(self) -> tuple[PastedSetting, ...]:
        """Every setting that names a class of a log store."""
        return (*self.of(*CLASS_KEYS), *self.impls.values())

    @property
    def wants_log_store(self) -> bool:
        if self.observed.mechanism is not None:
            return self.observed.mechanism is Mechanism.LOG_STORE
        named = any("DynamoDBLogStore" in entry.value for entry in self.classes)
        return named or any("DynamoDBLogStore." in entry.key for entry in self.entries)

    @property
    def wants_coordinator(self) -> bool:
        if self.observed.mechanism is not None:
            return self.observed.mechanism is Mechanism.COORDINATED_COMMITS
        names = ("coordinatedCommits.commitCoordinator", "managedCommits.commitOwner")
        return any(name in entry.key for entry in self.entries for name in names)

    @property
    def schemes(self) -> set[str]:
        """The schemes under which this session reaches tables: of the paths beside it, and of the table observed."""
        return {uri.partition("://")[0] for uri in self.uris} | ({self.observed.scheme} - {""})


@dataclass(frozen=True, slots=True)
class SettingChange:
    """`old` becomes `key` with `value`. Without `old` it is new; without `key` the old one is taken out."""

    old: str = ""
    key: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a rule found: the key, what is wrong, what comes of it, what to write, and the changes that do so."""

    key: str
    wrong: str
    effect: str
    instead: str
    changes: tuple[SettingChange, ...] = ()


@dataclass(frozen=True, slots=True)
class DoctorRule:
    """One thing that can be wrong with a session, and where it is known from."""

    name: str
    severity: Severity
    source: str
    check: Callable[[WriterSession], Iterator[Trouble]]


def is_log_store_class(name: str) -> bool:
    """Whether a class is Delta's DynamoDB log store, or one that was meant to be it."""
    return name.endswith("S3DynamoDBLogStore") or name in PROPOSED_CLASSES


def named(entry: PastedSetting, value: str) -> SettingChange:
    """The same key with another value."""
    return SettingChange(entry.key, entry.key, value)


def removed(entry: PastedSetting) -> SettingChange:
    return SettingChange(entry.key)


def set_to(entry: PastedSetting, value: str, wrong: str, effect: str) -> Trouble:
    """The key is right and needs another value."""
    return Trouble(entry.key, wrong, effect, f"{entry.key} = {value}", (named(entry, value),))


def set_besides(key: str, value: str, wrong: str, effect: str) -> Trouble:
    """A setting is missing."""
    return Trouble(key, wrong, effect, f"{key} = {value}", (SettingChange("", key, value),))


def left_out(entry: PastedSetting, wrong: str, effect: str, why: str = "") -> Trouble:
    """The setting does harm, or nothing."""
    return Trouble(entry.key, wrong, effect, f"Leave it out{why}.", (removed(entry),))
