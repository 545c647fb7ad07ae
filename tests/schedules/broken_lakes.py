"""Lakes in which anything may have happened to the objects of one table, with the bytes that were accepted.

What the items say is true while they are there, and TTL takes a finished entry after its life. Everything else may be
lost, replaced by somebody's bytes, published from the wrong file or left behind. `pick` chooses; it is a random or a
hypothesis choice.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from lake.delta.facts import Provenance
from lake.delta.names import checksum_name, commit_name
from tests.builders.delta import coordinator_commit, incomplete_item, log_store_item, registration_item
from tests.schedules import deltas
from tests.schedules.clock import NOW
from tests.schedules.lake import Item, MemoryLake, Stored
from tests.schedules.place import BUCKET, COORDINATOR, ENDPOINT, LOG, LOG_STORE, PATH
from tests.schedules.world import empty_lake

Pick = Callable[[Sequence[Any]], Any]

HOUR = timedelta(hours=1)
TABLE_ID = "7426a6d4-0b3c-4f6e-9b9a-2f3d4c5b6a71"


@dataclass(frozen=True)
class Written:
    """A commit that a writer wrote aside: its file's name, its bytes, and when."""

    name: str
    data: bytes
    at: datetime
    transaction: str
    time: int


@dataclass
class BrokenLake:
    """`accepted` holds every commit that a version was ever accepted with, the newest last.

    `seen` is what earlier looks saw of versions, `encrypted` says that S3 encrypts with a key of its own for each
    object: then no ETag tells of the bytes.
    """

    is_coordinated: bool
    encrypted: bool
    lake: MemoryLake = field(default_factory=empty_lake)
    accepted: dict[int, list[Written]] = field(default_factory=dict)
    seen: dict[int, Provenance] = field(default_factory=dict)

    @property
    def objects(self) -> dict[str, Stored]:
        return self.lake.buckets[BUCKET]

    def items(self, table: str) -> list[Item]:
        return self.lake.items(table)

    def etag(self, name: str, data: bytes) -> str:
        return md5((LOG + name).encode() + data) if self.encrypted else md5(data)

    def put(self, name: str, data: bytes, at: datetime) -> None:
        self.objects[LOG + name] = Stored(data, min(at, NOW).replace(microsecond=0), self.etag(name, data))

    def put_aside(self, pick: Pick, one: Written) -> None:
        """A temp or staged file; brought back from a version or a backup it has S3's time of then."""
        restored_at = one.at + pick([0, 0, 0, 26, 50]) * HOUR
        self.put(one.name, one.data, restored_at)

    def surviving(self) -> set[tuple[int, bytes]]:
        """Accepted commits whose bytes lie anywhere, whoever may find them."""
        everything = {stored.data for stored in self.objects.values()}
        return {(v, one.data) for v, commits in self.accepted.items() for one in commits if one.data in everything}

    def published(self) -> dict[int, bytes]:
        names = ((key.removeprefix(LOG), stored.data) for key, stored in self.objects.items())
        return {int(name[:20]): data for name, data in names if len(name) == 25 and name[:20].isdecimal()}


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def commit(version: int, transaction: str, time: int, name: str, at: datetime, **said: object) -> Written:
    """A commit of one file; `said` is what its commitInfo says besides. Names of transactions are of one length."""
    info = {"inCommitTimestamp": time, "txnId": transaction, "timestamp": int(at.timestamp() * 1_000), **said}
    actions = [{"commitInfo": info}, {"add": {"path": f"{transaction}-{version}"}}]
    return Written(name, "\n".join(json.dumps(one) for one in actions).encode(), at, transaction, time)


def rows(data: bytes) -> list[bytes]:
    """What a commit does to the table, apart from what it says of itself."""
    return [line for line in data.splitlines() if b"commitInfo" not in line]


