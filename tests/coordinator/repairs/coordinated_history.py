"""Histories of a table whose commits go through the DynamoDB commit coordinator (Delta 4.4), step by step."""

from lake.aws.errors import AwsError
from lake.delta.facts import Mechanism
from lake.delta.names import commit_name
from tests.builders.facts import TABLE_ID, coordinated_protocol
from tests.coordinator.repairs.histories import LOG, URI, History, Item
from tests.coordinator.repairs.memory_lake import BUCKET

STAGED = f"{LOG}_staged_commits/"
KEY: Item = {"tableId": {"S": TABLE_ID}}
NAMES = {
    "#v": "tableVersion",
    "#t": "tableTimestamp",
    "#p": "path",
    "#s": "schemaVersion",
    "#a": "acceptingCommits",
    "#h": "hasAcceptedCommits",
    "#c": "commits",
}
AS_READ = "#v = :v AND #p = :p AND #s = :one"


class CoordinatedHistory(History):
    """Commit 0 is a file-system commit that registers the table; all others are staged, accepted and backfilled."""

    def __init__(self) -> None:
        super().__init__(Mechanism.COORDINATED_COMMITS, coordinated_protocol())
        self.older: list[Item] = []
        time = self._time()
        self.accepted[0] = self.new_commit(time)
        self.lake.put(LOG + commit_name(0), self.accepted[0])
        self.lake.put_item("commits", _registration(time))

    def write(self) -> None:
        """Stage the next version, have it accepted, backfill."""
        version = max([self.newest_published(), *self._listed(self.lake.get_item("commits", KEY))]) + 1
        time = self._time()
        data, name = self.new_commit(time), f"{version:020d}.{next(self.numbers)}.json"
        self.lake.put(STAGED + name, data)
        self._be_accepted(version, name, data, time)
        self.refresh()

    def refresh(self) -> None:
        """Backfill what is listed, as each writer does after its commit; files are overwritten."""
        item = self.lake.get_item("commits", KEY) or {"commits": {"L": []}}
        for commit in item["commits"]["L"]:
            data = self.lake.get(BUCKET, STAGED + commit["M"]["fsName"]["S"]).data
            self.lake.put(LOG + commit_name(int(commit["M"]["version"]["N"])), data)
        if item["commits"]["L"]:
            values = _as_read(int(item["tableVersion"]["N"])) | {":empty": {"L": []}}
            self._update("SET #c = :empty", AS_READ, values)

    def _be_accepted(self, version: int, name: str, data: bytes, time: int) -> None:
        """One conditional update: the linearisation point."""
        element = {
            "version": {"N": str(version)},
            "timestamp": {"N": str(time)},
            "fsName": {"S": name},
            "fsLength": {"N": str(len(data))},
            "fsTimestamp": {"N": str(time)},
        }
        values = _as_read(version - 1) | {
            ":next": {"N": str(version)},
            ":time": {"N": str(time)},
            ":true": {"BOOL": True},
            ":new": {"L": [{"M": element}]},
        }
        update = "SET #v = :next, #t = :time, #h = :true, #c = list_append(#c, :new)"
        self._update(update, f"{AS_READ} AND #a = :true", values)
        if version in self.accepted:
            self.wrongs.append(f"version {version} was accepted twice")
        self.accepted[version] = data

    def _update(self, update: str, condition: str, values: Item) -> None:
        self.lake.update_item("commits", KEY, update=update, condition=condition, names=NAMES, values=values)

    # Mishaps

    def a_day_passes(self) -> None:
        """Nobody's commit takes so long; staged files grow old."""
        self.kill_all(repairs=False)
        self.lake.pass_hours(25)

    def lose_a_file(self, which: int) -> None:
        """A published file goes that the registration still leads to: a listed one, or the newest."""
        item = self._item()
        known = {*self._listed(item), int(item["tableVersion"]["N"])} if item else set()
        there = sorted(v for v in known if v > 0 and LOG + commit_name(v) in self.lake.objects)
        if there:
            version = there[which % len(there)]
            if self._staged_copies(self.accepted[version]):
                self.kill_all(repairs=True)
                self.lake.objects.pop(LOG + commit_name(version))

    def restore_an_older_item(self, which: int) -> None:
        """The registration is put back from a backup, while nothing waits in it."""
        item = self._item()
        if item and self.older and self._is_clear(item):
            self.kill_all(repairs=True)
            self.lake.items["commits"][(TABLE_ID,)] = {**self.older[which % len(self.older)], "commits": {"L": []}}

    def restore_the_first_item(self) -> None:
        """The registration is put back as it was made, before it had accepted any commit; nothing waits in it."""
        item = self._item()
        if item and self._is_clear(item):
            self.kill_all(repairs=True)
            first = {**_registration(0), "hasAcceptedCommits": {"BOOL": False}}
            del first["tableTimestamp"]
            self.lake.items["commits"][(TABLE_ID,)] = first

    def lose_the_item(self) -> None:
        """The registration is deleted, while nothing waits in it."""
        item = self._item()
        if item and self._is_clear(item):
            self.kill_all(repairs=True)
            self.lake.items["commits"].clear()

    def keep_the_item(self) -> None:
        """A backup of the registration is made."""
        item = self._item()
        if item and item["hasAcceptedCommits"]["BOOL"]:
            self.older.append(item)

    # The oracle

    def is_kept(self, version: int, data: bytes) -> bool:
        published = self.lake.objects.get(LOG + commit_name(version))
        if published is not None:
            return published.data == data
        item = self._item()
        known = {*self._listed(item), int(item["tableVersion"]["N"])} if item else set()
        return version in known and self._staged_copies(data)

    def is_settled(self) -> bool:
        item = self._item()
        newest = max(self.accepted)
        return item is not None and item["tableVersion"] == {"N": str(newest)} and not item["commits"]["L"]

    def _is_clear(self, item: Item) -> bool:
        newest = int(item["tableVersion"]["N"])
        return not item["commits"]["L"] and newest == max(self.accepted) == max(self.published())

    def _staged_copies(self, data: bytes) -> bool:
        return any(found.data == data for key, found in self.lake.objects.items() if key.startswith(STAGED))

    def _item(self) -> Item | None:
        return self.lake.items["commits"].get((TABLE_ID,))

    @staticmethod
    def _listed(item: Item | None) -> list[int]:
        if item is None:
            raise AwsError("ResourceNotFoundException", "the registration is gone, so nothing can be read or written")
        return [int(commit["M"]["version"]["N"]) for commit in item["commits"]["L"]]

    def _time(self) -> int:
        """An in-commit timestamp that no other commit has."""
        return int(self.lake.now.timestamp() * 1_000) * 1_000 + next(self.numbers)


def _registration(time: int) -> Item:
    return {
        **KEY,
        "path": {"S": URI},
        "acceptingCommits": {"BOOL": True},
        "hasAcceptedCommits": {"BOOL": True},
        "tableVersion": {"N": "0"},
        "tableTimestamp": {"N": str(time)},
        "schemaVersion": {"N": "1"},
        "commits": {"L": []},
    }


def _as_read(version: int) -> Item:
    return {":v": {"N": str(version)}, ":p": {"S": URI}, ":one": {"N": "1"}}
