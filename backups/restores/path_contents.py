"""What stands at a table's own path when a version is put back there: its log, files of the version, commit stores."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from backups.restores.calls import listed
from dashboard.connections.accepted import LeftBehind, StoreItem
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import ARCHIVE_CLASSES, BucketPrefix
from lake.delta.names import parse_name
from lake.points.copies import LOG
from lake.points.reading import NotRestorable, RestorableVersion

WRITERS_PAUSE = timedelta(minutes=10)
"""How long nothing may have been written to a log before it is taken away; longer than a writer waits for S3."""
CLOSED = {"acceptingCommits": {"BOOL": False}, "commits": {"L": list[object]()}}
"""What a registration has that takes no commit and names none, in wire form."""


@dataclass(frozen=True, slots=True)
class PathContents:
    """`log` are the objects of the log that is there by their names, `there` the paths of the version's files that are.

    Of these `by_size` have another ETag than in the backup, as one of parts has, or one under a key.
    """

    log: Mapping[str, ObjectSummary]
    there: frozenset[str]
    by_size: int
    stores: LeftBehind

    @property
    def is_empty(self) -> bool:
        return not (self.log or self.stores.entries or self.stores.registrations)

    @property
    def open_registrations(self) -> tuple[StoreItem, ...]:
        """Those that would take a commit, or still name one."""
        return tuple(one for one in self.stores.registrations if not CLOSED.items() <= one.item.items())

    @property
    def newest(self) -> int:
        """The newest version that the log, an entry or a registration names; -1 for none."""
        names = [*self.log, *(one.item["fileName"]["S"] for one in self.stores.entries)]
        versions = [version for name in names if (version := parse_name(name).version) is not None]
        registered = (str(one.item.get("tableVersion", {}).get("N")) for one in self.open_registrations)
        return max([*versions, *(int(one) for one in registered if one.isdigit())], default=-1)


def what_stands(s3: S3, table: BucketPrefix, found: RestorableVersion, stores: LeftBehind) -> PathContents:
    """Raises NotRestorable where it is not known, or cannot be set aside."""
    if stores.not_known:
        raise NotRestorable(f"{' '.join(stores.not_known)} In place, nothing may be left that a writer goes by.")
    wanted = {one.path: one for one in found.files}
    there = listed(s3, table, lambda path: path.startswith(LOG) or path in wanted)
    if archived := [one.key for one in there.values() if one.storage_class in ARCHIVE_CLASSES]:
        raise NotRestorable(
            f"s3a://{table.bucket}/{archived[0]} is in an archive, where no engine reads it and no copy of it is made: "
            "restore to a new path."
        )
    log = {path.removeprefix(LOG): there.pop(path) for path in [*there] if path.startswith(LOG)}
    if other := [one.key for path, one in there.items() if one.size != wanted[path].size]:
        raise NotRestorable(
            f"s3a://{table.bucket}/{other[0]} has another size than in the backup, and nothing is overwritten: move it "
            "away, or restore to a new path."
        )
    return PathContents(
        log, frozenset(there), sum(one.etag != wanted[path].etag for path, one in there.items()), stores
    )


def require_paused(stands: PathContents, own: Iterable[tuple[str, int]], now: datetime) -> None:
    """Raises NotRestorable where the log was written to lately, by anything but a restore of this that was stopped:
    its names and sizes are `own`."""
    log, known = stands.log.items(), set(own)
    written = [(one.modified_at, name) for name, one in log if (name, one.size) not in known]
    at, name = max(written, default=(now - WRITERS_PAUSE, ""))
    if now - at < WRITERS_PAUSE:
        raise NotRestorable(
            f"{LOG}{name} was written at {in_words(at)}: stop the table's writers and its VACUUM, and plan again when "
            f"nothing was written for {WRITERS_PAUSE.seconds // 60} minutes. Or restore to a new path."
        )


def in_words(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