def rivals_of(pick: Pick, accepted: Written, version: int, name: Callable[[str], str]) -> list[Written]:
    """Losers of a version, of its size or another, with its time or another.

    One may be of the accepted transaction itself, which tried again: then it adds the same files.
    """
    found = []
    for number in range(pick([0, 0, 1, 2])):
        transaction = pick([accepted.transaction, f"rival-{number}", f"rival-{number}"])
        at = accepted.at + pick([-26, -1, 0, 0, 1]) * HOUR + timedelta(seconds=pick([-5, 5]))
        said = {"attempt": pick([number + 2, number + 20])}
        found.append(commit(version, transaction, accepted.time + pick([0, 0, 1]), name(f"rival{number}"), at, **said))
    return found


FOREIGN = b'{"commitInfo":{"operation":"FOREIGN","txnId":"foreign"}}'


def publish(broken: BrokenLake, pick: Pick, version: int, accepted: Written, rivals: Sequence[Written]) -> None:
    """Put what readers find: the accepted commit, somebody's bytes, a loser's, or nothing."""
    what = pick(["accepted"] * 5 + ["foreign", "foreign of its size", "rival", "nothing"])
    if what == "nothing" or (what == "rival" and not rivals):
        return
    data = {
        "accepted": accepted.data,
        "foreign": FOREIGN,
        "foreign of its size": b"f" * len(accepted.data),
        "rival": rivals[0].data if rivals else b"",
    }[what]
    broken.put(commit_name(version), data, accepted.at + timedelta(seconds=1))


def checksum(broken: BrokenLake, pick: Pick, version: int, accepted: Written) -> None:
    """The accepted commit's own transaction may have written its checksum, or whoever wrote past the lock.

    A loser under the lock never did.
    """
    if pick([True, True, False]):
        said = {"txnId": accepted.transaction, "inCommitTimestampOpt": accepted.time}
        is_foreign = broken.published().get(version) == FOREIGN and pick([True, False])
        data = json.dumps({"txnId": "foreign"} if is_foreign else said).encode()
        broken.put(checksum_name(version), data, accepted.at + timedelta(seconds=2))


def remember(broken: BrokenLake, pick: Pick, version: int, accepted: Written, store: str) -> None:
    """An earlier look may have seen the version when it was sound, and what accepted it."""
    if not pick([True, False, False]):
        return
    known: dict[str, Any] = {"size": len(accepted.data), "seen_at": accepted.at}
    known |= {"etag": broken.etag(commit_name(version), accepted.data)}
    known |= {"digest": md5(accepted.data)} if pick([True, False]) else {}
    if pick([True, False]):
        known |= {
            "store": store,
            "file_name": accepted.name,
            "accepted_size": len(accepted.data),
            "accepted_etag": broken.etag(accepted.name, accepted.data),
            "accepted_at": accepted.at,
            "disputed": len(broken.accepted[version]) > 1,
        }
    broken.seen[version] = Provenance(version, **known)


def log_store_lake(pick: Pick) -> BrokenLake:
    broken = BrokenLake(is_coordinated=False, encrypted=pick([False, False, True]))
    newest, step, life = pick([1, 2, 3]), pick([60, 6 * 3_600, 30 * 3_600]), pick([86_400, 86_400, 3_600])
    for version in range(newest + 1):
        at = NOW - timedelta(seconds=(newest - version) * step + pick([60, 3 * 86_400]))
        _log_store_version(broken, pick, version, at, life, is_newest=version == newest)
    return broken


