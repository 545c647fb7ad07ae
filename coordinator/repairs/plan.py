"""Plans of repairs: what would be done about a finding, call by call, or why nothing may be done."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from coordinator.protocols.verdict import Verdict
from coordinator.repairs.calls import Call, Item
from lake.delta.facts import TableFacts


class RepairName(StrEnum):
    """The repairs there are; findings name them."""

    PUBLISH_COMMIT = "publish-commit"
    COMPLETE_ENTRY = "complete-entry"
    REPUBLISH_FILE = "republish-file"
    BACKFILL = "backfill"
    CLEAR_ENTRIES = "clear-entries"
    PUBLISH_ACCEPTED_STAGED_FILE = "publish-accepted-staged-file"
    RAISE_COORDINATOR_VERSION = "raise-coordinator-version"
    RE_REGISTER = "re-register"
    REMOVE_ORPHANS = "remove-orphans"
    ABANDON_COMMIT = "abandon-commit"


@dataclass(frozen=True, slots=True)
class FileCheck:
    """What reading a whole file said: `name` is relative to `_delta_log/`, `size` in bytes, `lines` its actions.

    `problems` is empty where every line parses and the first action may begin a commit. `in_commit_timestamp` is in
    epoch milliseconds, None where the first line has none.
    """

    name: str
    size: int
    etag: str
    sha256: str
    lines: int
    in_commit_timestamp: int | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepairFacts:
    """All that planning knows of one table, read anew for it.

    `stores` maps each lock domain (tablePath) to its DynamoDB table; `coordinator` is the DynamoDB table that the
    properties name, "" where they name none. `raw_registrations` are the items as read, by tableId. `files` are the
    files that `wanted_files` asked for; None stands for one that is absent.
    """

    facts: TableFacts
    verdict: Verdict
    stores: Mapping[str, str] = field(default_factory=dict)
    coordinator: str = ""
    raw_registrations: Mapping[str, Item] = field(default_factory=dict)
    files: Mapping[str, FileCheck | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """One repair of one finding: `calls` are exactly what will be sent, in this order.

    `consequences` are sentences for the page: what it does, what it leaves alone, what happens on a race. `loses` names
    what can be lost; where it is not empty the repair needs an admin, the table's name typed, and saves item and
    objects aside first.
    """

    repair: RepairName
    code: str
    version: int | None
    uri: str
    title: str
    calls: tuple[Call, ...]
    consequences: tuple[str, ...]
    loses: str = ""

    @property
    def can_lose(self) -> bool:
        return bool(self.loses)

    @property
    def digest(self) -> str:
        """A hash of the calls with their conditions: a plan shown and a plan executed are the same if it is equal."""
        return hashlib.sha256(repr((self.uri, self.repair, self.calls)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A repair that must not be made now, and the reason in one sentence."""

    repair: RepairName
    code: str
    version: int | None
    uri: str
    title: str
    reason: str
