"""What a table lacks in the backup to be as new as its plan promises, copied from the live source.

A backup falls behind where its inventory is old, and where OPTIMIZE and VACUUM have removed what an older version needs
before it was copied: a newer version needs other files, which are there. These are copied: data first, then
checkpoints, then commits in their order, so that one that is interrupted has the log of no version without its files.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from backups.points.copies import StoredLog, log_of
from backups.points.keeping import is_trouble
from lake.aws.copying import COPY_LIMIT, Copy, copy_in_parts, copy_object
from lake.aws.errors import AwsError
from lake.aws.list_page import ObjectSummary
from lake.aws.s3 import S3
from lake.backup.objects import BucketPrefix
from lake.delta.facts import LogListing
from lake.delta.point_log import PointLog, point_log
from lake.delta.proving import Prover
from lake.delta.restorable import objects_of

MOST_OBJECTS = 20_000
"""Of one table. The copies of a run are made for more."""
Reckon = Callable[[int, int, int, int], Decimal]
"""What it costs in USD to copy so many objects, of which so many larger ones of so many bytes, after so many keys were
listed."""


@dataclass(frozen=True, slots=True)
class ToppedUp:
    """What was copied for a table, and what it costs; `why_not` says in a sentence why it was not, or not all."""

    objects: int = 0
    bytes: int = 0
    usd: Decimal = Decimal(0)
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Objects to copy by their keys at the source, in steps: all of one before the next."""

    steps: tuple[tuple[ObjectSummary, ...], ...]
    listed: int

    @property
    def objects(self) -> list[ObjectSummary]:
        return [one for step in self.steps for one in step]


class _NotWanted(Exception):
    """Nothing is to be copied; the message is one sentence."""


@dataclass
class Topper:
    """Tops up the tables of one run: every commit that S3 was given before `promised` is to be restorable. `left` is
    what may still be spent in USD, None for any sum."""

    s3: S3
    place: BucketPrefix
    source_bucket: str
    storage_class: str
    encryption_key: str
    promised: datetime
    reckon: Reckon
    left: Decimal | None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_wanted(self, has_newest: bool, holds_until: datetime | None) -> bool:
        """Whether a table may lack what was promised; what is not known of one that has its newest, no copy tells."""
        return not has_newest and (holds_until is None or holds_until <= self.promised)

    def top_up(self, root: str, newest: int, prover: Prover, there: LogListing, original: StoredLog) -> ToppedUp:
        """Copy what a version lacks that is newer than `newest`, the newest that can be restored, -1 for none.

        `prover` is what of the backup was proven; `there` is the source's log as it was listed, with its accepted
        commits, and `original` reads it. Raises AwsError for what is no trouble of this one table.
        """
        copied: list[ObjectSummary] = []
        usd = Decimal(0)
        try:
            wanted = self._wanted(root, newest, prover, there, original)
            usd = self._spend(wanted)
            for step in wanted.steps:
                copied += original.pool.map(self._copy, step)
        except _NotWanted as reason:
            return ToppedUp(why_not=str(reason))
        except AwsError as error:
            if is_trouble(error):
                raise
            return ToppedUp(len(copied), sum(one.size for one in copied), usd, f"Copying what it lacks ended: {error}")
        return ToppedUp(len(copied), sum(one.size for one in copied), usd)

    def _wanted(self, root: str, newest: int, prover: Prover, there: LogListing, original: StoredLog) -> _Wanted:
        """What the newest version lacks that the source has whole, read from the source alone."""
        below = f"{root}/" if root else ""
        found = {one.key: one for page in self.s3.list(self.source_bucket, below) for one in page.objects}
        source = _AtSource(self.s3, self.source_bucket, below, found)
        at_source = Prover(there, original, replace(prover.files, places=lambda key: key, size_of=source.size_of))
        proof = at_source.prove()
        point = point_log(at_source, proof) if proof.newest and proof.newest.version > newest else None
        if point is None:
            raise _NotWanted("At the source, no newer version of it has all its files either.")
        steps = (
            tuple(self._data(point, prover, source)),
            *self._log(point, prover, there, original, log_of(root)),
        )
        return _Wanted(steps, len(found))

    def _data(self, point: PointLog, prover: Prover, source: "_AtSource") -> Iterator[ObjectSummary]:
        """Data files that the backup has none of; one of another size is not copied over."""
        for key in point.files:
            original, size = source.find(key), prover.files.size_of(key)
            if original is not None and size is None:
                yield original
            elif original is not None and size != original.size:
                raise _NotWanted(f"{self.place.below(key).uri} has another size than at the source: move it away.")

    def _log(
        self, point: PointLog, prover: Prover, there: LogListing, original: StoredLog, folder: str
    ) -> Iterator[tuple[ObjectSummary, ...]]:
        """The objects of the log that the backup does not have as the source has them: checkpoints, then commits."""
        same = {one.name for one in objects_of(prover.listing)}
        commits = [there.commits[version].name for version in sorted(there.commits)]
        lacking = {one.name: one for one in point.objects.values() if one.name not in same}
        as_listed = {
            name: ObjectSummary(folder + name, one.size, one.modified_at, original.etag(name))
            for name, one in lacking.items()
        }
        yield tuple(one for name, one in as_listed.items() if name not in commits)
        yield from ((as_listed[name],) for name in commits if name in as_listed)

    def _spend(self, wanted: _Wanted) -> Decimal:
        """Reserve what the copies cost. Raises _NotWanted where that is more than is left."""
        objects = wanted.objects
        if len(objects) > MOST_OBJECTS:
            raise _NotWanted(f"It lacks {len(objects):,} objects: more than {MOST_OBJECTS:,} are left to the next run.")
        large = [one for one in objects if one.size > COPY_LIMIT]
        usd = self.reckon(len(objects) - len(large), len(large), sum(one.size for one in large), wanted.listed)
        with self._lock:
            if self.left is not None and usd > self.left:
                raise _NotWanted(
                    f"Copying the {len(objects):,} objects that it lacks would cost ${usd:.2f}, and the plan's ceiling "
                    f"leaves ${max(self.left, Decimal(0)):.2f}."
                )
            self.left = None if self.left is None else self.left - usd
        return usd

    def _copy(self, one: ObjectSummary) -> ObjectSummary:
        copy = Copy(
            self.source_bucket,
            one.key,
            self.place.bucket,
            self.place.prefix + one.key,
            one.size,
            etag=one.etag,
            storage_class=self.storage_class,
            encryption_key=self.encryption_key,
        )
        copy_object(self.s3, copy) if one.size <= COPY_LIMIT else copy_in_parts(self.s3, copy)
        return one


@dataclass(frozen=True, slots=True)
class _AtSource:
    """The objects of a table at the source as they were listed; others are asked for one by one."""

    s3: S3
    bucket: str
    below: str
    found: dict[str, ObjectSummary]

    def find(self, key: str) -> ObjectSummary | None:
        if key not in self.found and not key.startswith(self.below):
            elsewhere = self.s3.head(self.bucket, key)
            if elsewhere is not None:
                self.found[key] = elsewhere
        return self.found.get(key)

    def size_of(self, key: str) -> int | None:
        original = self.find(key)
        return original.size if original else None