def _log_store_version(
    broken: BrokenLake, pick: Pick, version: int, at: datetime, life: int, *, is_newest: bool
) -> None:
    def name(unique: str) -> str:
        return f".tmp/{commit_name(version)}.{unique}"

    def write(unique: str, moment: datetime) -> Written:
        return commit(version, unique, 1_000 * version + 1, name(unique), moment, attempt=1)

    commits = [write("first-1", at)]
    expired = at + timedelta(seconds=life) + HOUR
    was_retaken = is_newest and version and expired < NOW and pick([True, False, False])
    if was_retaken:
        commits.append(write("second2", expired))
    accepted = commits[-1]
    rivals = rivals_of(pick, accepted, version, name)
    broken.accepted[version] = commits
    for one in [*commits, *rivals]:
        if pick([True, True, True, False]):
            broken.put_aside(pick, one)
    publish(broken, pick, version, accepted, rivals)
    checksum(broken, pick, version, commits[0])
    remember(broken, pick, version, commits[0], LOG_STORE)
    is_over = accepted.at + timedelta(seconds=life) < NOW
    state = pick(["complete", "incomplete", "gone", "gone"] if is_over else ["complete", "complete", "incomplete"])
    if state != "gone":
        ends = {"N": str(int(accepted.at.timestamp()) + life)}
        make, how = (log_store_item, {"expireTime": ends}) if state == "complete" else (incomplete_item, {})
        item = make(version, PATH, tempPath={"S": accepted.name}, **how)
        broken.lake.put_item(LOG_STORE, item)


def coordinated_lake(pick: Pick) -> BrokenLake:
    broken = BrokenLake(is_coordinated=True, encrypted=pick([False, False, True]))
    newest, step = pick([1, 2, 3]), pick([60, 30 * 3_600])
    for version in range(newest + 1):
        at = NOW - timedelta(seconds=(newest - version) * step + pick([60, 3 * 86_400]))
        _coordinated_version(broken, pick, version, at)
    _registration(broken, pick, newest)
    return broken


def _coordinated_version(broken: BrokenLake, pick: Pick, version: int, at: datetime) -> None:
    def name(unique: str) -> str:
        return f"_staged_commits/{version:020d}.{unique}.json"

    accepted = commit(version, "first-1", 1_000 * version + 1, name("accepted"), at, attempt=1)
    broken.accepted[version] = [accepted]
    if version == 0:
        properties = deltas.coordination(COORDINATOR, ENDPOINT, TABLE_ID)
        first = deltas.conversion("CREATE TABLE", properties, deltas.FEATURES, accepted.time)
        broken.accepted[0] = [replace(accepted, data=first)]
        broken.put(commit_name(0), first, at)
        return
    rivals = rivals_of(pick, accepted, version, name)
    for one in [accepted, *rivals]:
        if pick([True, True, True, False]):
            broken.put_aside(pick, one)
    publish(broken, pick, version, accepted, rivals)
    checksum(broken, pick, version, accepted)
    remember(broken, pick, version, accepted, COORDINATOR)


def _registration(broken: BrokenLake, pick: Pick, newest: int) -> None:
    """The table's own item: as it is, older, or lost; beside it one of an upgrade that lost its race."""
    state = pick(["here", "here", "here", "here", "older", "lost"])
    version = newest - 1 if state == "older" else newest
    listed = [v for v in range(1, version + 1) if v > version - pick([0, 0, 1, 2])]
    if state != "lost":
        elements = [_element(broken.accepted[v][0], v) for v in listed]
        broken.lake.put_item(COORDINATOR, _item(TABLE_ID, version, broken.accepted[version][0].time, elements))
    if pick([True, False, False]):
        left = {**_item("orphan", 1, None, []), "hasAcceptedCommits": {"BOOL": False}}
        broken.lake.put_item(COORDINATOR, left)


def _item(table_id: str, version: int, time: int | None, elements: list[dict[str, Any]]) -> dict[str, Any]:
    at = {"N": str(time)} if time is not None else None
    own = {"tableId": {"S": table_id}, "path": {"S": PATH}, "tableTimestamp": at}
    return registration_item(version, **own, commits={"L": elements})


def _element(one: Written, version: int) -> dict[str, Any]:
    at, name = {"N": str(one.time)}, one.name.rpartition("/")[2]
    file = {"fsName": {"S": name}, "fsLength": {"N": str(len(one.data))}, "fsTimestamp": at}
    return coordinator_commit(version, timestamp=at, **file)
