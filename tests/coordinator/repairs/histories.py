"""Histories of one table: writers and readers as the protocols have them, mishaps, repairers, and an oracle."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from changes.execution import Execution
from changes.plan import ChangePlan
from coordinator.protocols.diagnosis import diagnose
from coordinator.protocols.needed_facts import wanted_comparisons, wanted_copies, wanted_heads
from coordinator.repairs.facts import FileCheck, RepairFacts, check_file
from coordinator.repairs.planning import plan_repairs, wanted_files
from lake.aws.dynamodb import Item
from lake.aws.errors import AwsError
from lake.delta.coordinator_items import read_registration
from lake.delta.facts import LockDomain, LogObject, Mechanism, Provenance, TableFacts, TableProtocol
from lake.delta.listing import read_listing
from lake.delta.log_store import read_entry
from lake.delta.names import commit_name
from tests.builders.changes import execute_plan
from tests.coordinator.repairs.memory_lake import BUCKET, Actor, MemoryLake, Stored

URI = "s3a://lake/orders"
LOG = "orders/_delta_log/"
LIFE = 86_400
MOST_REPAIRS = 60


class LogObjectAt:
    """A stored object as a listing gives it, without a request."""

    def __init__(self, key: str, stored: Stored) -> None:
        self.key, self.size, self.modified_at, self.etag = key, len(stored.data), stored.modified_at, ""
        self.storage_class = "STANDARD"


@dataclass
class History:
    """One table's past. `accepted` holds the bytes of each version that DynamoDB accepted; it is the oracle.

    `doomed` are commits whose only copy was taken away from outside, `disputed` the bytes that a writer without a lock
    published as a version that was accepted with others; `wrongs` is what an actor did against the oracle.
    """

    mechanism: Mechanism
    protocol: TableProtocol | None = None
    lake: MemoryLake = field(default_factory=MemoryLake)
    accepted: dict[int, bytes] = field(default_factory=dict)
    doomed: set[int] = field(default_factory=set)
    disputed: dict[int, bytes] = field(default_factory=dict)
    wrongs: list[str] = field(default_factory=list)
    seen: dict[int, Provenance] = field(default_factory=dict)
    """What was known of versions before."""
    actors: list[Actor] = field(default_factory=list)
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    # Actors

    def commit(self) -> None:
        """One writer, undisturbed."""
        try:
            self.write()
        except AwsError:
            return  # the writer reports it

    def start(self, name: str, which: int) -> Actor:
        """Let a writer, a reader or a repairer begin; it makes its requests in `step`."""
        acts: Mapping[str, Callable[[], object]] = {
            "write": self.write,
            "refresh": self.refresh,
            "repair": lambda: self.repair(which),
            "abandon": self.abandon,
        }
        actor = Actor(name, acts[name])
        self.actors.append(actor)
        return actor

    def crash(self, name: str, which: int, steps: int) -> None:
        """Let one begin, and stop for ever before its request of that number."""
        actor = self.start(name, which)
        for _ in range(steps):
            actor.step()
        actor.kill()

    def overtake(self, name: str, which: int, steps: int, others: Sequence[tuple[Any, ...]]) -> None:
        """Let one begin, let other things happen before its request of that number, then let it go on to its end."""
        actor = self.start(name, which)
        for _ in range(steps):
            actor.step()
        for other, *details in others:
            getattr(self, other)(*details)
            self.check()
        while not actor.is_done:
            actor.step()

    def step(self, which: int, steps: int) -> None:
        """Let one of the actors make some requests."""
        if alive := [one for one in self.actors if not one.is_done]:
            for _ in range(steps):
                alive[which % len(alive)].step()

    def kill(self, which: int) -> None:
        if alive := [one for one in self.actors if not one.is_done]:
            alive[which % len(alive)].kill()

    def kill_all(self, *, repairs: bool) -> None:
        for one in self.actors:
            if repairs or one.name in ("write", "refresh"):
                one.kill()

    def write(self) -> None:
        """Commit the next version as the protocol has it."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Do what every reader does first."""
        raise NotImplementedError

    # Repairs

    def repair(self, which: int) -> None:
        """Read, plan and execute one of the plans that lose nothing."""
        plans = [plan for plan in self.plans() if not plan.can_lose]
        if plans:
            self.execute_plan(plans[which % len(plans)])

    def abandon(self) -> None:
        """Execute a plan that loses something, as an admin would who confirmed it."""
        for plan in self.plans():
            if plan.can_lose:
                self.execute_plan(plan)
                return

    def plans(self) -> list[ChangePlan]:
        return [one for one in plan_repairs(self.read()) if isinstance(one, ChangePlan)]

    def execute_plan(self, plan: ChangePlan) -> Execution:
        return execute_plan(plan, self.lake, now=lambda: self.lake.now.timestamp())

    def read(self) -> RepairFacts:
        """Read the table as the console does: the listing, then the items, then single objects, then whole files."""
        listing = read_listing(self.lake.list_objects(LOG), LOG, folders_listed=True)
        entries = tuple(read_entry(item) for item in self.lake.query("delta_log"))
        raw = {item["tableId"]["S"]: item for item in self.lake.query("commits")}
        facts = TableFacts(
            uri=URI,
            mechanism=self.mechanism,
            observed_at=self.lake.now,
            listing=listing,
            entries={LockDomain("delta_log", URI): entries} if entries else {},
            registrations=tuple(read_registration(item, "commits") for item in raw.values()),
            protocol=replace(self.protocol, version=listing.newest_version or 0) if self.protocol else None,
            had_entries=self.mechanism is Mechanism.LOG_STORE,
            provenance=self.seen,
        )
        facts = replace(facts, heads={name: self._head(name) for name in wanted_heads(facts)})
        equal = {one: self._bytes(one) == self._bytes(other) for _, one, other in wanted_comparisons(facts)}
        copies = {one: self._bytes(one) == self._bytes(other) for one, other in wanted_copies(facts)}
        facts = replace(facts, equal_bytes=equal, copies=copies)
        verdict = diagnose(facts)
        files = {name: self._check(name) for name in wanted_files(facts, verdict)}
        held = {("commits", table_id): item for table_id, item in raw.items()}
        return RepairFacts(facts, verdict, (), "commits", held, files, registered_path=URI)

    def _head(self, name: str) -> LogObject | None:
        found = self.lake.head(BUCKET, LOG + name)
        return LogObject(name, found.size, found.modified_at, found.etag) if found else None

    def _bytes(self, name: str) -> bytes | None:
        try:
            return self.lake.get(BUCKET, LOG + name).data
        except AwsError:
            return None

    def _check(self, name: str) -> FileCheck | None:
        try:
            body = self.lake.get(BUCKET, LOG + name)
        except AwsError:
            return None
        return check_file(name, body.data, body.etag)

    # The oracle

    def published(self) -> Mapping[int, bytes]:
        listing = read_listing(self._everything(), LOG, folders_listed=True)
        return {version: self.lake.objects[LOG + found.name].data for version, found in listing.commits.items()}

    def check(self) -> None:
        """Nothing lost, nothing invented, no byte changed: true after every step of everybody."""
        assert self.wrongs == []
        for version, data in self.published().items():
            assert version in self.accepted, f"version {version} was invented"
            first = self.disputed.get(version, self.accepted[version])
            assert first == data, f"version {version} holds other bytes than the first ones"
        for version, data in self.accepted.items():
            if version not in self.doomed and version not in self.disputed:
                assert self.is_kept(version, data), f"accepted version {version} is lost"

    def is_kept(self, version: int, data: bytes) -> bool:
        """Whether a published file, or a copy that an item leads to, holds the accepted bytes."""
        raise NotImplementedError

    def is_settled(self) -> bool:
        """Whether the items say that nothing is left to do."""
        raise NotImplementedError

    def disputed_items(self) -> list[Item]:
        """The items of disputed versions: no repair may touch them."""
        return []

    def converge(self) -> None:
        """Stop everybody, repair until no plan is left, orphans last, and compare the log with the oracle."""
        self.kill_all(repairs=True)
        self.lake.pass_hours(25)
        before = self.disputed_items()
        for _ in range(MOST_REPAIRS):
            plans = sorted(self.plans(), key=lambda plan: plan.kind == "remove-orphans")
            if not plans:
                break
            execution = self.execute_plan(plans[0])
            assert execution.is_complete, execution.end
            self.check()
        else:
            raise AssertionError("repairs do not come to an end")
        assert self.published() == {**self.accepted, **self.disputed}
        assert sorted(self.accepted) == list(range(len(self.accepted)))
        assert self.is_settled()
        assert self.disputed_items() == before, "what two writers claim was called done"

    def new_commit(self, timestamp: int | None = None) -> bytes:
        info: dict[str, object] = {"operation": "WRITE"}
        if timestamp is not None:
            info = {"inCommitTimestamp": timestamp, **info}
        actions = [{"commitInfo": info}, {"add": {"path": f"part-{next(self.numbers)}"}}]
        return "\n".join(json.dumps(action) for action in actions).encode()

    def newest_published(self) -> int:
        """What a reader's listing gives: the end of the log up to the first gap."""
        listing = read_listing(self.lake.list_objects(LOG), LOG, folders_listed=True)
        version = -1
        while version + 1 in listing.commits:
            version += 1
        return version

    def _everything(self) -> list[LogObjectAt]:
        return [LogObjectAt(key, one) for key, one in self.lake.objects.items()]


