"""What a table lacks in the backup to be as new as its plan promises, copied from the live source.

A backup falls behind where its inventory is old, and where OPTIMIZE and VACUUM have removed what an older version needs
before it was copied: a newer version needs other files, which are there. These are copied: data first, then
checkpoints, then commits in their order, so that one that is interrupted lets no proof claim what has not arrived.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from lake.aws.copying import COPY_LIMIT, Copy, copied
from lake.aws.errors import AwsError
from lake.aws.s3 import S3
from lake.backup.objects import POINTS, BucketPrefix
from lake.delta.facts import LogListing
from lake.delta.point_log import PointLog, point_log
from lake.delta.proving import Prover
from lake.delta.restorable import objects_of
from lake.points.copies import LOG, StoredLog, log_of

MOST_OBJECTS, MOST_BYTES = 20_000, 100 * 1000**3
"""Of one table. To copy more is the work of a run."""
Reckon = Callable[[int, int, int, int], Decimal]
"""What it costs in USD to copy so many objects, and so many larger ones of so many bytes, after so many keys were
listed."""


class _Original(NamedTuple):
    """An object of the source."""

    key: str
    size: int
    etag: str
    storage_class: str


class _NotWanted(Exception):
    """Nothing is to be copied; the message is one sentence."""


@dataclass
class Topper:
    """Tops up the tables of one run, by several threads.

    `within` is what the keys of the plan's source begin with, `objective` how old a commit may be that a table lacks,
    `left` what may still be spent in USD, None for any sum. `objects` and `usd` count what was done. No copy is begun
    any more once `stopped` is set.
    """

    s3: S3
    place: BucketPrefix
    source_bucket: str
    within: str
    storage_class: str
    encryption_key: str
    objective: timedelta
    reckon: Reckon
    left: Decimal | None
    objects: int = 0
    usd: Decimal = Decimal(0)
    stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def top_up(self, root: str, newest: int, prover: Prover, there: LogListing, original: StoredLog) -> str:
        """Copy what a version lacks that is newer than `newest`, the newest that can be restored, -1 for none; say in a
        sentence why that, or a part of it, was not done, "" where it was.

        `prover` is what of the backup was proven; `there` is the source's log as it was listed, with its accepted
        commits, and `original` reads it.
        """
        try:
            if self.left is not None and self.left <= 0:
                raise _NotWanted("The plan's ceiling leaves nothing to be spent.")
            for step in self._steps(root, newest, prover, there, original):
                list(original.pool.map(self._copy, step))
        except (_NotWanted, AwsError) as reason:
            return str(reason)
        return ""

    def _steps(
        self, root: str, newest: int, prover: Prover, there: LogListing, original: StoredLog
    ) -> list[tuple[_Original, ...]]:
        """What the newest version lacks that the source has whole, all of one step to be there before the next. What
        it costs is reserved."""
        below = f"{root}/" if root else ""
        pages = self.s3.list(self.source_bucket, below)
        source = _Source(self.s3, self.source_bucket, below)
        source.found.update((one.key, (one.size, one.etag)) for page in pages for one in page.objects)
        listed = len(source.found)
        at_source = Prover(there, original, replace(prover.files, size_of=source.size_of))
        proof = at_source.prove()
        point = point_log(at_source, proof) if proof.newest and proof.newest.version > newest else None
        if point is None:
            why = f": {proof.problems[0].reason}" if proof.problems else "."
            raise _NotWanted(f"At the source, no newer version of it can be proven either{why}")
        data = tuple(self._data(point, prover, source))
        steps = [data, *self._log(point, prover, there, original, log_of(root))]
        wanted = [one for step in steps for one in step]
        if not wanted:
            raise _NotWanted("The backup has all of its objects, and not all of them can be read there.")
        self._reserve(wanted, listed)
        return steps

    def _data(self, point: PointLog, prover: Prover, source: "_Source") -> Iterator[_Original]:
        """Data files that the backup has none of. A log can name whatever it likes: what no run would copy to that
        place is refused, and one of another size is not copied over."""
        for key in point.files:
            original, size = source.find(key), prover.files.size_of(key)
            if original is None or size == original[0]:
                continue
            where = self.place.below(key).uri
            if not key.startswith(self.within) or key.startswith(POINTS) or f"/{LOG}" in f"/{key}":
                raise _NotWanted(f"Its log names {where} as data, which is none of the plan's.")
            if size is not None:
                raise _NotWanted(f"{where} has another size than at the source: move it away.")
            yield _Original(key, *original, self.storage_class)

    def _log(
        self, point: PointLog, prover: Prover, there: LogListing, original: StoredLog, folder: str
    ) -> Iterator[tuple[_Original, ...]]:
        """The objects of the log that the backup does not have as the source has them: checkpoints, then commits. In no
        archive: what cannot be compared would be copied again by each run."""
        same = {one.name for one in objects_of(prover.listing)}
        commits = [there.commits[version].name for version in sorted(there.commits)]
        lacking = {
            one.name: _Original(folder + one.name, one.size, original.etag(one.name), "")
            for one in point.objects.values()
            if one.name not in same
        }
        yield tuple(one for name, one in lacking.items() if name not in commits)
        yield from ((lacking[name],) for name in commits if name in lacking)

    def _reserve(self, wanted: Sequence[_Original], listed: int) -> None:
        """Count what the copies cost. Raises _NotWanted where that is more than is left, or a run's work."""
        large = [one.size for one in wanted if one.size > COPY_LIMIT]
        what = f"{len(wanted):,} object{'' if len(wanted) == 1 else 's'}"
        if len(wanted) > MOST_OBJECTS or sum(one.size for one in wanted) > MOST_BYTES:
            raise _NotWanted(f"It lacks {what}, which is much: a run with a newer inventory copies them.")
        usd = self.reckon(len(wanted) - len(large), len(large), sum(large), listed)
        with self._lock:
            if self.left is not None and usd > self.left:
                cost = f"${usd:.2f}" if usd >= Decimal("0.01") else "less than a cent"
                raise _NotWanted(f"Copying the {what} that it lacks would cost {cost}: the plan's ceiling leaves less.")
            self.left = None if self.left is None else self.left - usd
            self.usd += usd

    def _copy(self, one: _Original) -> None:
        if self.stopped.is_set():
            raise _NotWanted("The run was stopped.")
        copy = Copy(
            self.source_bucket,
            one.key,
            self.place.bucket,
            self.place.prefix + one.key,
            one.size,
            etag=one.etag,
            storage_class=one.storage_class,
            encryption_key=self.encryption_key,
        )
        copied(self.s3, copy)
        with self._lock:
            self.objects += 1


@dataclass(frozen=True, slots=True)
class _Source:
    """Size and ETag of the objects of a table at the source as they were listed; others are asked for one by one, and
    None where there is none."""

    s3: S3
    bucket: str
    below: str
    found: dict[str, tuple[int, str] | None] = field(default_factory=dict)

    def find(self, key: str) -> tuple[int, str] | None:
        if key not in self.found and not key.startswith(self.below):
            elsewhere = self.s3.head(self.bucket, key)
            self.found[key] = (elsewhere.size, elsewhere.etag) if elsewhere else None
        return self.found.get(key)

    def size_of(self, key: str) -> int | None:
        original = self.find(key)
        return original[0] if original else None
