"""Plans of repairs: what would be done about a finding, call by call, or why nothing may be done."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from coordinator.protocols.verdict import Verdict
from coordinator.repairs.calls import Call, DeleteLitter, Item, SaveAside
from lake.delta.facts import LockDomain, TableFacts

_RESCUE = re.compile(r"^((?:.*/)?_levee_rescue/)([^/]+)/")


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
    epoch milliseconds, None where the first line has none; `transaction` is its `txnId`, "" where it has none. Of a
    checksum file `lines` is 1, and both are its own. `md5` is that of its bytes in hexadecimal, as provenance holds it.
    `registration` is the tableId that its metaData names.
    """

    name: str
    size: int
    etag: str
    sha256: str
    lines: int
    in_commit_timestamp: int | None = None
    problems: tuple[str, ...] = ()
    registration: str = ""
    transaction: str = ""
    md5: str = ""


@dataclass(frozen=True, slots=True)
class RepairFacts:
    """All that planning knows of one table, read anew for it.

    `lock_domains` are all that the table has, and had since it is known: entries expire. `coordinator` is the DynamoDB
    table that the properties name, "" where they name none of this connection. `raw_registrations` are the items as
    read, by DynamoDB table and tableId. `files` are the files that `wanted_files` asked for; None stands for one that
    is absent.

    For a registration that is lost: `registered_path` is its path as Levee last read it, `enabled_as` the path under
    which Levee itself put the table under its coordinator, `sibling_paths` are those of the coordinator's other tables,
    `path_scheme` is what somebody chose; "" for none.
    """

    facts: TableFacts
    verdict: Verdict
    lock_domains: tuple[LockDomain, ...] = ()
    coordinator: str = ""
    raw_registrations: Mapping[tuple[str, str], Item] = field(default_factory=dict)
    files: Mapping[str, FileCheck | None] = field(default_factory=dict)
    registered_path: str = ""
    enabled_as: str = ""
    sibling_paths: tuple[str, ...] = ()
    path_scheme: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """One repair of one finding: `calls` are exactly what will be sent, in this order.

    `consequences` are sentences for the page: what it does, what it leaves alone, what happens on a race. `loses` names
    what can be lost; where it is not empty the repair needs an admin, the table's name typed, and saves item and
    objects aside first. `asks` names a choice that makes another plan of it, "" for none.
    """

    repair: RepairName
    code: str
    version: int | None
    uri: str
    title: str
    calls: tuple[Call, ...]
    consequences: tuple[str, ...]
    loses: str = ""
    asks: str = ""

    @property
    def can_lose(self) -> bool:
        return bool(self.loses)

    @property
    def digest(self) -> str:
        """A hash of the calls with their conditions: a plan shown and a plan executed are the same if it is equal.

        The moment in the names of rescue folders is left out, so that the same plan made later has the same digest.
        """
        calls = self.saving_under("").calls
        return hashlib.sha256(repr((self.uri, self.repair, calls)).encode()).hexdigest()[:32]

    @property
    def rescue_folder(self) -> str:
        """The name of the folder under `_levee_rescue/` that copies go to; "" for a plan that saves nothing."""
        keys = (call.key for call in self.calls if isinstance(call, SaveAside))
        return next((found[2] for key in keys if (found := _RESCUE.match(key))), "")

    def saving_under(self, folder: str) -> "Plan":
        """The same plan with the copies in a folder of another name, such as that of the plan that was shown."""
        return replace(self, calls=tuple(_saving_under(folder, call) for call in self.calls))


def _saving_under(folder: str, call: Call) -> Call:
    """A copy, or the deletion of what it is a copy of, with the copy elsewhere."""
    match call:
        case SaveAside():
            return replace(call, key=_moved(call.key, folder))
        case DeleteLitter(survivor=survivor) if survivor:
            return replace(call, survivor=_moved(survivor, folder))
    return call


def _moved(key: str, folder: str) -> str:
    return _RESCUE.sub(lambda found: f"{found[1]}{folder}/", key)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A repair that must not be made now, and the reason in one sentence; `asks` names the choice that it waits for."""

    repair: RepairName
    code: str
    version: int | None
    uri: str
    title: str
    reason: str
    asks: str = ""