class LogStoreHistory(History):
    """S3DynamoDBLogStore, step by step (delta-storage-s3-dynamodb 4.4, `BaseExternalLogStore`)."""

    def __init__(self) -> None:
        super().__init__(Mechanism.LOG_STORE)
        self.lake.on_item_deleted = self._entry_was_deleted

    def write(self) -> None:
        """Refresh the table, then commit the next version."""
        self.refresh()
        version = self.newest_published() + 1
        data, temp = self.new_commit(), f".tmp/{commit_name(version)}.{next(self.numbers)}"
        if self.lake.head(BUCKET, LOG + commit_name(version)):
            return
        if version and not self._previous_is_there(version - 1):
            return
        self.lake.put(LOG + temp, data)
        item = entry_item(version, temp)
        self.lake.put_item("delta_log", item, condition="attribute_not_exists(fileName)")
        self._accept(version, data)
        self._publish(item)

    def refresh(self) -> None:
        """What every reader does first: publish the newest entry where it is incomplete."""
        items = self.lake.query("delta_log")
        if items and items[-1]["complete"] == {"S": "false"}:
            self._publish(items[-1])

    def _previous_is_there(self, version: int) -> bool:
        item = self.lake.get_item("delta_log", key_of(version))
        if item and item["complete"] == {"S": "false"}:
            self._publish(item)
            return True
        return self.lake.head(BUCKET, LOG + commit_name(version)) is not None

    def _publish(self, item: Item) -> None:
        """Copy the temp file unless the file is there, which is not atomic on S3A; complete without a condition."""
        source, key = LOG + item["tempPath"]["S"], LOG + item["fileName"]["S"]
        if self.lake.head(BUCKET, key) is None:
            data = self.lake.get(BUCKET, source).data
            if self.lake.head(BUCKET, key) is None:
                self.lake.put(key, data)
        expires = {"N": str(int(self.lake.now.timestamp()) + LIFE)}
        self.lake.put_item("delta_log", {**item, "complete": {"S": "true"}, "expireTime": expires})

    def _accept(self, version: int, data: bytes) -> None:
        if version in self.accepted:
            self.wrongs.append(f"version {version} was accepted twice")
        self.accepted[version] = data

    def _entry_was_deleted(self, item: Item) -> None:
        version = _version_of(item["fileName"]["S"])
        if version not in self.doomed:
            self.wrongs.append(f"the entry of living commit {version} was deleted")
        self.accepted.pop(version, None)
        self.doomed.discard(version)

    # Mishaps

    def a_day_passes(self) -> None:
        """Nobody's commit takes so long; TTL takes finished entries. An entry of a lost file is kept for the repair."""
        self.kill_all(repairs=False)
        self.lake.pass_hours(25)
        store = self.lake.items["delta_log"]
        for key, item in list(store.items()):
            expired = int(item.get("expireTime", {"N": "9" * 12})["N"]) <= self.lake.now.timestamp()
            if expired and item["complete"] == {"S": "true"} and LOG + key[1] in self.lake.objects:
                del store[key]

    def lose_a_file(self, which: int) -> None:
        """A published file goes, by hand or by a lifecycle rule, while its entry and temp file are there."""
        items = [item for item in self.lake.items["delta_log"].values() if self._is_spare(item)]
        if items:
            self.lake.objects.pop(LOG + items[which % len(items)]["fileName"]["S"])

    def _is_spare(self, item: Item) -> bool:
        """Whether the entry's temp file holds what is published, so that the file may go without a loss.

        A prepared first commit is published into an empty log alone, so it has to be complete.
        """
        if item["fileName"]["S"] == commit_name(0) and item["complete"] == {"S": "false"}:
            return False
        published = self.lake.objects.get(LOG + item["fileName"]["S"])
        temp = self.lake.objects.get(LOG + item["tempPath"]["S"])
        return published is not None and temp is not None and published.data == temp.data

    def write_without_a_lock(self) -> None:
        """A writer that knows no log store publishes the next version by a conditional put."""
        self.kill_all(repairs=False)
        version = self.newest_published() + 1
        if LOG + commit_name(version) in self.lake.objects or version in self.doomed:
            return
        data = self.new_commit()
        self.lake.put(LOG + commit_name(version), data)
        if version in self.accepted:
            self.disputed[version] = data
        else:
            self.accepted[version] = data

    def lose_a_temp_file(self) -> None:
        """The newest entry's temp file goes before its commit is published; all who could hold it are long gone."""
        item = max(self.lake.items["delta_log"].values(), key=lambda one: one["fileName"]["S"], default=None)
        if item is None or item["complete"] == {"S": "true"} or LOG + item["fileName"]["S"] in self.lake.objects:
            return
        self.kill_all(repairs=True)
        self.lake.objects.pop(LOG + item["tempPath"]["S"], None)
        self.doomed.add(_version_of(item["fileName"]["S"]))

    def is_kept(self, version: int, data: bytes) -> bool:
        published = self.lake.objects.get(LOG + commit_name(version))
        if published is not None:
            return published.data == data
        item = self.lake.items["delta_log"].get((URI, commit_name(version)))
        temp = self.lake.objects.get(LOG + item["tempPath"]["S"]) if item else None
        return temp is not None and temp.data == data

    def is_settled(self) -> bool:
        items = self.lake.items["delta_log"].items()
        return all(item["complete"] == {"S": "true"} for key, item in items if _version_of(key[1]) not in self.disputed)

    def disputed_items(self) -> list[Item]:
        return [item for key, item in self.lake.items["delta_log"].items() if _version_of(key[1]) in self.disputed]


def _version_of(file_name: str) -> int:
    return int(file_name.partition(".")[0])


def key_of(version: int) -> Item:
    return {"tablePath": {"S": URI}, "fileName": {"S": commit_name(version)}}


def entry_item(version: int, temp: str) -> Item:
    return {**key_of(version), "tempPath": {"S": temp}, "complete": {"S": "false"}}
