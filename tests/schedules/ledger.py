"""The oracle: which commits were accepted, with their bytes, and how much of each is left.

Only the models of writers write here, at the very request by which their protocol accepts a commit. What Levee thinks
of it plays no part.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from tests.schedules.lake import Item, MemoryLake
from tests.schedules.place import BUCKET, COORDINATOR, LOG, LOG_STORE, LOG_STORES, STAGED, published


class Left(IntEnum):
    """How much is left of an accepted commit."""

    NOTHING = 0
    BYTES = 1
    """Some object holds its bytes, and readers are not led to it."""
    READABLE = 2
    """It is published, or the next reader that follows the protocol reads it."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """One commit as its writer was told that it is in. `through` is "entry", "registration" or "file"."""

    version: int
    data: bytes
    through: str


@dataclass(frozen=True, slots=True)
class Breach:
    """What somebody did that no protocol allows, and whether the lake still shows it."""

    what: str
    stands: Callable[[MemoryLake], bool]


@dataclass
class Ledger:
    """`losses` say what somebody took away from outside, `breaches` what somebody wrote past the protocol."""

    accepted: list[Accepted] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    breaches: list[Breach] = field(default_factory=list)

    def accept(self, version: int, data: bytes, through: str) -> None:
        self.accepted.append(Accepted(version, data, through))

    def left(self, lake: MemoryLake) -> list[Left]:
        """What is left of each accepted commit, in the order in which they were accepted."""
        return [_left(lake, commit) for commit in self.accepted]

    def waiting(self, lake: MemoryLake) -> list[Accepted]:
        """Accepted commits that are not in the log, and to which an incomplete entry or a list still leads."""
        outside = [one for one in self.accepted if data_of(lake, published(one.version)) != one.data]
        return [commit for commit in outside if commit.data in _led_to(lake, commit.version)]

    def is_sound(self, lake: MemoryLake) -> bool:
        """Nobody broke the protocol, and every accepted commit can be read."""
        return not self.breaches and all(left is Left.READABLE for left in self.left(lake))

    def troubles(self, lake: MemoryLake) -> list[str]:
        """What somebody has to be told of: breaches that stand, and commits that a store accepted and nobody can read.

        A commit that took no lock and was overwritten since leaves nothing by which it could be missed.
        """
        lost = [
            f"commit {commit.version} cannot be read"
            for commit, left in zip(self.accepted, self.left(lake), strict=True)
            if left is not Left.READABLE and commit.through != "file"
        ]
        return [breach.what for breach in self.breaches if breach.stands(lake)] + lost

    def is_published(self, lake: MemoryLake) -> bool:
        """Every accepted commit is in the log."""
        return all(data_of(lake, published(commit.version)) == commit.data for commit in self.accepted)

    def is_in_the_log(self, lake: MemoryLake, version: int) -> bool:
        """What a store accepted as that version is published."""
        of_it = [one for one in self.accepted if one.version == version and one.through != "file"]
        return all(data_of(lake, published(version)) == one.data for one in of_it)

    def is_settled(self, lake: MemoryLake) -> bool:
        """Every accepted commit is published, and no item leaves anything to be done."""
        lists = [item for item in lake.items(COORDINATOR) if item["commits"]["L"]]
        incomplete = [entry for entry in _entries(lake) if entry["complete"] == {"S": "false"}]
        return self.is_published(lake) and not lists and not incomplete

    def invented(self, lake: MemoryLake) -> list[str]:
        """Sentences on files and entries that belong to no commit that was accepted as their version."""
        files = [
            f"{key} holds what was never accepted"
            for key in lake.keys(BUCKET, LOG)
            if (version := _version(key)) is not None
            and lake.get(BUCKET, key).data not in [one.data for one in self.accepted if one.version == version]
        ]
        return files + [
            f"an entry {item['fileName']} names no file" for item in _entries(lake) if "tempPath" not in item
        ]

    def twice(self) -> list[str]:
        """Sentences on versions that were accepted twice with different bytes."""
        versions = [commit.version for commit in self.accepted]
        return [f"version {version} was accepted twice" for version in set(versions) if versions.count(version) > 1]


def _left(lake: MemoryLake, commit: Accepted) -> Left:
    data = data_of(lake, published(commit.version))
    if data == commit.data or (data is None and commit.data in _led_to(lake, commit.version)):
        return Left.READABLE
    held = (lake.get(BUCKET, key).data for key in lake.keys(BUCKET))
    return Left.BYTES if commit.data in held else Left.NOTHING


def _led_to(lake: MemoryLake, version: int) -> Iterator[bytes | None]:
    """The bytes to which incomplete entries and the lists of registrations lead."""
    for entry in _entries(lake):
        if entry["fileName"]["S"] == f"{version:020d}.json" and entry["complete"] == {"S": "false"}:
            yield data_of(lake, LOG + entry["tempPath"]["S"])
    for item in lake.items(COORDINATOR):
        for listed in item["commits"]["L"]:
            if listed["M"]["version"] == {"N": str(version)}:
                yield data_of(lake, STAGED + listed["M"]["fsName"]["S"])


def _entries(lake: MemoryLake) -> list[Item]:
    return [item for store in LOG_STORES for item in lake.items(store)]


def data_of(lake: MemoryLake, key: str) -> bytes | None:
    return lake.get(BUCKET, key).data if lake.has(BUCKET, key) else None


def _version(key: str) -> int | None:
    name = key.removeprefix(LOG)
    return int(name[:20]) if len(name) == 25 and name[:20].isdecimal() and name.endswith(".json") else None


def entry_of(lake: MemoryLake, version: int, path: str, store: str = LOG_STORE) -> Item | None:
    return lake.get_item(store, {"tablePath": {"S": path}, "fileName": {"S": f"{version:020d}.json"}})
